//! When to answer: private chats and mentions by default, more where a session or the operator says
//! so. A message nobody answers is still in the log.

use callgate_contract::SessionType;
use callgate_store::LogRow;
use serde::{Deserialize, Serialize};

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
    /// Of any message, between 0 and 1.
    pub probability: f64,
    /// Only these users, if any are listed.
    pub allow: Vec<String>,
    /// Never these users.
    pub block: Vec<String>,
}

impl Default for AnswerWhen {
    fn default() -> Self {
        AnswerWhen {
            private: true,
            mentioned: true,
            prefixes: Vec::new(),
            names: Vec::new(),
            probability: 0.0,
            allow: Vec::new(),
            block: Vec::new(),
        }
    }
}

impl AnswerWhen {
    /// `chance` lies between 0 and 1.
    fn wants(&self, row: &LogRow, chance: f64) -> bool {
        let user = row.sender.as_ref().map_or("", |sender| sender.id.as_str());
        let listed = |list: &[String]| list.iter().any(|id| id == user);
        if listed(&self.block) || !self.allow.is_empty() && !listed(&self.allow) {
            return false;
        }
        let text = text_of(&row.parts);
        self.private && row.session.kind() == SessionType::FriendMessage
            || self.mentioned && row.mentioned
            || self
                .prefixes
                .iter()
                .any(|prefix| text.starts_with(prefix.as_str()))
            || self.names.iter().any(|name| text.contains(name.as_str()))
            || chance < self.probability
    }
}

impl Agent {
    pub(crate) async fn wants_answer(&self, row: &LogRow) -> Result<bool, TurnError> {
        let settings = self.store().settings().session(&row.session).await?.value;
        if settings.muted || row.hidden {
            return Ok(false);
        }
        let chosen = settings
            .answer
            .and_then(|json| serde_json::from_value(json).ok());
        let when: AnswerWhen = chosen.unwrap_or_else(|| self.settings().answer.clone());
        Ok(when.wants(row, chance()?))
    }
}

fn chance() -> Result<f64, TurnError> {
    let bits = getrandom::u32().map_err(TurnError::Randomness)?;
    Ok(f64::from(bits) / (f64::from(u32::MAX) + 1.0))
}

#[cfg(test)]
mod tests {
    use callgate_contract::{Part, SessionKey};
    use callgate_store::{LogRole, Sender};

    use super::*;

    fn row(session: &str, user: &str, text: &str, mentioned: bool) -> LogRow {
        LogRow {
            id: 1,
            session: session.parse::<SessionKey>().unwrap(),
            role: LogRole::User,
            sender: Some(Sender {
                id: user.into(),
                name: String::new(),
            }),
            parts: vec![Part::text(text)],
            at: jiff::Timestamp::UNIX_EPOCH,
            message_id: None,
            hidden: false,
            mentioned,
            turn: None,
        }
    }

    #[test]
    fn one_way_is_enough_and_lists_come_first() {
        let group = "q:GroupMessage:1";
        let rules = AnswerWhen {
            prefixes: vec!["!".into()],
            names: vec!["小门".into()],
            block: vec!["mallory".into()],
            ..AnswerWhen::default()
        };
        for (session, user, text, mentioned, chance, expected) in [
            ("q:FriendMessage:1", "ann", "hi", false, 0.9, true),
            (group, "ann", "hi", false, 0.9, false),
            (group, "ann", "hi", true, 0.9, true),
            (group, "ann", "!hi", false, 0.9, true),
            (group, "ann", "问问小门", false, 0.9, true),
            ("q:FriendMessage:1", "mallory", "!小门", true, 0.0, false),
        ] {
            let row = row(session, user, text, mentioned);
            assert_eq!(rules.wants(&row, chance), expected, "{text} in {session}");
        }
        let sometimes = AnswerWhen {
            probability: 0.5,
            ..AnswerWhen::default()
        };
        assert!(sometimes.wants(&row(group, "ann", "hi", false), 0.4));
        assert!(!sometimes.wants(&row(group, "ann", "hi", false), 0.6));
        let invited = AnswerWhen {
            allow: vec!["ann".into()],
            ..AnswerWhen::default()
        };
        assert!(!invited.wants(&row("q:FriendMessage:1", "bob", "hi", true), 0.0));
    }
}
