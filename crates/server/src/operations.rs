//! [`Operations`]: what the owner of the data directory does for callers over HTTP, so that runs,
//! direct calls and answers go the very same way as from its own command line.

mod capsules;
mod machine;
mod models;
mod plugins;
mod settings;

use std::{collections::BTreeMap, sync::Arc};

use callgate_agent::Watch;
use callgate_contract::{BoxFuture, JournalId, OutputListener, Role, SessionKey};
use callgate_store::Decision;
use serde_json::Value as Json;

pub use capsules::{CapsuleOperations, TakePersona, WhichCapsule};
pub use machine::{Check, CheckStatus, Checks, Machine, MachineOperations, Pool, Process};
pub use models::{
    ChangeModel, FoundModels, FoundProvider, FoundServer, MadeModel, ModelOperations, ModelTest,
    ModelView, NewModel,
};
pub use plugins::{
    ConfigurePlugin, InstallPlugin, PluginCommand, PluginConfig, PluginError, PluginLine,
    PluginLogs, PluginMethod, PluginOperations, PluginSource, PluginState, PluginView,
    SwitchPlugin, WhichPlugin, WorkerView,
};
pub use settings::{
    ChangeSettings, SettingOperations, SettingShape, SettingSource, SettingView, SettingsView,
};

/// Told in words, with what to do about it.
#[derive(Clone, Debug, Default)]
pub struct Refused {
    pub error: String,
    pub hint: String,
    pub why: Why,
    /// What is wrong with which field of a form, by its path.
    pub fields: BTreeMap<String, String>,
}

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Why {
    /// It was understood and cannot be done.
    #[default]
    Refused,
    /// There is no such thing.
    Missing,
    /// What was sent makes no sense.
    Bad,
    /// It does not go with what is there.
    Conflict,
}

impl Refused {
    pub fn new(why: Why, error: impl Into<String>, hint: impl Into<String>) -> Self {
        Refused {
            error: error.into(),
            hint: hint.into(),
            why,
            fields: BTreeMap::new(),
        }
    }

    pub fn missing(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Refused::new(Why::Missing, error, hint)
    }

    pub fn bad(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Refused::new(Why::Bad, error, hint)
    }

    #[must_use]
    pub fn with_fields(mut self, fields: BTreeMap<String, String>) -> Self {
        self.fields = fields;
        self
    }
}

/// One thing that can be asked for. Clones share it.
pub struct Operation<Ask, Answer = Json>(Arc<Answering<Ask, Answer>>);

type Answering<Ask, Answer> =
    dyn Fn(Ask) -> BoxFuture<'static, Result<Answer, Refused>> + Send + Sync;

impl<Ask, Answer> Operation<Ask, Answer> {
    pub fn new<Working>(work: impl Fn(Ask) -> Working + Send + Sync + 'static) -> Self
    where
        Working: Future<Output = Result<Answer, Refused>> + Send + 'static,
    {
        Operation(Arc::new(move |ask| Box::pin(work(ask))))
    }

    pub(crate) fn ask(&self, ask: Ask) -> BoxFuture<'static, Result<Answer, Refused>> {
        (self.0)(ask)
    }
}

impl<Ask, Answer> Clone for Operation<Ask, Answer> {
    fn clone(&self) -> Self {
        Operation(self.0.clone())
    }
}

/// Of an owner that does not do this.
impl<Ask: 'static, Answer: Send + 'static> Default for Operation<Ask, Answer> {
    fn default() -> Self {
        Operation(Arc::new(|_| {
            let refused = Refused::new(Why::Refused, "this is not done here", "ask another server");
            Box::pin(std::future::ready(Err(refused)))
        }))
    }
}

/// Where there is no type of ours, the answers are what `callgate --json` prints.
#[derive(Clone, Default)]
pub struct Operations {
    pub call: Operation<CallAsk>,
    pub run: Operation<RunAsk>,
    pub settle: Operation<SettleAsk>,
    pub plugins: PluginOperations,
    pub models: ModelOperations,
    pub settings: SettingOperations,
    pub machine: MachineOperations,
    pub capsules: CapsuleOperations,
}

/// One method, called directly.
#[derive(Clone, Debug)]
pub struct CallAsk {
    pub method: String,
    pub arguments: Json,
    pub session: SessionKey,
    pub user: String,
    pub role: Role,
}

/// Code to run in the sandbox.
pub struct RunAsk {
    pub run: JournalId,
    pub code: String,
    pub session: SessionKey,
    pub user: String,
    pub timeout_seconds: Option<u64>,
    /// Told what the code prints.
    pub output: Option<OutputListener>,
    /// Sees calls as they are answered.
    pub watch: Watch,
}

/// The operator's word on an approval.
#[derive(Clone, Debug)]
pub struct SettleAsk {
    pub approval: i64,
    pub decision: Decision,
    pub always: bool,
    /// Whose word it is.
    pub by: String,
}
