//! A message as listeners hear of it, and what they say is to become of it.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::{Part, Principal, Role, SessionKey};

/// A message that is in the log.
#[derive(Clone, Debug)]
pub struct ArrivalFacts {
    /// Its row in the log: what a turn asked for by the listener answers.
    pub row: i64,
    pub session: SessionKey,
    pub user: String,
    /// As the platform shows the user.
    pub name: String,
    /// Who sent it, and their role.
    pub principal: Principal,
    pub role: Role,
    pub parts: Vec<Part>,
    /// The platform's own id of the message.
    pub message_id: Option<String>,
    /// Milliseconds since 1970.
    pub at: i64,
    /// It mentions the bot or replies to it.
    pub mentioned: bool,
    /// The wake prefix it begins with, if any.
    pub prefix: Option<String>,
    /// What the session's own rule says: it would be answered.
    pub wanted: bool,
    /// It was a command of ours and is answered: it is heard of, and nothing more.
    pub obeyed: bool,
    /// What its platform told beside it, while this process lives.
    pub platform: Option<Arc<PlatformFacts>>,
}

/// A message or another event as its platform told it, for plugins that know the platform.
#[derive(Clone, Debug, PartialEq)]
pub struct PlatformFacts {
    /// The platform's protocol, such as `onebot`.
    pub kind: String,
    /// The bot's own account there.
    pub bot: String,
    pub chat_name: Option<String>,
    pub raw: Json,
}

/// What is to become of a message. Of several the strongest counts; the order here is from the
/// weakest to the strongest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The session's rule decides.
    #[default]
    Pass,
    /// It stays in the log and is not answered.
    NoTurn,
    /// It is answered, whatever the rule says.
    Force,
    /// The listener has dealt with it, or asks for the turn itself.
    Taken,
    /// It is kept out of prompts and not answered.
    Hide,
}
