//! When to answer: what a session or the operator says ([`AnswerWhen`], [`Pace`]), and the one function
//! that decides by it, given the clock. A message nobody answers is still in the log.

mod decide;
mod hours;
mod judge;
mod pace;
mod patterns;

use callgate_contract::{Part, Principal, Provenance, SessionType};
use callgate_store::LogRow;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

pub(crate) use self::judge::JudgeHealth;
pub use self::{
    hours::{HourRange, InvalidHours},
    pace::{Pace, Quiet},
    patterns::{InvalidPattern, Patterns},
};
use crate::history::text_of;

/// One way is enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnswerWhen {
    pub private: bool,
    pub mentioned: bool,
    /// The message replies to one of ours.
    pub replied: bool,
    /// The message begins with one of these.
    pub prefixes: Vec<String>,
    /// The message contains one of these, such as the bot's name.
    pub names: Vec<String>,
    /// One of these is found in the message.
    pub patterns: Patterns,
    /// Of any message, between 0 and 1.
    #[serde(deserialize_with = "fraction")]
    pub probability: f64,
    /// The id of a model that decides where nothing else has; empty for none.
    pub judge: String,
    /// What it is told besides, in the operator's words.
    pub judge_when: String,
    /// The bot's own ids on its platforms: a mention of one is a mention of the bot.
    pub accounts: Vec<String>,
    /// Only these people, if any are listed.
    pub allow: Vec<Principal>,
    /// Never these.
    pub block: Vec<Principal>,
}

fn fraction<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err(D::Error::custom("not between 0 and 1"))
    }
}

impl Default for AnswerWhen {
    fn default() -> Self {
        AnswerWhen {
            private: true,
            mentioned: true,
            replied: true,
            prefixes: Vec::new(),
            names: Vec::new(),
            patterns: Patterns::default(),
            probability: 0.0,
            judge: String::new(),
            judge_when: String::new(),
            accounts: Vec::new(),
            allow: Vec::new(),
            block: Vec::new(),
        }
    }
}

/// What is known of a message besides its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Timestamp,
    /// Between 0 and 1, drawn anew for each message.
    pub(crate) chance: f64,
    /// It replies to one of our messages.
    pub(crate) replies_to_us: bool,
}

/// What a message does to wake us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wake {
    pub(crate) mentioned: bool,
    pub(crate) prefix: Option<String>,
    /// It is to be answered.
    pub(crate) wanted: bool,
    /// Not by what is known: the judge is to be asked.
    pub(crate) undecided: bool,
    /// Its sender, or the whole session, is not listened to: no plugin changes that.
    pub(crate) barred: bool,
    pub(crate) prompting: Prompting,
}

/// Who wants the answer: what nobody asked us for is held to the session's [`Pace`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Prompting {
    /// Somebody has spoken to us.
    #[default]
    Addressed,
    /// We join in.
    Unaddressed,
    /// The operator has us speak at a time.
    Timer,
}

impl AnswerWhen {
    /// Whether to answer the message, as far as what we said before does not matter.
    pub(crate) fn wake(&self, pace: &Pace, row: &LogRow, moment: Moment) -> Wake {
        let text = text_of(&row.parts);
        let text = text.trim_start();
        let begins = |prefix: &&String| text.starts_with(prefix.as_str());
        let prefix = self.prefixes.iter().find(begins).cloned();
        let mentioned = row.mentioned || row.parts.iter().any(|part| self.is_meant(part));
        let is_private = row.session.kind() == SessionType::FriendMessage;
        let is_planned = matches!(
            row.provenance,
            Some(Provenance::Planned | Provenance::Announcement)
        );
        let is_timer = is_planned || row.provenance == Some(Provenance::Timer);
        // Somebody wants it at that time, whatever the hour.
        let is_due = is_timer && row.mentioned;
        let addressed = is_due
            || self.private && is_private
            || self.mentioned && mentioned
            || self.replied && moment.replies_to_us
            || prefix.is_some();
        let joins_in = || {
            self.names.iter().any(|name| text.contains(name.as_str()))
                || self.patterns.any_in(text)
                || moment.chance < self.probability
        };
        let listed = |list: &[Principal]| list.contains(&row.principal());
        let is_quiet = !is_private && !is_due && pace.is_quiet(moment.now);
        let barred = !is_planned
            && (listed(&self.block) || !self.allow.is_empty() && !listed(&self.allow))
            || is_quiet && pace.quiet == Quiet::Everything;
        let wanted = !barred && (addressed || !is_quiet && (is_planned || joins_in()));
        let can_join_in = !barred && !is_quiet && !is_private && !is_timer;
        Wake {
            mentioned,
            prefix,
            wanted,
            undecided: !wanted && can_join_in && !self.judge.is_empty(),
            barred,
            prompting: match () {
                () if addressed || is_private => Prompting::Addressed,
                () if is_planned => Prompting::Timer,
                () => Prompting::Unaddressed,
            },
        }
    }

    fn is_meant(&self, part: &Part) -> bool {
        match part {
            Part::Mention { id, name } => self.accounts.contains(id) || self.names.contains(name),
            _ => false,
        }
    }
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

    fn moment(chance: f64) -> Moment {
        Moment {
            now: Timestamp::UNIX_EPOCH,
            chance,
            replies_to_us: false,
        }
    }

    fn wants(rules: &AnswerWhen, row: &LogRow, chance: f64) -> bool {
        rules.wake(&Pace::default(), row, moment(chance)).wanted
    }

    #[test]
    fn at_quiet_hours_only_those_are_answered_who_speak_to_us_or_nobody_is() {
        let rules = AnswerWhen {
            names: vec!["小门".into()],
            ..AnswerWhen::default()
        };
        let pace = |quiet: &str| -> Pace {
            let hours = ["23:00-07:00"];
            let pace =
                serde_json::json!({"quiet_hours": hours, "quiet": quiet, "time_zone": "+08:00"});
            serde_json::from_value(pace).unwrap()
        };
        let (night, day) = ("2026-01-01T15:00:00Z", "2026-01-01T14:59:59Z");
        let mut due = row(GROUP, "ann", "wake up", true);
        due.provenance = Some(Provenance::Timer);
        let mut announced = due.clone();
        announced.mentioned = false;
        announced.provenance = Some(Provenance::Announcement);
        for (row, unaddressed, everything) in [
            (row(GROUP, "ann", "hi", true), true, false),
            (row(GROUP, "ann", "问问小门", false), false, false),
            (row("q:FriendMessage:1", "ann", "hi", false), true, true),
            (due, true, true),
            (announced, false, false),
        ] {
            let wants = |quiet: &str, now: &str| {
                let now = now.parse().unwrap();
                let moment = Moment { now, ..moment(0.9) };
                rules.wake(&pace(quiet), &row, moment).wanted
            };
            let found = (wants("unaddressed", night), wants("everything", night));
            assert_eq!(found, (unaddressed, everything), "{row:?}");
            assert!(wants("everything", day), "{row:?}");
        }
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
            let wake = rules.wake(&Pace::default(), &row, moment(0.9));
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
