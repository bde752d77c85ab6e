//! Models: those at hand, more of them, whether they answer, and who stands in for whom.

use axum::{Json as Body, extract::State};

use super::{
    Api, Outcome,
    input::JsonBody,
    route::{Routes, Verb::*},
};
use callgate_service::{
    News,
    operations::{
        ChangeModel, DeleteModel, FindModels, ListModels, MadeModel, ModelTest, NewModel, TestModel,
    },
};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListModels>(Get, "/api/models", "Models at hand");
    routes
        .add(Post, "/api/models", "Try a model and write it down", add)
        .takes::<NewModel>()
        .gives::<MadeModel>();
    routes.operation::<FindModels>(
        Get,
        "/api/models/found",
        "Keys and local servers that could be used",
    );
    routes
        .add(
            Post,
            "/api/models/test",
            "Try a model without writing it down",
            try_new,
        )
        .takes::<NewModel>()
        .gives::<ModelTest>();
    routes.operation::<TestModel>(Post, "/api/models/{id}/test", "Ask it something small");
    routes.operation::<ChangeModel>(
        Patch,
        "/api/models/{id}",
        "Who stands in for it; make it the default",
    );
    routes.operation::<DeleteModel>(
        Delete,
        "/api/models/{id}",
        "Take it out of the configuration",
    );
}

async fn add(State(api): State<Api>, JsonBody(new): JsonBody<NewModel>) -> Outcome<MadeModel> {
    let service = api.service().clone();
    let adding = async move { service.add_model(new).await };
    let made = api.service().detached(adding).await?;
    api.live().announce(&News::Models {});
    Ok(Body(made))
}

async fn try_new(State(api): State<Api>, JsonBody(new): JsonBody<NewModel>) -> Outcome<ModelTest> {
    Ok(Body(api.service().try_model(new).await?))
}
