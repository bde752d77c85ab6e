//! Coming from elsewhere: personas, histories, administrators, models and plugins out of another system's
//! folder. A reader for each system makes [`Foreign`] of a folder and touches nothing here; what is made of it
//! here is the same for all. Foreign data is data: names are ids and never paths, no link is followed, and
//! nothing of it runs but plugins, which are installed as any other.

mod astrbot;
mod conversations;
mod decide;
mod files;
mod here;
mod importing;
mod make;
mod nekro;
mod newage;
mod plugins;
mod reading;
mod undo;

use std::path::Path;

use callgate_store::{NewPersona, Preference, files::Digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ServiceError, config::NewEntry};

pub use importing::ImportReport;
pub(crate) use importing::{Wanted, bring};
pub(crate) use undo::undo;

use conversations::ForeignConversation;
use reading::Origin;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum System {
    Astrbot,
    Nekro,
    Newage,
}

impl System {
    pub fn name(self) -> &'static str {
        match self {
            System::Astrbot => "astrbot",
            System::Nekro => "nekro",
            System::Newage => "newage",
        }
    }

    /// Blocks.
    fn read(self, path: &Path, secrets: Secrets) -> Result<Foreign, ServiceError> {
        match self {
            System::Astrbot => astrbot::read(path, secrets),
            System::Nekro => nekro::read(path, secrets),
            System::Newage => newage::read(path, secrets),
        }
    }
}

/// Whether keys come along: those of model providers, and new ones for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrets {
    Taken,
    LeftOut,
}

/// What a line of a report is about.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ImportKind {
    Persona,
    Conversation,
    Administrator,
    Model,
    Plugin,
    PluginConfig,
    PluginData,
    PluginValue,
    /// What a remote client keeps here.
    ClientSettings,
    Key,
    Platform,
    Other,
}

impl ImportKind {
    /// As it is stored.
    fn word(self) -> &'static str {
        match self {
            ImportKind::Persona => "persona",
            ImportKind::Conversation => "conversation",
            ImportKind::Administrator => "administrator",
            ImportKind::Model => "model",
            ImportKind::Plugin => "plugin",
            ImportKind::PluginConfig => "plugin_config",
            ImportKind::PluginData => "plugin_data",
            ImportKind::PluginValue => "plugin_value",
            ImportKind::ClientSettings => "client_settings",
            ImportKind::Key => "key",
            ImportKind::Platform => "platform",
            ImportKind::Other => "other",
        }
    }

    fn read(word: &str) -> Option<Self> {
        serde_json::from_value(word.into()).ok()
    }
}

/// What becomes of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was not here.
    New,
    /// It was brought before, and changed there since.
    Changed,
    /// It is here already.
    Same,
    /// It was changed or removed here since it was brought, and stays so.
    Kept,
    /// It cannot come.
    LeftOut,
    /// It should have come.
    Failed,
    /// Of undoing: it is gone, or what it was before.
    Undone,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportLine {
    pub kind: ImportKind,
    pub name: String,
    pub fate: Fate,
    /// Why, and what to do; or what else is to be known.
    pub detail: Option<String>,
}

impl ImportLine {
    fn new(kind: ImportKind, name: impl Into<String>, fate: Fate) -> Self {
        ImportLine {
            kind,
            name: name.into(),
            fate,
            detail: None,
        }
    }

    fn left_out(kind: ImportKind, name: impl Into<String>, why: impl Into<String>) -> Self {
        ImportLine::new(kind, name, Fate::LeftOut).saying(why)
    }

    fn saying(mut self, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        self.detail = match self.detail.take() {
            Some(before) => Some(format!("{before}; {detail}")),
            None if detail.is_empty() => None,
            None => Some(detail),
        };
        self
    }
}

/// Everything that a folder holds and that has a place here.
struct Foreign {
    origin: Origin,
    items: Vec<ForeignItem>,
    plugins: Vec<ForeignPlugin>,
    left_out: Vec<ImportLine>,
}

struct ForeignItem {
    kind: ImportKind,
    /// What it is called there, for good: by it the same thing is found the next time.
    name: String,
    content: Content,
    /// What was left out of it.
    notes: Vec<String>,
}

struct ForeignPlugin {
    /// The name of its folder.
    name: String,
    /// Beneath the origin.
    folder: String,
    digest: Digest,
    enabled: bool,
    /// Its settings and data, which lie where its worker is.
    files: Vec<ForeignItem>,
}

enum Content {
    Persona(NewPersona),
    Conversation(ForeignConversation),
    /// `PLATFORM:ACCOUNT`.
    Administrator(String),
    Model(Box<NewEntry>, String),
    Value(Preference),
    Files(ForeignFiles),
    /// A file of ours, made of theirs.
    Document {
        text: Vec<u8>,
        digest: Digest,
        /// Beneath the data directory.
        to: String,
    },
    /// A new key for this remote client.
    ClientKey(String),
}

/// A file or a folder.
struct ForeignFiles {
    /// Beneath the origin.
    from: String,
    digest: Digest,
    to: Place,
}

/// Where what a plugin keeps lies.
enum Place {
    /// Beneath the home of its worker.
    OfWorker(String),
    /// The folder that is its own.
    OfPlugin,
}
