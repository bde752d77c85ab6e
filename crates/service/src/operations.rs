//! What is asked of the service and what it answers, as the types that carry both.

mod approvals;
mod calls;
mod capsules;
mod clients;
mod costs;
mod doctor;
mod files;
mod keys;
mod logs;
mod mcp_servers;
mod models;
mod overview;
mod page;
mod plugins;
mod settings;
mod statistics;
mod timers;

use crate::NamedOperation;

pub use crate::processes::ProcessMemory;
pub use approvals::{
    AnswerApproval, AnsweredApproval, ApprovalView, ContinuedReport, ContinuedTurn, FailureView,
    ListApprovalRules, ListApprovals, RevokeApprovalRule, RuleView,
};
pub use calls::CallResult;
pub use capsules::{TakePersona, WhichCapsule};
pub use clients::{
    ClientDecision, ClientStanding, ClientView, DecideClient, ListClients, ListRooms,
    RoomMemberView, RoomMembership, RoomView,
};
pub use costs::ReportCost;
pub use doctor::{Check, CheckStatus, DoctorReport, RunDoctor};
pub use files::{FileView, ListFiles, MAX_FILE_BYTES};
pub use keys::{CreateKey, CreatedKey, KeyView, ListKeys, RevokeKey, RevokedKey};
pub use logs::ListLogs;
pub use mcp_servers::ListMcpServers;
pub use models::{
    ChangeModel, FoundModels, FoundProvider, FoundServer, MadeModel, ModelTest, ModelView, NewModel,
};
pub use overview::{
    ActivityPeriod, ActivityTotals, GetOverview, Overview, OverviewCounts, RunsByStop, SandboxPool,
};
pub use page::{List, Page};
pub use plugins::{
    ConfigurePlugin, InstallPlugin, PluginCommand, PluginConfig, PluginError, PluginLine,
    PluginLogs, PluginMethod, PluginSource, PluginState, PluginView, SwitchPlugin, WhichPlugin,
    WorkerView,
};
pub use settings::{
    ChangeSettings, ListSettings, SettingShape, SettingSource, SettingView, SettingsView,
};
pub use statistics::{
    ListStatistics, MethodCallers, MethodStatistics, MethodSummary, RecordedCall,
};
pub use timers::{CancelTimer, ListSessionTimers, ListTimers, TimerView};

/// Every operation, by which the control socket finds them.
pub static OPERATIONS: &[NamedOperation] = &[
    NamedOperation::of::<ListApprovals>(),
    NamedOperation::of::<AnswerApproval>(),
    NamedOperation::of::<ListApprovalRules>(),
    NamedOperation::of::<RevokeApprovalRule>(),
    NamedOperation::of::<ListKeys>(),
    NamedOperation::of::<CreateKey>(),
    NamedOperation::of::<RevokeKey>(),
    NamedOperation::of::<ListClients>(),
    NamedOperation::of::<DecideClient>(),
    NamedOperation::of::<ListRooms>(),
    NamedOperation::of::<ListTimers>(),
    NamedOperation::of::<ListSessionTimers>(),
    NamedOperation::of::<CancelTimer>(),
    NamedOperation::of::<ReportCost>(),
    NamedOperation::of::<GetOverview>(),
    NamedOperation::of::<RunDoctor>(),
    NamedOperation::of::<ListStatistics>(),
    NamedOperation::of::<ListSettings>(),
    NamedOperation::of::<ChangeSettings>(),
    NamedOperation::of::<ListLogs>(),
    NamedOperation::of::<ListFiles>(),
    NamedOperation::of::<ListMcpServers>(),
];
