//! What is asked of the service and what it answers, as the types that carry both.

mod approvals;
mod calls;
mod capsules;
mod machine;
mod models;
mod page;
mod personas;
mod plugins;
mod settings;

use crate::NamedOperation;

pub use approvals::{
    AnswerApproval, AnsweredApproval, ApprovalView, ContinuedReport, ContinuedTurn, FailureView,
    ListApprovalRules, ListApprovals, RevokeApprovalRule, RuleView,
};
pub use calls::CallResult;
pub use capsules::WhichCapsule;
pub use machine::{Check, CheckStatus, Checks, Machine, Pool, Process};
pub use models::{
    ChangeModel, DeleteModel, FindModels, FoundModels, FoundProvider, FoundServer, ListModels,
    MadeModel, ModelTest, ModelView, NewModel, TestModel,
};
pub use page::{Deleted, List, Page};
pub use personas::{
    DeletePersona, GetPersona, ImportPersonas, ImportedPersona, ListPersonas, PersonaView,
    PreviewPersona, SetPersona,
};
pub use plugins::{
    ConfigurePlugin, InstallPlugin, PluginCommand, PluginConfig, PluginError, PluginLine,
    PluginLogs, PluginMethod, PluginSource, PluginState, PluginView, SwitchPlugin, WhichPlugin,
    WorkerView,
};
pub use settings::{ChangeSettings, SettingShape, SettingSource, SettingView, SettingsView};

/// Every operation, by which the control socket finds them.
pub static OPERATIONS: &[NamedOperation] = &[
    NamedOperation::of::<ListApprovals>(),
    NamedOperation::of::<AnswerApproval>(),
    NamedOperation::of::<ListApprovalRules>(),
    NamedOperation::of::<RevokeApprovalRule>(),
    NamedOperation::of::<ListPersonas>(),
    NamedOperation::of::<GetPersona>(),
    NamedOperation::of::<SetPersona>(),
    NamedOperation::of::<PreviewPersona>(),
    NamedOperation::of::<ImportPersonas>(),
    NamedOperation::of::<DeletePersona>(),
    NamedOperation::of::<ListModels>(),
    NamedOperation::of::<FindModels>(),
    NamedOperation::of::<TestModel>(),
    NamedOperation::of::<ChangeModel>(),
    NamedOperation::of::<DeleteModel>(),
];
