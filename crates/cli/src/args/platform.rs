//! `callgate platform`.

use callgate_service::config::{Invites, PlatformEntry, PlatformKind};
use clap::{Args, Subcommand};

use super::word;

/// Chats that Callgate is connected to: Telegram, Matrix, QQ by OneBot v11, others by Satori
///
/// [[platform]] in callgate.toml says the same; docs/platforms.md shows how each is connected.
#[derive(Debug, Args)]
pub struct PlatformArguments {
    #[command(subcommand)]
    pub command: PlatformCommand,
}

#[derive(Debug, Subcommand)]
pub enum PlatformCommand {
    /// All platforms, with who is connected and what went wrong last
    List,
    /// Connect a platform; a server that runs does so at once
    #[command(after_help = "\
Examples:
  callgate platform add qq --kind onebot --listen 127.0.0.1:6199 --token SECRET
  callgate platform add qq --kind onebot --url ws://127.0.0.1:3001 --token-env QQ_TOKEN
  callgate platform add tg --kind telegram --token 123456:ABC-DEF1234ghIkl
  callgate platform add matrix --kind matrix --url https://matrix.example.org --token ACCESS_TOKEN
  callgate platform add chat --kind satori --url http://127.0.0.1:5140/satori --token SECRET")]
    Add(Box<NewPlatformArguments>),
    /// Wait until a bot is connected, for ten seconds at most
    Test {
        /// The id `callgate platform list` shows
        id: String,
    },
    /// Leave a platform; its chats stay
    Remove {
        /// The id `callgate platform list` shows
        id: String,
    },
}

#[derive(Debug, Args)]
pub struct NewPlatformArguments {
    /// What its chats are called by: qq in qq:GroupMessage:123
    pub id: String,
    /// onebot, telegram, matrix, satori
    #[arg(long, value_parser = word::<PlatformKind>)]
    pub kind: PlatformKind,
    /// Where the platform's program connects to us
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// Where we connect: ws://..., or http://... for actions alone; of Telegram where it posts updates to, of Matrix
    /// the homeserver
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// A Telegram Bot API server of your own
    #[arg(long, value_name = "URL")]
    pub api_url: Option<String>,
    /// What both sides show each other; of Matrix the account's access token
    #[arg(long)]
    pub token: Option<String>,
    /// The variable that holds the token
    #[arg(long, value_name = "NAME", conflicts_with = "token")]
    pub token_env: Option<String>,
    /// What webhooks are signed with, where that is not the token
    #[arg(long)]
    pub secret: Option<String>,
    /// The only account that may connect; for Satori a network, or network:account
    #[arg(long)]
    pub account: Option<String>,
    /// Characters of one message; a longer answer is several messages
    #[arg(long, value_name = "COUNT")]
    pub longest_message: Option<u32>,
    /// Whose invitations into rooms are followed (Matrix): nobody, administrators or everybody
    #[arg(long, value_name = "WHO", value_parser = word::<Invites>)]
    pub invites: Option<Invites>,
    /// Where the platform's program serves files, if on this machine or its network
    #[arg(long, value_name = "ADDRESS")]
    pub files: Option<String>,
    /// An action that the AI may take in its chats, such as set_group_ban; may be repeated
    #[arg(long, value_name = "ACTION")]
    pub offer: Vec<String>,
}

impl NewPlatformArguments {
    pub fn entry(self) -> PlatformEntry {
        PlatformEntry {
            id: self.id,
            kind: self.kind,
            listen: self.listen,
            url: self.url,
            api_url: self.api_url,
            token: self.token,
            token_env: self.token_env,
            secret: self.secret,
            account: self.account,
            longest_message: self.longest_message,
            invites: self.invites,
            files: self.files,
            offer: self.offer,
        }
    }
}
