//! What is asked of the service and what it answers, as the types that carry both.

mod approvals;
mod backups;
mod calls;
mod capsules;
mod clients;
mod conversations;
mod costs;
mod doctor;
mod files;
mod imports;
mod jobs;
mod keys;
mod limits;
mod logs;
mod mcp_servers;
mod messages;
mod methods;
mod models;
mod outbox;
mod overview;
mod page;
mod personas;
mod platforms;
mod plugins;
mod prompts;
mod rows;
mod rules;
mod runs;
mod sessions;
mod settings;
mod statistics;
mod timers;
mod turns;

use crate::NamedOperation;
use rows::journal_id;

pub use crate::processes::ProcessMemory;
pub use approvals::{
    AnswerApproval, AnsweredApproval, ApprovalView, ContinuedReport, ContinuedTurn, FailureView,
    ListApprovalRules, ListApprovals, RevokeApprovalRule, RuleView,
};
pub use backups::CreateBackup;
pub use calls::{CallMethod, CallResult};
pub use capsules::{ExportSession, ExportedSession, LeftOutFile, ReplayTurn};
pub use clients::{
    ClientDecision, ClientStanding, ClientView, DecideClient, ListClients, ListRooms,
    RoomMemberView, RoomMembership, RoomView,
};
pub use conversations::{
    ConversationView, ConversationWithHistory, CreateConversation, DeleteConversation,
    ForkConversation, GetConversation, ListConversations, MessageView, SwitchConversation,
    UpdateConversation,
};
pub use costs::ReportCost;
pub use doctor::{Check, CheckStatus, DoctorReport, RunDoctor};
pub use files::{FileView, ListFiles, MAX_FILE_BYTES};
pub use imports::{
    Fate, ImportFolder, ImportKind, ImportLine, ImportReport, ImportView, ListImports, System,
    UndoImport,
};
pub use jobs::{CancelJob, GetJob, ListJobs};
pub use keys::{CreateKey, CreatedKey, KeyView, ListKeys, RevokeKey, RevokedKey};
pub use limits::{AddLimit, LimitView, ListLimits, RemoveLimit};
pub use logs::ListLogs;
pub use mcp_servers::ListMcpServers;
pub use messages::{SendMessage, SendMessageResponse, SentMessage, TurnSummaryLine};
pub use methods::{GetMethod, ListMethods, MethodDetails, MethodView};
pub use models::{
    AddModel, AddedModel, ChangeModel, DeleteModel, FindModels, FoundModels, FoundProvider,
    FoundServer, ListModels, ModelTest, ModelView, NewModel, TestModel, TryModel,
};
pub use outbox::{
    ListUndelivered, Resolution, ResolveUndelivered, ResolvedMessage, UndeliveredView,
};
pub use overview::{
    ActivityPeriod, ActivityTotals, GetOverview, Overview, OverviewCounts, RunsByStop, SandboxPool,
};
pub use page::{Deleted, List, Page};
pub use personas::{
    DeletePersona, GetPersona, ImportPersonas, ImportedPersona, ListPersonas, PersonaView,
    PreviewPersona, SetPersona,
};
pub use platforms::{AddPlatform, ListPlatforms, PlatformView, RemovePlatform, TestPlatform};
pub use plugins::{
    ConfigurePlugin, CreatePlugin, GetPlugin, GetPluginConfig, InstallPlugin, InstallResult,
    ListPluginLogs, ListPlugins, PluginCommand, PluginConfig, PluginError, PluginLine, PluginLogs,
    PluginMethod, PluginSettings, PluginState, PluginView, ReloadPlugin, ReloadPlugins,
    RemovePlugin, SetPluginConfig, SwitchPlugin, WorkerView,
};
pub use prompts::PreviewPrompt;
pub use rows::{RowView, SenderView};
pub use rules::{AddRule, ListRules, PolicyRuleView, RemoveRule, RuleSource};
pub use runs::{CancelRun, CancelledRun, RunCode};
pub use sessions::{
    DescribeSession, ForkSession, ForkedSession, GetSession, ListMessages, ListSessions,
    SessionDetails, SessionView, StopTurn, StoppedTurn, TurnSummary, UpdateSession,
};
pub(crate) use settings::is_live;
pub use settings::{
    ChangeSettings, ListSettings, SettingShape, SettingSource, SettingView, SettingsView,
};
pub use statistics::{
    ListStatistics, MethodCallers, MethodStatistics, MethodSummary, RecordedCall,
};
pub use timers::{CancelTimer, ListSessionTimers, ListTimers, PlanTimer, TimerView};
pub use turns::{
    CallView, CodeView, DecidedBy, GetTurn, ListTurns, RecordedRequest, RoundView, TurnDetail,
    TurnView, TurnWithJournal,
};

/// Every operation, by which the control socket finds them.
pub static OPERATIONS: &[NamedOperation] = &[
    NamedOperation::of::<ListApprovals>(),
    NamedOperation::of::<AnswerApproval>(),
    NamedOperation::of::<ListApprovalRules>(),
    NamedOperation::of::<RevokeApprovalRule>(),
    NamedOperation::of::<ListRules>(),
    NamedOperation::of::<AddRule>(),
    NamedOperation::of::<RemoveRule>(),
    NamedOperation::of::<ListLimits>(),
    NamedOperation::of::<AddLimit>(),
    NamedOperation::of::<RemoveLimit>(),
    NamedOperation::of::<ListUndelivered>(),
    NamedOperation::of::<ResolveUndelivered>(),
    NamedOperation::of::<ListConversations>(),
    NamedOperation::of::<CreateConversation>(),
    NamedOperation::of::<GetConversation>(),
    NamedOperation::of::<UpdateConversation>(),
    NamedOperation::of::<DeleteConversation>(),
    NamedOperation::of::<ForkConversation>(),
    NamedOperation::of::<SwitchConversation>(),
    NamedOperation::of::<ListSessions>(),
    NamedOperation::of::<GetSession>(),
    NamedOperation::of::<UpdateSession>(),
    NamedOperation::of::<ListMessages>(),
    NamedOperation::of::<StopTurn>(),
    NamedOperation::of::<DescribeSession>(),
    NamedOperation::of::<ForkSession>(),
    NamedOperation::of::<ExportSession>(),
    NamedOperation::of::<CreateBackup>(),
    NamedOperation::of::<ImportFolder>(),
    NamedOperation::of::<ListImports>(),
    NamedOperation::of::<UndoImport>(),
    NamedOperation::of::<SendMessage>(),
    NamedOperation::of::<PreviewPrompt>(),
    NamedOperation::of::<ListTurns>(),
    NamedOperation::of::<GetTurn>(),
    NamedOperation::of::<ReplayTurn>(),
    NamedOperation::of::<ListMethods>(),
    NamedOperation::of::<GetMethod>(),
    NamedOperation::of::<CallMethod>(),
    NamedOperation::of::<RunCode>(),
    NamedOperation::of::<CancelRun>(),
    NamedOperation::of::<ListKeys>(),
    NamedOperation::of::<CreateKey>(),
    NamedOperation::of::<RevokeKey>(),
    NamedOperation::of::<ListClients>(),
    NamedOperation::of::<DecideClient>(),
    NamedOperation::of::<ListRooms>(),
    NamedOperation::of::<ListTimers>(),
    NamedOperation::of::<ListSessionTimers>(),
    NamedOperation::of::<PlanTimer>(),
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
    NamedOperation::of::<ListPersonas>(),
    NamedOperation::of::<GetPersona>(),
    NamedOperation::of::<SetPersona>(),
    NamedOperation::of::<PreviewPersona>(),
    NamedOperation::of::<ImportPersonas>(),
    NamedOperation::of::<DeletePersona>(),
    NamedOperation::of::<ListModels>(),
    NamedOperation::of::<FindModels>(),
    NamedOperation::of::<AddModel>(),
    NamedOperation::of::<TryModel>(),
    NamedOperation::of::<TestModel>(),
    NamedOperation::of::<ChangeModel>(),
    NamedOperation::of::<DeleteModel>(),
    NamedOperation::of::<ListPlatforms>(),
    NamedOperation::of::<AddPlatform>(),
    NamedOperation::of::<RemovePlatform>(),
    NamedOperation::of::<TestPlatform>(),
    NamedOperation::of::<ListPlugins>(),
    NamedOperation::of::<GetPlugin>(),
    NamedOperation::of::<SwitchPlugin>(),
    NamedOperation::of::<ReloadPlugin>(),
    NamedOperation::of::<ReloadPlugins>(),
    NamedOperation::of::<RemovePlugin>(),
    NamedOperation::of::<GetPluginConfig>(),
    NamedOperation::of::<SetPluginConfig>(),
    NamedOperation::of::<ConfigurePlugin>(),
    NamedOperation::of::<ListPluginLogs>(),
    NamedOperation::of::<InstallPlugin>(),
    NamedOperation::of::<CreatePlugin>(),
    NamedOperation::of::<CancelJob>(),
    NamedOperation::of::<ListJobs>(),
    NamedOperation::of::<GetJob>(),
];
