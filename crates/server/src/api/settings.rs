//! The operator's configuration.

use axum::{Json as Body, extract::State};

use super::{
    Api, Outcome,
    input::Given,
    route::{Routes, Verb},
};
use callgate_service::operations::{ChangeSettings, SettingsView};

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
    Ok(Body(api.service().settings_view(Vec::new())))
}

async fn change(
    State(api): State<Api>,
    Given(change): Given<ChangeSettings>,
) -> Outcome<SettingsView> {
    Ok(Body(api.service().change_settings(change).await?))
}
