//! `settings_get`: what the operator decided, as far as plugins need to know it.

use callgate_contract::{Effect, Kind};
use callgate_gate::{Call, Function, method as made};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{gone, hosted, value};
use crate::Agent;

#[derive(Deserialize, JsonSchema)]
struct Of {
    /// A session's own choices count before the operator's.
    #[serde(default)]
    session: Option<String>,
}

pub(super) fn method(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |_: Call, of: Of| {
        let agent = agent.upgrade();
        async move {
            let agent = agent.ok_or_else(gone)?;
            let settings = agent.settings();
            let chosen = match of.session.as_deref().map(str::parse) {
                Some(Ok(session)) => agent.store().settings().session(&session).await.ok(),
                _ => None,
            };
            let model = chosen.and_then(|chosen| chosen.value.model);
            let model = &agent.models().choose(model.as_deref()).id;
            let prefixes = &settings.answer.prefixes;
            value(json!({
                "administrators": settings.administrators,
                "super_users": settings.administrators,
                // Where the operator chose none, a flavour keeps its own.
                "wake_prefix": (!prefixes.is_empty()).then_some(prefixes),
                "accounts": settings.answer.accounts,
                "names": settings.answer.names,
                "model": model,
            }))
        }
    };
    let method = made("settings_get", Kind::Tool, handler).effect(Effect::Pure);
    hosted(method.doc("What the operator decided for all sessions, or for one.")).leaf()
}
