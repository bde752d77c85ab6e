//! Models: those at hand, more of them, whether they answer, and who stands in for whom.

use callgate_service::operations::{
    AddModel, ChangeModel, DeleteModel, FindModels, ListModels, TestModel, TryModel,
};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListModels>(Get, "/api/models", "Models at hand");
    routes.operation::<AddModel>(Post, "/api/models", "Try a model and write it down");
    routes.operation::<FindModels>(
        Get,
        "/api/models/found",
        "Keys and local servers that could be used",
    );
    routes.operation::<TryModel>(
        Post,
        "/api/models/test",
        "Try a model without writing it down",
    );
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
