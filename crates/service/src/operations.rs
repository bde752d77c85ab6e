//! What is asked of the service and what it answers, as the types that carry both.

mod approvals;
mod calls;
mod capsules;
mod conversations;
mod machine;
mod messages;
mod methods;
mod models;
mod page;
mod plugins;
mod prompts;
mod rows;
mod runs;
mod sessions;
mod settings;
mod turns;

use crate::NamedOperation;
use rows::journal_id;

pub use approvals::{
    AnswerApproval, AnsweredApproval, ApprovalView, ContinuedReport, ContinuedTurn, FailureView,
    ListApprovalRules, ListApprovals, RevokeApprovalRule, RuleView,
};
pub use calls::{CallMethod, CallResult};
pub use capsules::{TakePersona, WhichCapsule};
pub use conversations::{
    ConversationView, ConversationWithHistory, CreateConversation, DeleteConversation,
    ForkConversation, GetConversation, ListConversations, MessageView, SwitchConversation,
    UpdateConversation,
};
pub use machine::{Check, CheckStatus, Checks, Machine, Pool, Process};
pub use messages::{SendMessage, SendMessageResponse, SentMessage, TurnSummaryLine};
pub use methods::{GetMethod, ListMethods, MethodView};
pub use models::{
    ChangeModel, FoundModels, FoundProvider, FoundServer, MadeModel, ModelTest, ModelView, NewModel,
};
pub use page::{List, Page};
pub use plugins::{
    ConfigurePlugin, InstallPlugin, PluginCommand, PluginConfig, PluginError, PluginLine,
    PluginLogs, PluginMethod, PluginSource, PluginState, PluginView, SwitchPlugin, WhichPlugin,
    WorkerView,
};
pub use prompts::PreviewPrompt;
pub use rows::{RowView, SenderView};
pub use runs::{CancelRun, CancelledRun, RunCode};
pub use sessions::{
    DescribeSession, ForkSession, ForkedSession, GetSession, ListMessages, ListSessions,
    SessionDetails, SessionView, StopTurn, StoppedTurn, TurnSummary, UpdateSession,
};
pub use settings::{ChangeSettings, SettingShape, SettingSource, SettingView, SettingsView};
pub use turns::{
    AllowedBy, CallView, CodeView, GetTurn, ListTurns, Permit, RecordedRequest, RoundView,
    TurnDetail, TurnView, TurnWithJournal,
};

/// Every operation, by which the control socket finds them.
pub static OPERATIONS: &[NamedOperation] = &[
    NamedOperation::of::<ListApprovals>(),
    NamedOperation::of::<AnswerApproval>(),
    NamedOperation::of::<ListApprovalRules>(),
    NamedOperation::of::<RevokeApprovalRule>(),
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
    NamedOperation::of::<SendMessage>(),
    NamedOperation::of::<PreviewPrompt>(),
    NamedOperation::of::<ListTurns>(),
    NamedOperation::of::<GetTurn>(),
    NamedOperation::of::<ListMethods>(),
    NamedOperation::of::<GetMethod>(),
    NamedOperation::of::<CallMethod>(),
    NamedOperation::of::<RunCode>(),
    NamedOperation::of::<CancelRun>(),
];
