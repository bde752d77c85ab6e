//! What is asked over the control socket: operations by their names, and the few things that are followed
//! while they go on.

use callgate_contract::SessionKey;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use crate::Event;
use crate::{
    Operation, ServiceError,
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

/// An answer on the control socket.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Done(Json),
    Failed(ServiceError),
    /// The owner is about to end and has done nothing: ask the next one.
    Closing,
}
