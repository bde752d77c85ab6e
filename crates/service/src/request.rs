//! What the owner of a data directory can be asked, by its own command line or by another process
//! through the control socket, and what it tells meanwhile. The answer is the JSON that `--json`
//! prints.

use std::path::PathBuf;

pub use crate::Event;
use callgate_contract::{JournalId, Mode, SessionKey};
use callgate_store::NewPersona;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    Operation, ServiceError,
    operations::{RunCode, SendMessage},
};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Request {
    Run(RunCode),
    Send(SendMessage),
    /// Hear what goes out in a session, until the asker leaves.
    Listen {
        session: SessionKey,
    },
    /// Into a file of the asker's, who is the same user.
    Export {
        session: SessionKey,
        turn: Option<JournalId>,
        file: PathBuf,
    },
    Personas,
    Persona {
        name: String,
    },
    SetPersona(SetPersona),
    /// As another program had it.
    TakePersona {
        persona: SetPersona,
        replace: bool,
    },
    DeletePersona {
        name: String,
    },
    Models,
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
}

/// `None` leaves a field as it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SetPersona {
    pub name: String,
    pub prompt: Option<String>,
    pub mode: Option<Mode>,
    /// Empty leaves the choice to the session.
    pub model: Option<String>,
    pub methods: Option<Methods>,
    /// User and assistant in turn; empty removes them.
    pub dialogs: Option<Vec<String>>,
}

impl SetPersona {
    /// All of it, under another name if one is given.
    pub fn from_card(persona: NewPersona, name: Option<String>) -> Self {
        SetPersona {
            name: name.unwrap_or(persona.name),
            prompt: Some(persona.system_prompt),
            mode: Some(persona.mode),
            model: Some(persona.model.unwrap_or_default()),
            methods: Some(persona.methods.map_or(Methods::All, Methods::Only)),
            dialogs: Some(persona.begin_dialogs.unwrap_or_default()),
        }
    }
}

/// Which methods a persona holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Methods {
    All,
    Only(Vec<String>),
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
