//! Models at hand.

use axum::{Json as Body, extract::State};
use callgate_contract::Accepts;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Api, Outcome,
    list::List,
    route::{Routes, Verb},
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Get, "/api/models", "Models at hand", list)
        .gives::<List<ModelView>>();
}

#[derive(Debug, Serialize, JsonSchema)]
struct ModelView {
    id: String,
    accepts: Accepts,
    /// It answers where nobody chose another.
    default: bool,
}

async fn list(State(api): State<Api>) -> Outcome<List<ModelView>> {
    let models = api.agent()?.models();
    let default = &models.choose(None).id;
    let items = models.all().iter().map(|model| ModelView {
        id: model.id.clone(),
        accepts: model.model.accepts(),
        default: model.id == *default,
    });
    Ok(Body(List {
        items: items.collect(),
        next: None,
    }))
}
