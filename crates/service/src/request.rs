//! What is asked over the control socket: operations by their names, and the few things that are followed
//! while they go on.

use callgate_contract::SessionKey;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use crate::Event;
use crate::{
    Capability, Operation, ServiceError,
    operations::{RunCode, SendMessage},
};

/// An operation by its name.
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

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Request {
    Run(RunCode),
    Send(SendMessage),
    /// EventListener what goes out in a session, until the asker leaves.
    Listen {
        session: SessionKey,
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
}

impl Request {
    /// Who reaches the socket owns the data directory and holds everything; named here all the same, so
    /// that one list tells what can be asked.
    pub const NEEDS: &[(&str, Capability)] = &[
        ("run", Capability::Operator),
        ("send", Capability::Operator),
        ("listen", Capability::Read),
        ("mcp_open", Capability::Operator),
        ("mcp_say", Capability::Operator),
    ];

    pub fn needs(&self) -> Capability {
        let command = match self {
            Request::Run(_) => "run",
            Request::Send(_) => "send",
            Request::Listen { .. } => "listen",
            Request::McpOpen { .. } => "mcp_open",
            Request::McpSay { .. } => "mcp_say",
        };
        let known = Request::NEEDS.iter().find(|(name, _)| *name == command);
        known.map_or(Capability::Operator, |(_, needs)| *needs)
    }
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
