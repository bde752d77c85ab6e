//! `callgate rule`.

use callgate_contract::{Effect, Kind, Permission, Principal, Role, Rule, SessionKey};
use clap::{Args, Subcommand};

use super::word;

/// Who may call what: allow, ask you first, or deny
///
/// Rules are looked at in order and the first that matches decides: those made here, the newest first,
/// then [[rule]] and approval.ask in callgate.toml. Where none matches, what is installed may be called.
#[derive(Debug, Args)]
pub struct RuleArguments {
    #[command(subcommand)]
    pub command: RuleCommand,
}

#[derive(Debug, Subcommand)]
pub enum RuleCommand {
    /// All rules in their order, with who made them and when
    List,
    /// Add a rule, before all others; what is left out matches everybody and everything
    #[command(after_help = "\
Examples:
  callgate rule add deny --role member --method fetch
  callgate rule add ask --origin mcp:mail --effect effectful
  callgate rule add allow --person onebot:10001 --method send_file")]
    Add(NewRuleArguments),
    /// Remove a rule or a standing answer
    Remove {
        /// The number `callgate rule list` shows
        id: i64,
    },
}

#[derive(Debug, Args)]
pub struct NewRuleArguments {
    /// allow, confirm (whoever it is for is asked), ask (you are asked) or deny
    #[arg(value_parser = word::<Permission>)]
    pub then: Permission,
    /// Of the chat in which it is called
    #[arg(long)]
    pub platform: Option<String>,
    /// The chat: platform:GroupMessage:id
    #[arg(long, value_name = "KEY")]
    pub group: Option<SessionKey>,
    /// guest, member, admin or operator
    #[arg(long, value_parser = word::<Role>)]
    pub role: Option<Role>,
    /// platform:account, or plugin:ID for what a plugin does by itself
    #[arg(long, value_name = "WHO")]
    pub person: Option<Principal>,
    /// A key's id
    #[arg(long, value_name = "ID")]
    pub key: Option<String>,
    /// In any spelling; a bare name stands for all methods of that name
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,
    /// builtin, plugin, mcp, client, agent, or one of them: plugin:ID
    #[arg(long)]
    pub origin: Option<String>,
    /// tool, agent, behavior or multimodal_agent
    #[arg(long, value_parser = word::<Kind>)]
    pub kind: Option<Kind>,
    /// pure, idempotent, rows or effectful
    #[arg(long, value_parser = word::<Effect>)]
    pub effect: Option<Effect>,
}

impl NewRuleArguments {
    pub fn rule(self) -> Rule {
        Rule {
            platform: self.platform,
            group: self.group,
            role: self.role,
            person: self.person,
            key: self.key,
            method: self.method,
            origin: self.origin,
            kind: self.kind,
            effect: self.effect,
            then: self.then,
        }
    }
}
