//! The commands around messages: who answers, with what, and what was said.

use std::{net::SocketAddr, path::PathBuf};

use callgate_contract::{JournalId, Mode, SessionKey};
use clap::{Args, Subcommand, ValueEnum};

use super::OnBehalf;

/// Run the server: HTTP, timers, and the one place that answers messages
///
/// While it runs, other commands on the same data directory go through it. Ends
/// on Ctrl-C; what is not finished then goes on at the next start.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate serve
  callgate serve --listen 127.0.0.1:9000 --data /var/lib/callgate"
)]
pub struct Serve {
    /// Where to listen [default: serve.listen, which is 127.0.0.1:8420]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Run plugins without a wall, where the kernel refuses one: they can do what you can
    #[arg(long)]
    pub unwalled_plugins: bool,
}

/// Talk to it
///
/// A line that ends with \ goes on, and so does a block between ``` and ```. Lines
/// such as /help and /new are commands. Ctrl-C stops the answer, Ctrl-D leaves.
/// With --json: what `send --json` prints, for each line.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate chat
  callgate chat --model demo --verbose
  printf 'hello\\n/stats\\n' | callgate chat"
)]
pub struct Chat {
    #[command(flatten)]
    pub on_behalf: OnBehalf,
    #[command(flatten)]
    pub by: ModelArguments,
    /// Show code, its output and the values of calls, not only that there were some
    #[arg(long)]
    pub verbose: bool,
}

/// Send one message and wait for its answer
///
/// Prints the messages that go out. Exit code 0 if it was answered, or heard in
/// silence. With --json, lines: {"type": "message", "session", "parts"} for each
/// message, then {"type": "turn", "rounds", "stop", "calls"}.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate send 'What time is it in Tokyo?'
  callgate send 'Hello' --mode tools --json
  callgate send 'Hello' --model script:answers.jsonl

A script holds one answer for each line: {\"content\": \"Hi!\"}, or \"tool_calls\"."
)]
pub struct Send {
    /// The message; - reads it from standard input
    pub text: String,
    #[command(flatten)]
    pub on_behalf: OnBehalf,
    #[command(flatten)]
    pub by: ModelArguments,
}

/// Who answers, and how.
#[derive(Clone, Debug, Args)]
pub struct ModelArguments {
    /// An id of `callgate model list`, script:FILE, or demo
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Whether the model answers with code or with tool calls [default: the persona's]
    #[arg(long)]
    pub mode: Option<ModeName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModeName {
    Code,
    Tools,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Code => Mode::Code,
            ModeName::Tools => Mode::Tools,
        }
    }
}

/// Chats, and what was said in them
#[derive(Debug, Args)]
pub struct Session {
    #[command(subcommand)]
    pub command: SessionCommand,
}

#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// All sessions
    List,
    /// What was said in one, and how it is set up
    Show {
        /// platform:FriendMessage:id, or the spelling platform-private_id
        key: SessionKey,
        /// Newest messages to show
        #[arg(long, value_name = "COUNT", default_value_t = 50)]
        limit: u32,
    },
    /// Go on in a copy of the current conversation; the original stays as it is
    Fork {
        /// platform:FriendMessage:id, or the spelling platform-private_id
        key: SessionKey,
        /// Copy only the history up to this position
        #[arg(long, value_name = "POSITION")]
        upto: Option<u64>,
    },
    /// Say when the bot speaks in one, where that differs from callgate.toml
    #[command(after_help = "\
Examples:
  callgate session set onebot:GroupMessage:42 pace.per_hour=3 pace.quiet_hours=23:00-07:30
  callgate session set onebot:GroupMessage:42 answer.names=小门,门卫 answer.probability=0.05
  callgate session set onebot:GroupMessage:42 pace.per_hour=

docs/speaking.md says what each does.")]
    Set {
        /// platform:GroupMessage:id
        key: SessionKey,
        /// A key of the sections answer and pace; without a value, what callgate.toml says holds again
        #[arg(value_name = "KEY=VALUE", required = true)]
        values: Vec<String>,
    },
    Export(ExportSession),
    Replay(ReplaySession),
}

/// Write a session into one file that can be executed again anywhere
///
/// The file holds messages, code, results of calls, replies of models, seeds,
/// personas and up to 16 MB of the session's files. It holds no keys and no
/// configuration; what people said in the chat is in it.
/// With --json: {"file", "bytes", "turns", "runs", "files", "left_out"}
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate session export cli:FriendMessage:operator
  callgate session export cli-private_operator bug.capsule --turn 0198c7be-..."
)]
pub struct ExportSession {
    /// platform:FriendMessage:id, or the spelling platform-private_id
    pub key: SessionKey,
    /// Where to [default: the session's id with .capsule, here]
    pub file: Option<PathBuf>,
    /// Only this turn, with those of the agents it called
    #[arg(long, value_name = "ID", value_parser = journal)]
    pub turn: Option<JournalId>,
}

/// Execute an exported session again and report the first difference
///
/// Needs no key and asks nobody: models' replies and results of calls come from
/// the file, code runs in the sandbox with its own seeds and clocks. In a
/// temporary directory, unless --data names a new one. Exit code 0 only if
/// everything came out as it was.
/// With --json: {"equal", "difference", "turns", "runs", "calls", "notes"}
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate session replay bug.capsule
  callgate session replay bug.capsule --turn 0198c7be-... --json"
)]
pub struct ReplaySession {
    /// What `callgate session export` wrote
    pub file: PathBuf,
    /// Only this turn, with those of the agents it called
    #[arg(long, value_name = "ID", value_parser = journal)]
    pub turn: Option<JournalId>,
}

fn journal(text: &str) -> Result<JournalId, String> {
    let id = serde_json::from_value(serde_json::Value::from(text));
    id.map_err(|_| "not the id of a turn".to_owned())
}

/// Who answers: prompt, opening dialogue, methods, mode, model
#[derive(Debug, Args)]
pub struct Persona {
    #[command(subcommand)]
    pub command: PersonaCommand,
}

#[derive(Debug, Subcommand)]
pub enum PersonaCommand {
    /// All personas
    List,
    /// One of them in full
    Show {
        /// As `callgate persona list` shows it
        name: String,
    },
    /// Make a persona, or change what is given of it
    #[command(after_help = "\
In a chat, /persona NAME lets it answer; to other agents it is the method ask_NAME.

Examples:
  callgate persona set poet --prompt 'Answer in verse.' --methods none
  callgate persona set clerk --prompt @clerk.md --mode tools --methods recall,remember
  callgate persona set poet --dialog 'Good morning' 'Morning dew, and who are you?'")]
    Set(SetPersona),
    Import(ImportPersona),
    /// Remove one; chats that chose it fall back to the default
    Delete {
        /// As `callgate persona list` shows it
        name: String,
    },
}

/// Take over a character card of SillyTavern, or a persona of AstrBot
///
/// A card is a PNG with the character inside, or JSON of version 1, 2 or 3; a
/// persona of AstrBot is JSON, one or a list of them. {{char}} becomes the name;
/// {{user}} stays for whoever talks.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate persona import seraphina.png
  callgate persona import card.json --name sera --replace"
)]
pub struct ImportPersona {
    /// The PNG or JSON
    pub file: PathBuf,
    /// What to call it here [default: its own name]
    #[arg(long)]
    pub name: Option<String>,
    /// In place of a persona of that name
    #[arg(long)]
    pub replace: bool,
    /// Which of a card's greetings begins the chat; 0 is the usual one
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub greeting: usize,
}

#[derive(Debug, Args)]
pub struct SetPersona {
    /// What it is called from now on; a name never changes
    pub name: String,
    /// What the model is told to be; @FILE reads it from a file
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// Whether it answers with code or with tool calls
    #[arg(long)]
    pub mode: Option<ModeName>,
    /// Its model; '' leaves that to the session
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// The methods it may use, by name: a,b or none or all
    #[arg(long, value_name = "NAMES")]
    pub methods: Option<String>,
    /// A pair of opening lines, replacing those it has; may be repeated
    #[arg(long, num_args = 2, value_names = ["USER", "ASSISTANT"], action = clap::ArgAction::Append)]
    pub dialog: Vec<String>,
}

/// Show exactly what a model would get if a message came in now
///
/// With --json: {"mode", "model", "request"}.
#[derive(Debug, Args)]
pub struct Prompt {
    #[command(flatten)]
    pub on_behalf: OnBehalf,
    /// As in this mode [default: the persona's]
    #[arg(long)]
    pub mode: Option<ModeName>,
}
