//! Methods: which there are, and calling one.

use axum::{Extension, Json as Body, extract::State};
use callgate_service::{
    Capability,
    operations::{CallMethod, GetMethod, ListMethods, MethodCallers, MethodStatistics, MethodView},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Api, Outcome,
    access::{Access, Scope},
    input::Path,
    route::{Routes, Verb::*},
};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListMethods>(Get, "/api/methods", "Methods that can be called");
    routes
        .add(Get, "/api/methods/{name}", "One method", show)
        .gives::<MethodWithStatistics>()
        .scope(Scope::Methods);
    routes.operation::<CallMethod>(Post, "/api/methods/{name}/call", "Call a method");
}

/// With what only operators see.
#[derive(Debug, Serialize, JsonSchema)]
struct MethodWithStatistics {
    #[serde(flatten)]
    method: MethodView,
    statistics: Option<MethodStatistics>,
    callers: Option<MethodCallers>,
}

async fn show(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Path(name): Path<String>,
) -> Outcome<MethodWithStatistics> {
    let principal = access.principal();
    let method = api.service().call(&principal, GetMethod { name }).await?;
    let (mut told, mut may) = (None, None);
    if principal.holds(Capability::Operator)
        && let Some(known) = api.gate().find(&method.full_name())
    {
        told = Some(api.service().method_statistics(known.info()).await?);
        may = Some(api.service().method_callers(known.info()).await?);
    }
    Ok(Body(MethodWithStatistics {
        method,
        statistics: told,
        callers: may,
    }))
}
