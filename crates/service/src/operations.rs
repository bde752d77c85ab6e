//! What is asked of the service and what it answers, as the types that carry both.

mod approvals;
mod capsules;
mod machine;
mod models;
mod plugins;
mod settings;

pub use approvals::ApprovalView;
pub use capsules::{TakePersona, WhichCapsule};
pub use machine::{Check, CheckStatus, Checks, Machine, Pool, Process};
pub use models::{
    ChangeModel, FoundModels, FoundProvider, FoundServer, MadeModel, ModelTest, ModelView, NewModel,
};
pub use plugins::{
    ConfigurePlugin, InstallPlugin, PluginCommand, PluginConfig, PluginError, PluginLine,
    PluginLogs, PluginMethod, PluginSource, PluginState, PluginView, SwitchPlugin, WhichPlugin,
    WorkerView,
};
pub use settings::{ChangeSettings, SettingShape, SettingSource, SettingView, SettingsView};
