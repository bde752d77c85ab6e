//! `callgate outbox`.

use callgate_store::DeliveryState;
use clap::{Args, Subcommand};

use super::word;

/// Messages that were not delivered, and what becomes of them
///
/// A message is queued until whoever it is for can be reached; failed if the platform refused it; unknown if
/// the process ended while it was being sent and the platform cannot tell whether it arrived. Queued ones are
/// sent by themselves. The others are sent again only if you say so, and hold up no other message.
#[derive(Debug, Args)]
pub struct OutboxArguments {
    #[command(subcommand)]
    pub command: OutboxCommand,
}

#[derive(Debug, Subcommand)]
pub enum OutboxCommand {
    /// What was not delivered, the oldest first
    List {
        /// Only those that are queued, unknown or failed
        #[arg(long, value_parser = word::<DeliveryState>)]
        state: Option<DeliveryState>,
    },
    /// Send a message again, though it may have arrived
    Resend {
        /// The number `callgate outbox list` shows
        id: i64,
    },
    /// Do not send a message any more; the session's log keeps it
    Drop {
        /// The number `callgate outbox list` shows
        id: i64,
    },
}
