//! `settings_get`: what the operator decided, as far as plugins need to know it. `session_model_set`:
//! which model a session uses.

use callgate_contract::{Effect, Kind, MethodError, Value};
use callgate_gate::{Call, Function, method as made};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{failed, gone, hosted, session, value};
use crate::{Administrator, Agent};

#[derive(Deserialize, JsonSchema)]
struct SettingsRequest {
    /// A session's own choices count before the operator's.
    #[serde(default)]
    session: Option<String>,
}

pub(super) fn method(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |_: Call, of: SettingsRequest| {
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
            // Compat(astrbot, nekro): plugins know accounts without their platform. What they may do is
            // decided by the role that comes with each message.
            let administrators = settings.administrators.iter();
            let administrators: Vec<&str> = administrators.map(Administrator::account).collect();
            value(json!({
                "administrators": administrators,
                "super_users": administrators,
                // Where the operator chose none, a flavour keeps its own.
                "wake_prefix": (!prefixes.is_empty()).then_some(prefixes),
                "accounts": settings.answer.accounts,
                "names": settings.answer.names,
                "model": model,
                "platforms": settings.platforms,
            }))
        }
    };
    let method = made("settings_get", Kind::Tool, handler).effect(Effect::Pure);
    hosted(method.doc("What the operator decided for all sessions, or for one.")).leaf()
}

#[derive(Deserialize, JsonSchema)]
struct Choice {
    /// None is where the plugin acts.
    #[serde(default)]
    session: Option<String>,
    /// None is the default again.
    #[serde(default)]
    model: Option<String>,
}

pub(super) fn choose(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |call: Call, choice: Choice| {
        let agent = agent.upgrade();
        async move {
            let agent = agent.ok_or_else(gone)?;
            let chosen = choice.model.filter(|id| !id.is_empty());
            if let Some(id) = &chosen
                && agent.models().get(id).is_none()
            {
                return Err(MethodError::new(format!("there is no model '{id}'")));
            }
            let session = session(&call, choice.session.as_deref())?;
            let settings = agent.store().settings();
            let changed = settings.change_session(&session, |settings| settings.model = chosen);
            changed.await.map(|_| Value::Null).map_err(failed)
        }
    };
    let method = made("session_model_set", Kind::Tool, handler).effect(Effect::Idempotent);
    hosted(method.doc("The model that answers in a session from now on.")).leaf()
}
