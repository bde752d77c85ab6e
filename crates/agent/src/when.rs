//! When to answer: private chats and mentions by default, more where a session or the operator says
//! so. A message nobody answers is still in the log.

mod patterns;

use callgate_contract::{Part, Principal, SessionType};
use callgate_store::LogRow;
use serde::{Deserialize, Serialize};

pub use self::patterns::{InvalidPattern, Patterns};
use crate::{Agent, TurnError, history::text_of};

/// One way is enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnswerWhen {
    pub private: bool,
    pub mentioned: bool,
    /// The message begins with one of these.
    pub prefixes: Vec<String>,
    /// The message contains one of these, such as the bot's name.
    pub names: Vec<String>,
    /// One of these is found in the message.
    pub patterns: Patterns,
    /// Of any message, between 0 and 1.
    pub probability: f64,
    /// The bot's own ids on its platforms: a mention of one is a mention of the bot.
    pub accounts: Vec<String>,
    /// Only these people, if any are listed.
    pub allow: Vec<Principal>,
    /// Never these.
    pub block: Vec<Principal>,
}

impl Default for AnswerWhen {
    fn default() -> Self {
        AnswerWhen {
            private: true,
            mentioned: true,
            prefixes: Vec::new(),
            names: Vec::new(),
            patterns: Patterns::default(),
            probability: 0.0,
            accounts: Vec::new(),
            allow: Vec::new(),
            block: Vec::new(),
        }
    }
}

/// What a message does to wake us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wake {
    pub(crate) mentioned: bool,
    pub(crate) prefix: Option<String>,
    /// It is to be answered.
    pub(crate) wanted: bool,
    /// Its sender, or the whole session, is not listened to: no plugin changes that.
    pub(crate) barred: bool,
}

impl AnswerWhen {
    /// `chance` lies between 0 and 1.
    fn wake(&self, row: &LogRow, chance: f64) -> Wake {
        let text = text_of(&row.parts);
        let text = text.trim_start();
        let begins = |prefix: &&String| text.starts_with(prefix.as_str());
        let prefix = self.prefixes.iter().find(begins).cloned();
        let mentioned = row.mentioned || row.parts.iter().any(|part| self.is_meant(part));
        let listed = |list: &[Principal]| list.contains(&row.principal());
        let barred = !self.block.is_empty() && listed(&self.block)
            || !self.allow.is_empty() && !listed(&self.allow);
        let wanted = self.private && row.session.kind() == SessionType::FriendMessage
            || self.mentioned && mentioned
            || prefix.is_some()
            || self.names.iter().any(|name| text.contains(name.as_str()))
            || self.patterns.any_in(text)
            || chance < self.probability;
        Wake {
            mentioned,
            prefix,
            wanted: wanted && !barred,
            barred,
        }
    }

    fn is_meant(&self, part: &Part) -> bool {
        match part {
            Part::Mention { id, name } => self.accounts.contains(id) || self.names.contains(name),
            _ => false,
        }
    }
}

impl Agent {
    pub(crate) async fn wake(&self, row: &LogRow) -> Result<Wake, TurnError> {
        let settings = self.store().settings().session(&row.session).await?.value;
        let own = settings.answer.map(serde_json::from_value).transpose();
        let own: Option<AnswerWhen> = own.unwrap_or_else(|error| {
            tracing::warn!(session = %row.session, %error, "could not read the session's answer rule");
            None
        });
        let when = own.as_ref().unwrap_or(&self.settings().answer);
        let mut wake = when.wake(row, chance()?);
        wake.barred |= settings.muted || row.hidden;
        wake.wanted &= !wake.barred;
        Ok(wake)
    }
}

fn chance() -> Result<f64, TurnError> {
    let bits = getrandom::u32().map_err(TurnError::Randomness)?;
    Ok(f64::from(bits) / (f64::from(u32::MAX) + 1.0))
}

#[cfg(test)]
mod tests {
    use callgate_contract::SessionKey;
    use callgate_store::{LogRole, Sender};

    use super::*;

    const GROUP: &str = "q:GroupMessage:1";

    fn row(session: &str, user: &str, text: &str, mentioned: bool) -> LogRow {
        LogRow {
            id: 1,
            session: session.parse::<SessionKey>().unwrap(),
            role: LogRole::User,
            sender: Some(Sender {
                id: user.into(),
                name: String::new(),
            }),
            sender_role: None,
            sender_principal: None,
            mode: None,
            model: None,
            parts: vec![Part::text(text)],
            at: jiff::Timestamp::UNIX_EPOCH,
            message_id: None,
            hidden: false,
            mentioned,
            turn: None,
            unfinished: false,
            provenance: None,
        }
    }

    fn wants(rules: &AnswerWhen, row: &LogRow, chance: f64) -> bool {
        rules.wake(row, chance).wanted
    }

    #[test]
    fn one_way_is_enough_and_lists_come_first() {
        let rules = AnswerWhen {
            prefixes: vec!["!".into()],
            names: vec!["小门".into()],
            block: vec!["q:mallory".parse().unwrap()],
            ..AnswerWhen::default()
        };
        for (session, user, text, mentioned, chance, expected) in [
            ("q:FriendMessage:1", "ann", "hi", false, 0.9, true),
            (GROUP, "ann", "hi", false, 0.9, false),
            (GROUP, "ann", "hi", true, 0.9, true),
            (GROUP, "ann", "!hi", false, 0.9, true),
            (GROUP, "ann", "问问小门", false, 0.9, true),
            ("q:FriendMessage:1", "mallory", "!小门", true, 0.0, false),
            // Of that name on another platform.
            ("r:FriendMessage:1", "mallory", "!小门", true, 0.0, true),
        ] {
            let row = row(session, user, text, mentioned);
            assert_eq!(wants(&rules, &row, chance), expected, "{text} in {session}");
        }
        let sometimes = AnswerWhen {
            probability: 0.5,
            ..AnswerWhen::default()
        };
        assert!(wants(&sometimes, &row(GROUP, "ann", "hi", false), 0.4));
        assert!(!wants(&sometimes, &row(GROUP, "ann", "hi", false), 0.6));
        let invited = AnswerWhen {
            allow: vec!["q:ann".parse().unwrap()],
            ..AnswerWhen::default()
        };
        for (session, user, expected) in [
            ("q:FriendMessage:1", "ann", true),
            ("q:FriendMessage:1", "bob", false),
            ("r:FriendMessage:1", "ann", false),
        ] {
            let row = row(session, user, "hi", true);
            assert_eq!(wants(&invited, &row, 0.0), expected, "{user} in {session}");
        }
    }

    #[test]
    fn a_mention_of_the_bot_counts_and_one_of_somebody_else_does_not() {
        let rules = AnswerWhen {
            accounts: vec!["10086".into()],
            names: vec!["小门".into()],
            ..AnswerWhen::default()
        };
        for (id, name, expected) in [("10086", "", true), ("7", "小门", true), ("7", "Bo", false)]
        {
            let mut row = row(GROUP, "ann", " /hi", false);
            let (id, name) = (id.to_owned(), name.to_owned());
            row.parts.insert(0, Part::Mention { id, name });
            let wake = rules.wake(&row, 0.9);
            assert_eq!((wake.mentioned, wake.wanted), (expected, expected));
        }
    }

    #[test]
    fn a_pattern_is_looked_for_anywhere() {
        let rules: AnswerWhen =
            serde_json::from_value(serde_json::json!({"patterns": ["^(?i)bot\\b", "天气"]}))
                .unwrap();
        assert!(wants(&rules, &row(GROUP, "ann", "BOT, hi", false), 0.9));
        assert!(wants(&rules, &row(GROUP, "ann", "明天天气", false), 0.9));
        assert!(!wants(&rules, &row(GROUP, "ann", "robots", false), 0.9));
    }
}
