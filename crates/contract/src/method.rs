//! [`Method`]: a function written once. Its description and its code live in one object, so what
//! a model reads is what runs.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{BoxFuture, Caller, Change, Onlooker, Peer, Surface, Trust, Value};

/// What a result does to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The value goes to the caller.
    Tool,
    /// The text goes into the context, in full, and a new round starts at once.
    Agent,
    /// The text becomes a system row; no new round.
    Behavior,
    /// Message parts go into the context and a new round starts at once.
    MultimodalAgent,
}

impl Kind {
    /// Does a call of this kind end the script that made it?
    pub fn ends_script(self) -> bool {
        matches!(self, Kind::Agent | Kind::MultimodalAgent)
    }
}

/// Where a method comes from. Variants are in order of precedence for a bare name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String")]
pub enum Origin {
    Plugin(String),
    Builtin,
    Mcp(String),
    Agent(String),
    Platform(String),
    Client(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Plugin(id) => write!(f, "plugin:{id}"),
            Origin::Builtin => f.write_str("builtin"),
            Origin::Mcp(server) => write!(f, "mcp:{server}"),
            Origin::Agent(persona) => write!(f, "agent:{persona}"),
            Origin::Platform(id) => write!(f, "platform:{id}"),
            Origin::Client(id) => write!(f, "client:{id}"),
        }
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.to_string()
    }
}

/// Which callers see a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Exposure {
    pub code: bool,
    pub tool_calls: bool,
    pub remote: bool,
    pub plugins: bool,
}

impl Exposure {
    /// AI callers and plugins; remote clients only where the operator says so.
    pub const AI: Exposure = Exposure {
        code: true,
        tool_calls: true,
        remote: false,
        plugins: true,
    };
    pub const EVERYONE: Exposure = Exposure {
        remote: true,
        ..Exposure::AI
    };

    /// What the host offers to plugin code and to nobody else.
    pub const PLUGINS: Exposure = Exposure {
        code: false,
        tool_calls: false,
        remote: false,
        plugins: true,
    };

    pub fn admits(self, surface: Surface) -> bool {
        match surface {
            Surface::Code => self.code,
            Surface::ToolCall => self.tool_calls,
            Surface::Remote => self.remote,
            Surface::Plugin => self.plugins,
        }
    }
}

/// May a call be repeated after a crash that hid its outcome?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Pure,
    Idempotent,
    /// Everything a method does is its returned [`Change`]s, committed together with its outcome:
    /// a call without an outcome had no effect and is simply run.
    Rows,
    Effectful,
}

/// How the gate treats what a caller wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binding {
    /// Bound to parameter names and checked against the schema.
    #[default]
    Strict,
    /// Passed on as written: the method's own code judges. Limits of size and depth hold.
    Loose,
}

#[derive(Clone, Debug, Serialize)]
pub struct MethodInfo {
    /// A Python identifier: the name AI code calls.
    pub name: String,
    /// Further bare names; one that is no identifier, or is somebody's own name, means nothing.
    pub aliases: Vec<String>,
    /// What people see; may be any text.
    pub title: String,
    pub description: String,
    /// The docstring, as the AI reads it.
    pub doc: String,
    /// JSON Schema of an object; property order is parameter order.
    pub parameters: Json,
    /// The Python annotation of the result, as the stub shows it.
    pub returns: String,
    pub kind: Kind,
    pub origin: Origin,
    pub exposure: Exposure,
    pub effect: Effect,
    pub deadline: Duration,
    pub binding: Binding,
    /// Answered from our own rows alone: it waits for no worker, model or person. Only such
    /// methods may be called while a plugin's whole event loop stands still.
    pub leaf: bool,
    /// Which parameters choose, and whose words it gives back.
    pub trust: Trust,
}

/// Arguments as the caller wrote them, before binding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    pub positional: Vec<Value>,
    pub named: Vec<(String, Value)>,
}

impl Arguments {
    /// None of them by position.
    pub fn by_name(named: Vec<(String, Value)>) -> Self {
        Arguments {
            positional: Vec::new(),
            named,
        }
    }
}

/// What a running method knows of its call.
#[derive(Clone, Copy, Debug)]
pub struct CallContext<'a> {
    pub caller: &'a Caller,
    /// The call's place in its journal. Together with `caller.journal` it is the idempotency key.
    pub sequence: u64,
    /// The way back to the plugin that calls.
    pub peer: Option<&'a Peer>,
    /// Who hears how far the call has come.
    pub progress: &'a Onlooker,
}

/// What a method gives back: a value, and the rows of our store it wants changed. The gate
/// commits the changes and the journaled outcome in one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub value: Value,
    pub changes: Vec<Change>,
}

impl<T: Into<Value>> From<T> for Reply {
    fn from(value: T) -> Self {
        Reply {
            value: value.into(),
            changes: Vec::new(),
        }
    }
}

/// A failure the caller should read. The gate replaces an empty text by a telling one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MethodError {
    pub message: String,
    /// For the operator alone, such as a traceback; kept with the call's outcome.
    pub detail: Option<String>,
    /// The database or the disk could not be asked: the same call may succeed later. Whoever says so has
    /// done nothing yet.
    pub is_temporary: bool,
}

impl MethodError {
    pub fn new(message: impl Into<String>) -> Self {
        MethodError {
            message: message.into(),
            detail: None,
            is_temporary: false,
        }
    }

    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        MethodError {
            detail: Some(detail.into()),
            ..self
        }
    }
}

/// Implement this only for a new *source* of methods (a worker, an MCP server, a client). A method
/// written in Rust is made with `callgate_gate::method`.
pub trait Method: Send + Sync {
    fn info(&self) -> &MethodInfo;

    /// `arguments` is an object by parameter name, already bound and checked. Called by the gate
    /// only.
    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>>;

    /// JSON Schema of the value, where it is known.
    fn output(&self) -> Option<&Json> {
        None
    }

    /// Does it exist for this caller at all, exposure and grant aside? For methods that belong to
    /// somebody, such as those of a connected client.
    fn serves(&self, _caller: &Caller) -> bool {
        true
    }

    /// Is the operator asked before every call, whatever else is configured?
    fn needs_approval(&self) -> bool {
        false
    }

    /// In place of [`Method::call`] for a method of loose binding.
    fn call_loosely<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        self.call(context, arguments.named)
    }
}
