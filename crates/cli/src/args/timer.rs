//! `callgate timer`.

use callgate_contract::SessionKey;
use clap::{Args, Subcommand};

/// What the bot says by itself, and when
///
/// Timers that people set in a chat are listed too.
#[derive(Debug, Args)]
pub struct TimerArguments {
    #[command(subcommand)]
    pub command: TimerCommand,
}

#[derive(Debug, Subcommand)]
pub enum TimerCommand {
    /// All timers that wait, the next one first
    List,
    /// Have the bot say something in a chat at a time, or ask the model for something
    #[command(after_help = "\
Examples:
  callgate timer add onebot:GroupMessage:42 'Good morning!' --repeat 'daily 08:00' --zone Asia/Shanghai
  callgate timer add onebot:GroupMessage:42 'Sum up what was said today.' --ask --repeat 'daily 22:00'
  callgate timer add telegram:GroupMessage:7 'Happy new year!' --at 2027-01-01T00:00 --regardless")]
    Add(Box<NewTimerArguments>),
    /// Cancel a timer
    Remove {
        /// platform:GroupMessage:id
        key: SessionKey,
        /// The id `callgate timer list` shows
        id: String,
    },
}

#[derive(Debug, Args)]
pub struct NewTimerArguments {
    /// platform:GroupMessage:id
    pub key: SessionKey,
    /// What is said, or asked
    pub text: String,
    /// The first time: 2026-12-24T08:00, or with an offset
    #[arg(long, value_name = "TIME", required_unless_present = "repeat")]
    pub at: Option<String>,
    /// 'daily 08:00' or 'every 30 minutes'
    #[arg(long, value_name = "WHEN")]
    pub repeat: Option<String>,
    /// Asia/Shanghai or +08:00 [default: the machine's]
    #[arg(long)]
    pub zone: Option<String>,
    /// The text is a question to the model, which answers in the chat; else it goes out as it is
    #[arg(long)]
    pub ask: bool,
    /// Also in quiet hours, and beyond the cap per hour
    #[arg(long)]
    pub regardless: bool,
}
