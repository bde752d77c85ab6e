//! What the owner of a data directory can be asked, by its own command line or by another process
//! through the control socket, and what it tells meanwhile. The answer is the JSON that `--json`
//! prints.

use std::path::PathBuf;

pub use crate::Event;
use callgate_contract::{JournalId, Mode, Role, SessionKey};
use callgate_store::CostBy;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{Operation, ServiceError};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Request {
    Run(RunCode),
    /// Of a run that another process asked for.
    Cancel {
        run: JournalId,
    },
    Call(CallMethod),
    Methods {
        /// As callers of this session see them.
        session: SessionKey,
    },
    Method {
        name: String,
    },
    NewKey(NewKey),
    Keys,
    RevokeKey {
        id: String,
    },
    Clients,
    DecideClient {
        id: String,
        approve: bool,
    },
    Send(SendMessage),
    /// Hear what goes out in a session, until the asker leaves.
    Listen {
        session: SessionKey,
    },
    /// Of the turn that runs in a session.
    Stop {
        session: SessionKey,
    },
    Sessions,
    Session {
        session: SessionKey,
        /// Newest rows of the log.
        limit: u32,
    },
    Fork {
        session: SessionKey,
        upto: Option<u64>,
    },
    /// Into a file of the asker's, who is the same user.
    Export {
        session: SessionKey,
        turn: Option<JournalId>,
        file: PathBuf,
    },
    Prompt {
        session: SessionKey,
        user: String,
        mode: Option<Mode>,
    },
    Cost {
        by: CostBy,
        since: Timestamp,
    },
    /// From their files; also those that came or went since.
    ReloadPlugins {
        /// All of them if left out.
        name: Option<String>,
    },
    /// By the name of its folder, why each installed plugin that failed did.
    PluginErrors,
    PluginConfig {
        name: String,
        /// What to change.
        set: serde_json::Map<String, Json>,
    },
    /// Serves a client of MCP that the asker speaks for; events are `open`, then each `line` of ours.
    McpOpen {
        /// Chosen by the asker.
        connection: String,
    },
    McpSay {
        connection: String,
        /// None: there will be no more.
        line: Option<String>,
    },
    /// Those whose tools are methods.
    McpServers,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NewKey {
    /// None: what every remote client may.
    pub scopes: Vec<String>,
    /// The only client that may use it.
    pub client: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SendMessage {
    pub text: String,
    pub session: SessionKey,
    pub user: String,
    pub mode: Option<Mode>,
    pub model: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunCode {
    /// Chosen by who asks, so that they can cancel it.
    pub run: JournalId,
    pub code: String,
    pub session: SessionKey,
    pub user: String,
    pub timeout_seconds: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallMethod {
    pub method: String,
    /// An object by name or an array by position.
    pub arguments: Json,
    pub session: SessionKey,
    pub user: String,
    pub role: Role,
}

/// An answer on the control socket.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Done(Json),
    Failed(ServiceError),
    /// The owner is about to end and has done nothing: ask the next one.
    Closing,
}

/// An operation by its name, on the control socket.
#[derive(Debug, Serialize, Deserialize)]
pub struct OperationRequest {
    pub operation: String,
    pub request: Json,
}

impl OperationRequest {
    pub fn of<O: Operation>(operation: &O) -> Result<Self, ServiceError> {
        Ok(OperationRequest {
            operation: O::NAME.to_owned(),
            request: serde_json::to_value(operation).map_err(ServiceError::internal)?,
        })
    }
}
