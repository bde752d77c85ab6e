//! Plugins, as the operator sees and administers them.

use std::sync::Arc;

use bytes::Bytes;
use callgate_contract::{Kind, SessionKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::ProgressFn;

pub struct SwitchPlugin {
    pub plugin: String,
    pub enabled: bool,
    /// Only in this session.
    pub session: Option<SessionKey>,
}

pub struct ConfigurePlugin {
    pub plugin: String,
    pub values: Map<String, Json>,
}

pub struct WhichPlugin {
    pub plugin: String,
    pub limit: usize,
}

pub struct InstallPlugin {
    pub source: PluginSource,
    pub name: Option<String>,
    pub replace: bool,
    pub with: Vec<String>,
    /// Told what happens at the moment.
    pub say: Arc<ProgressFn>,
}

pub enum PluginSource {
    /// A folder, a file or a URL.
    Named(String),
    /// The bytes of a ZIP archive.
    Archive(Bytes),
    /// A skeleton to begin with.
    New,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PluginState {
    Running,
    /// It runs in a worker of its own, since it was there when a shared one ended, twice.
    Moved,
    /// Its worker has no process at this moment.
    Stopped,
    /// It did not load.
    Failed,
    Disabled,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PluginView {
    pub id: String,
    pub name: String,
    /// The name it is installed under; none for one that the command line gave.
    pub folder: Option<String>,
    /// `native`, `nekro` or `astrbot`.
    pub flavour: String,
    pub version: String,
    pub author: String,
    pub description: String,
    /// Where it was installed from.
    pub source: Option<String>,
    pub state: PluginState,
    pub enabled: bool,
    /// In the session that was asked for.
    pub enabled_here: bool,
    pub disabled_in: Vec<SessionKey>,
    pub worker: Option<WorkerView>,
    /// Why it did not load.
    pub error: Option<PluginError>,
    pub methods: Vec<PluginMethod>,
    pub commands: Vec<PluginCommand>,
    pub hooks: Vec<String>,
    pub warnings: Vec<String>,
    /// What it needs and is not configured.
    pub needs: Vec<String>,
    pub has_config: bool,
    /// Where its own pages are, if it has routes.
    pub web: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkerView {
    pub name: String,
    pub pid: Option<u32>,
    pub memory_bytes: Option<u64>,
    /// Ends that nobody asked for.
    pub restarts: u32,
    /// Why the process last ended.
    pub last_end: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PluginError {
    pub message: String,
    pub hint: Option<String>,
    pub traceback: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PluginMethod {
    pub name: String,
    pub kind: Kind,
    pub title: String,
    pub description: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PluginCommand {
    pub name: String,
    pub aliases: Vec<String>,
    pub description: String,
    pub usage: String,
}

/// One form for all flavours.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PluginConfig {
    /// JSON Schema of an object, with what a form should know of a field at `x-ui`; none for a
    /// plugin without settings.
    pub schema: Option<Json>,
    /// Of a secret only whether one is set: `{"$secret": true}`.
    pub values: Map<String, Json>,
    pub file: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PluginLogs {
    /// The oldest first.
    pub lines: Vec<PluginLine>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PluginLine {
    /// In the server's own time.
    pub at: Option<String>,
    pub text: String,
}
