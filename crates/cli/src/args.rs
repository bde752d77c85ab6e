//! What can be typed. Help texts are part of the product: each command says what it does, what it
//! prints, and shows lines to copy.

mod backup;
mod cost;
#[cfg(test)]
mod documented;
mod import;
mod limit;
mod manual;
mod model;
mod outbox;
mod platform;
mod plugin;
mod rule;
mod talk;
mod timer;

use std::path::PathBuf;

use callgate_contract::SessionKey;
use clap::{Args, Parser, Subcommand};
use serde::de::DeserializeOwned;

use crate::logs::Format;

pub use backup::{Backup, Restore, Verify};
pub use cost::Cost;
pub use import::{ImportArguments, ImportCommand, ImportFolder};
pub use limit::{LimitArguments, LimitCommand};
pub use manual::{Completions, Help, Manual};
pub use model::{AddModel, Model, ModelCommand, TestModel};
pub use outbox::{OutboxArguments, OutboxCommand};
pub use platform::{PlatformArguments, PlatformCommand};
pub use plugin::{
    CheckPlugin, ConfigPlugin, InstallPlugin, NewPlugin, Plugin, PluginCommand, TestPlugin,
};
pub use rule::{RuleArguments, RuleCommand};
pub use talk::{
    Chat, ExportSession, ImportPersona, ModelArguments, Persona, PersonaCommand, Prompt,
    ReplaySession, Send, Serve, Session, SessionCommand, SetPersona,
};
pub use timer::{TimerArguments, TimerCommand};

/// Write a function once; let AI call it safely.
///
/// Code that an AI wrote runs in a sandbox and can do nothing to the outside but
/// call methods. Every call passes one gate, which checks it, asks you where you
/// want to be asked, and keeps a record of it.
#[derive(Debug, Parser)]
#[command(
    name = "callgate",
    version,
    disable_help_subcommand = true,
    verbatim_doc_comment,
    after_help = "Begin with `callgate demo`, a tour of one minute, or `callgate chat`."
)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Where everything is kept [default: ./callgate-data, else that of your running server]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = "Common options"
    )]
    pub data: Option<PathBuf>,
    /// Configuration [default: callgate.toml in the data directory]
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help_heading = "Common options"
    )]
    pub config: Option<PathBuf>,
    /// Load this plugin too, for this command; can be given more than once
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = "Common options"
    )]
    pub plugin: Vec<PathBuf>,
    /// Print JSON, stable for scripts; errors are {"error", "hint"}
    #[arg(long, global = true, help_heading = "Common options")]
    pub json: bool,
    /// How the log on standard error is written; CALLGATE_LOG says what is in it
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Common options"
    )]
    pub log: Format,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Serve(Serve),
    Open(Open),
    Chat(Chat),
    Send(Send),
    Run(RunArguments),
    Call(CallArguments),
    Methods(Methods),
    Approval(ApprovalArguments),
    Rule(RuleArguments),
    Limit(LimitArguments),
    Platform(PlatformArguments),
    Outbox(OutboxArguments),
    Sandbox(SandboxArguments),
    Doctor(Doctor),
    Backup(Backup),
    Verify(Verify),
    Restore(Restore),
    Import(ImportArguments),
    Demo(Demo),
    Session(Session),
    Timer(TimerArguments),
    Persona(Persona),
    Prompt(Prompt),
    Model(Model),
    Cost(Cost),
    Key(KeyArguments),
    Client(ClientArguments),
    Plugin(Plugin),
    Mcp(McpArguments),
    Help(Help),
    Completions(Completions),
    Man(Manual),
}

/// Open the page of the running server, logged in
///
/// The browser stays logged in for 30 days; `callgate key revoke` ends it sooner.
/// With --json: {"url"}.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate open
  callgate open --print"
)]
pub struct Open {
    /// Print the link instead of starting a browser
    #[arg(long)]
    pub print: bool,
}

/// Run Python in the sandbox, with the methods it may call
///
/// Prints what the code prints. Exit code 0 if the code ended by itself or by an
/// agent call, 1 if it failed or was stopped. With --json:
/// {"run", "stop", "stdout", "error", "line", "observation", "calls", "wall_ms"}
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate run report.py
  echo 'print(now(\"Asia/Tokyo\"))' | callgate run -
  callgate run job.py --session onebot:GroupMessage:42 --timeout 300 --json"
)]
pub struct RunArguments {
    /// The code; - reads it from standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub on_behalf: OnBehalf,
    /// Seconds the code may take, not counting time inside calls
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,
}

/// As whom whoever types acts, where nobody is named.
pub const OPERATOR: &str = "operator";

/// Who calls, and in which chat.
#[derive(Clone, Debug, Args)]
pub struct OnBehalf {
    /// The chat: platform:FriendMessage:id [default: cli:FriendMessage:<user>]
    #[arg(long, value_name = "KEY")]
    pub session: Option<SessionKey>,
    /// The person on whose behalf it is done
    #[arg(long, value_name = "ID", default_value = OPERATOR)]
    pub user: String,
}

/// Call one method yourself, through the same gate
///
/// Prints the value. With --json: {"value", "kind"}.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  callgate call now
  callgate call now --args '[\"Europe/Berlin\"]'
  callgate call remember --args '{\"name\": \"tea\", \"text\": \"Green, no sugar.\"}'")]
pub struct CallArguments {
    /// A name such as now, or in full: builtin/now
    pub method: String,
    /// A JSON object by name, or an array by position
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub args: String,
    #[command(flatten)]
    pub on_behalf: OnBehalf,
}

/// List the methods that can be called, or show one in full
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  callgate methods
  callgate methods send_message")]
pub struct Methods {
    /// Show this one: signature, docstring and the schema of its parameters
    pub name: Option<String>,
    #[command(flatten)]
    pub on_behalf: OnBehalf,
}

/// Answer what waits for your approval
///
/// Which methods are asked about is set by approval.ask in callgate.toml.
#[derive(Debug, Args)]
pub struct ApprovalArguments {
    #[command(subcommand)]
    pub command: ApprovalCommand,
}

#[derive(Debug, Subcommand)]
pub enum ApprovalCommand {
    /// What waits for an answer
    List {
        /// Also what was answered
        #[arg(long)]
        all: bool,
    },
    /// Let the call be made; a run that stopped to wait for it is continued now
    Allow(AnswerArguments),
    /// Refuse the call; a run that stopped to wait for it is continued now and gets an error
    Deny(AnswerArguments),
    /// The standing answers that --always left, with who gave them and when
    Rules,
    /// Take a standing answer back: the next call is asked about again
    Revoke {
        /// The number `callgate approval rules` shows
        id: i64,
    },
}

#[derive(Debug, Args)]
pub struct AnswerArguments {
    /// The number `callgate approval list` shows
    pub id: i64,
    /// Answer the same from now on, for this method and this person in this chat
    #[arg(long)]
    pub always: bool,
    /// With --always: for everybody in this chat
    #[arg(long, requires = "always")]
    pub everyone: bool,
    /// With --always: for the same arguments only
    #[arg(long, requires = "always")]
    pub same_arguments: bool,
}

/// Python packages for the code in the sandbox
#[derive(Debug, Args)]
pub struct SandboxArguments {
    #[command(subcommand)]
    pub command: SandboxCommand,
}

#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Install or upgrade packages; code in the sandbox sees them read-only
    #[command(after_help = "\
Only ready-made wheels are installed: building a package would run its code
outside the sandbox.

Examples:
  callgate sandbox install numpy pandas
  callgate sandbox install common
  callgate sandbox install ./mine-1.0-py3-none-any.whl")]
    Install {
        /// A name such as numpy or 'numpy<2', a wheel file, or the word common
        #[arg(required = true, value_name = "PACKAGE")]
        packages: Vec<String>,
    },
    /// What the AI's code will have: Python, packages, preloaded modules
    List,
}

/// Check that this machine can run the sandbox, and say what to do if not
///
/// Exit code 1 if something that is needed is missing.
#[derive(Debug, Args)]
pub struct Doctor {}

/// A tour of one minute: real code in the real sandbox
///
/// Uses a temporary directory, unless --data is given.
#[derive(Debug, Args)]
pub struct Demo {}

/// Let an MCP client use the methods, over standard input and output
///
/// For clients that start their servers themselves, such as editors and assistants:
/// methods are tools, session files are resources, personas are prompts. Over HTTP
/// the same is at /mcp of `callgate serve`.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  claude mcp add callgate -- callgate --data /path/to/data mcp
  callgate mcp list"
)]
pub struct McpArguments {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// The servers of callgate.toml whose tools are methods, and how they are doing
    List,
}

/// Keys for remote clients, the APIs and the page
#[derive(Debug, Args)]
pub struct KeyArguments {
    #[command(subcommand)]
    pub command: KeyCommand,
}

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key; its text is shown once. With --json: {"id", "key"}
    #[command(after_help = "\
Examples:
  callgate key new
  callgate key new --client SillyTavern-8000
  callgate key new --scope method:add --scope method:readJsonFromFile
  callgate key new --scope chat --scope models
  callgate key new --scope read --name phone --expires 30d
  callgate key new --scope operator")]
    New {
        /// What it may do: operator, methods, method:NAME, chat, models, read, sessions, approve,
        /// plugins, settings, metrics [default: methods]
        #[arg(long = "scope", value_name = "SCOPE")]
        scopes: Vec<String>,
        /// The id of the only remote client that may use it
        #[arg(long, value_name = "ID")]
        client: Option<String>,
        /// What you call it
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// When it opens nothing any more: 30d, 12h or 2w from now, a date, or a time [default: never]
        #[arg(long, value_name = "WHEN")]
        expires: Option<String>,
    },
    /// All keys, without their text
    List,
    /// Make a key useless from now on
    Revoke {
        /// The id `callgate key list` shows
        id: String,
    },
}

/// Remote clients that came without a key
///
/// A client on this machine that has no key can ask to be let in, as the extension
/// of SillyTavern does. Until you approve it, it can do next to nothing.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ClientArguments {
    #[command(subcommand)]
    pub command: ClientCommand,
}

#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    /// Those that asked, and those that are connected
    List,
    /// Let a client in that asked, from now on
    Approve {
        /// The id `callgate client list` shows
        id: String,
    },
    /// Shut a client out, and hang up on it
    Revoke {
        /// The id `callgate client list` shows
        id: String,
    },
}

/// A word of the contract, as JSON writes it too.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::from(text)).map_err(|error| error.to_string())
}
