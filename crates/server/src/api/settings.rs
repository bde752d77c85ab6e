//! The operator's configuration.

use axum::{Json as Body, extract::State};

use super::{
    Api, Outcome,
    input::Given,
    route::{Routes, Verb},
};
use crate::operations::{ChangeSettings, SettingsView};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/settings",
            "Every setting, what it is and where that is said",
            list,
        )
        .gives::<SettingsView>();
    routes
        .add(
            Verb::Put,
            "/api/settings",
            "Write settings into the configuration file",
            change,
        )
        .takes::<ChangeSettings>()
        .gives::<SettingsView>();
}

async fn list(State(api): State<Api>) -> Outcome<SettingsView> {
    Ok(Body(api.operations().settings.list.ask(()).await?))
}

async fn change(
    State(api): State<Api>,
    Given(change): Given<ChangeSettings>,
) -> Outcome<SettingsView> {
    Ok(Body(api.operations().settings.change.ask(change).await?))
}
