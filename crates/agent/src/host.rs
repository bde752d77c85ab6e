//! What plugins may ask of turns and models: methods like any other, exposed to plugins alone. What
//! such a call does is done with the rights and the budget of whoever the plugin acts for.

mod chat;
mod embed;
mod openai;
mod run;
mod say;
mod settings;
mod tools;

use std::{sync::Arc, time::Duration};

use callgate_contract::{Exposure, MethodError, SessionKey, Value, json};
use callgate_gate::{Call, Function, InvalidMethod};
use callgate_store::LogRow;
use serde_json::Value as Json;

pub use self::embed::NoVectors;
pub(crate) use self::{
    openai::{piece, user_parts},
    run::role,
    tools::{answer_of, is_loop, is_of_loop, offered},
};
use crate::{Agent, TurnError};

/// A turn may wait for people.
const LONG: Duration = Duration::from_secs(3_600);

const PLUGINS: Exposure = Exposure {
    code: false,
    tool_calls: false,
    remote: false,
    plugins: true,
};

impl Agent {
    /// Makes these methods known to the gate.
    pub fn register_host(&self) -> Result<(), InvalidMethod> {
        let methods = [
            chat::method(self),
            embed::list(self),
            embed::method(self),
            run::agent_loop(self),
            run::turn_run(self),
            say::message_piece(self),
            say::message_send(self),
            say::system_push(self),
            settings::choose(self),
            settings::method(self),
        ];
        for method in methods {
            self.gate().register(Arc::new(method))?;
        }
        Ok(())
    }
}

/// A method of plugins that lasts as long as it takes.
fn hosted(method: Function) -> Function {
    method.exposure(PLUGINS).deadline(LONG)
}

/// The session that is named, else the one the plugin acts in.
fn session(call: &Call, named: Option<&str>) -> Result<SessionKey, MethodError> {
    match named.filter(|name| !name.is_empty()) {
        None => Ok(call.caller.session.clone()),
        Some(name) => name.parse().map_err(failed),
    }
}

/// A row of the log that a plugin names. One of another session is as good as none: a number is no
/// right to what it counts.
async fn row(agent: &Agent, call: &Call, id: i64) -> Result<LogRow, MethodError> {
    let session = &call.caller.session;
    let found = agent.store().log().get(id).await.map_err(failed)?;
    let own = found.filter(|row| row.session == *session);
    own.ok_or_else(|| not_here(id, session))
}

fn not_here(row: i64, session: &SessionKey) -> MethodError {
    MethodError::new(format!(
        "there is no row {row} in {session}: a plugin may name rows of the session it acts in"
    ))
}

fn failed(error: impl std::fmt::Display) -> MethodError {
    MethodError::new(error.to_string())
}

fn value(json: Json) -> Result<Value, MethodError> {
    json::from_json(json).map_err(failed)
}

fn gone() -> MethodError {
    MethodError::new("the agent is gone")
}

impl From<TurnError> for MethodError {
    fn from(error: TurnError) -> Self {
        failed(error)
    }
}
