//! Models: those at hand, more of them, whether they answer, and who stands in for whom.

use axum::{Json as Body, extract::State};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Api, Outcome,
    input::{Given, Path},
    list::List,
    route::{Routes, Verb},
};
use callgate_service::{
    News,
    operations::{ChangeModel, FoundModels, MadeModel, ModelTest, ModelView, NewModel},
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Get, "/api/models", "Models at hand", list)
        .gives::<List<ModelView>>();
    routes
        .add(
            Verb::Post,
            "/api/models",
            "Try a model and write it down",
            add,
        )
        .takes::<NewModel>()
        .gives::<MadeModel>();
    routes
        .add(
            Verb::Get,
            "/api/models/found",
            "Keys and local servers that could be used",
            found,
        )
        .gives::<FoundModels>();
    routes
        .add(
            Verb::Post,
            "/api/models/test",
            "Try a model without writing it down",
            try_new,
        )
        .takes::<NewModel>()
        .gives::<ModelTest>();
    routes
        .add(
            Verb::Post,
            "/api/models/{id}/test",
            "Ask it something small",
            test,
        )
        .gives::<ModelTest>();
    routes
        .add(
            Verb::Patch,
            "/api/models/{id}",
            "Who stands in for it; make it the default",
            change,
        )
        .takes::<Change>()
        .gives::<ModelView>();
    routes.add(
        Verb::Delete,
        "/api/models/{id}",
        "Take it out of the configuration",
        delete,
    );
}

async fn list(State(api): State<Api>) -> Outcome<List<ModelView>> {
    // Known once models have been looked for.
    api.agent()?;
    let items = api.service().model_views().await?;
    Ok(Body(List { items, next: None }))
}

async fn found(State(api): State<Api>) -> Outcome<FoundModels> {
    Ok(Body(api.service().find_model_offers().await))
}

async fn add(State(api): State<Api>, Given(new): Given<NewModel>) -> Outcome<MadeModel> {
    let service = api.service().clone();
    let adding = async move { service.add_model(new).await };
    let made = api.service().detached(adding).await?;
    api.live().announce(&News::Models {});
    Ok(Body(made))
}

async fn try_new(State(api): State<Api>, Given(new): Given<NewModel>) -> Outcome<ModelTest> {
    Ok(Body(api.service().try_model(new).await?))
}

async fn test(State(api): State<Api>, Path(id): Path<String>) -> Outcome<ModelTest> {
    Ok(Body(api.service().test_model(&id).await?))
}

/// What is not named stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Change {
    /// In this order.
    fallback: Option<Vec<String>>,
    /// It answers where nobody chose another.
    default: Option<bool>,
    /// It looks at images where a chat's own model cannot.
    vision: Option<bool>,
}

async fn change(
    State(api): State<Api>,
    Path(id): Path<String>,
    Given(change): Given<Change>,
) -> Outcome<ModelView> {
    let ask = ChangeModel {
        id,
        fallback: change.fallback,
        default: change.default,
        vision: change.vision,
    };
    let view = api.service().change_model(ask).await?;
    api.live().announce(&News::Models {});
    Ok(Body(view))
}

async fn delete(State(api): State<Api>, Path(id): Path<String>) -> Outcome<()> {
    api.service().delete_model(&id).await?;
    api.live().announce(&News::Models {});
    Ok(Body(()))
}
