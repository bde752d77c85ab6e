//! `callgate limit`.

use callgate_contract::{Limit, Period, Principal, Role, SessionKey};
use clap::{Args, Subcommand};
use jiff::Timestamp;

use super::word;

/// How much people may ask for: messages, tokens and money; none at all is a ban
///
/// Each limit that is about somebody holds. Administrators and you are held to none that does not name them.
/// Whoever meets a limit is told so once, and when it ends; [[limit]] in callgate.toml says the same for good.
#[derive(Debug, Args)]
pub struct LimitArguments {
    #[command(subcommand)]
    pub command: LimitCommand,
}

#[derive(Debug, Subcommand)]
pub enum LimitCommand {
    /// All limits that hold, with who set them and when
    List,
    /// Limit or ban somebody; what is left out matches everybody
    #[command(after_help = "\
Examples:
  callgate limit add --role member --messages 20 --per hour
  callgate limit add --group onebot:GroupMessage:10086 --together --tokens 200000
  callgate limit add --person onebot:10001 --messages 0 --until 2026-12-01T00:00:00Z")]
    Add(Box<NewLimitArguments>),
    /// Remove a limit or a ban
    Remove {
        /// The number `callgate limit list` shows
        id: i64,
    },
}

#[derive(Debug, Args)]
pub struct NewLimitArguments {
    /// Of the chat in which they speak
    #[arg(long)]
    pub platform: Option<String>,
    /// The chat: platform:GroupMessage:id
    #[arg(long, value_name = "KEY")]
    pub group: Option<SessionKey>,
    /// guest, member, admin or operator
    #[arg(long, value_parser = word::<Role>)]
    pub role: Option<Role>,
    /// platform:account
    #[arg(long, value_name = "WHO")]
    pub person: Option<Principal>,
    /// A key's id
    #[arg(long, value_name = "ID")]
    pub key: Option<String>,
    /// Everybody whom it is about shares it; else each has it alone
    #[arg(long)]
    pub together: bool,
    /// That are answered; 0 is a ban
    #[arg(long, value_name = "COUNT")]
    pub messages: Option<u64>,
    /// That models read and write
    #[arg(long, value_name = "COUNT")]
    pub tokens: Option<u64>,
    /// That models cost, in the currency of prices
    #[arg(long, value_name = "AMOUNT")]
    pub money: Option<f64>,
    /// minute, hour or day
    #[arg(long, value_parser = word::<Period>, default_value = "day")]
    pub per: Period,
    /// When it ends, such as 2026-12-01T00:00:00Z
    #[arg(long, value_name = "TIME")]
    pub until: Option<Timestamp>,
}

impl NewLimitArguments {
    pub fn limit(self) -> Limit {
        Limit {
            platform: self.platform,
            group: self.group,
            role: self.role,
            person: self.person,
            key: self.key,
            together: self.together,
            messages: self.messages,
            tokens: self.tokens,
            money: self.money,
            per: self.per,
            until: self.until,
        }
    }
}
