//! [`Limit`]: how much somebody may ask for in a minute, an hour or a day. A ban is a limit of no messages.
//! Limits have no order: each that is about somebody holds.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Principal, Role, SessionKey, selector::Selector};

/// Whom it is about is said as in a [`crate::Rule`]; what is left out matches everybody.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Of the chat in which they speak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The chat: `platform:GroupMessage:id`, or any other session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<SessionKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// `platform:account`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub person: Option<Principal>,
    /// A key's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Everybody whom it is about shares it; else each of them has it alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub together: bool,
    /// That are to be answered. None at all is a ban.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// That models read and write for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// That models cost, in the currency of prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// In which the amounts are counted, anew from its beginning in UTC.
    #[serde(default)]
    pub per: Period,
    /// From then on it no longer holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub until: Option<Timestamp>,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    Minute,
    Hour,
    #[default]
    Day,
}

impl Period {
    fn seconds(self) -> i64 {
        match self {
            Period::Minute => 60,
            Period::Hour => 3_600,
            Period::Day => 86_400,
        }
    }

    /// When the one began that `at` lies in.
    pub fn start(self, at: Timestamp) -> Timestamp {
        let begun = at.as_second().div_euclid(self.seconds()) * self.seconds();
        Timestamp::from_second(begun).unwrap_or(Timestamp::MIN)
    }

    /// When the next one begins.
    pub fn end(self, at: Timestamp) -> Timestamp {
        let next = self.start(at).as_second().saturating_add(self.seconds());
        Timestamp::from_second(next).unwrap_or(Timestamp::MAX)
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLimit {
    #[error("a limit bounds something: say how many messages or tokens, or how much money")]
    Nothing,
    #[error("an amount of money is a number that is not negative")]
    Money,
    #[error("a limit is for a person or for a key, not for both")]
    PersonAndKey,
    #[error("those of a role are counted each for themselves, not together")]
    RoleTogether,
    #[error("what is left empty matches nobody: leave it out")]
    Empty,
}

impl Limit {
    /// A limit that says something. One that is misspelt would hold for others than it was meant for.
    pub fn check(&self) -> Result<(), InvalidLimit> {
        let mut texts = [&self.platform, &self.key].into_iter().flatten();
        if texts.any(|text| text.trim().is_empty()) {
            Err(InvalidLimit::Empty)
        } else if self.messages.is_none() && self.tokens.is_none() && self.money.is_none() {
            Err(InvalidLimit::Nothing)
        } else if self.money.is_some_and(|it| !it.is_finite() || it < 0.0) {
            Err(InvalidLimit::Money)
        } else if self.person.is_some() && self.key.is_some() {
            Err(InvalidLimit::PersonAndKey)
        } else if self.role.is_some() && self.together {
            Err(InvalidLimit::RoleTogether)
        } else {
            Ok(())
        }
    }

    /// Does it bound what this principal asks for there? Whoever decides for others is bound only by what
    /// names them or their role.
    pub fn is_about(&self, session: &SessionKey, role: Role, principal: &Principal) -> bool {
        let is_named = self.person.is_some() || self.key.is_some() || self.role.is_some();
        let selector = Selector {
            platform: self.platform.as_deref(),
            group: self.group.as_ref(),
            role: self.role,
            person: self.person.as_ref(),
            key: self.key.as_deref(),
        };
        (is_named || !role.administers()) && selector.matches(session, role, principal)
    }

    pub fn is_ban(&self) -> bool {
        self.messages == Some(0)
    }

    pub fn holds_at(&self, at: Timestamp) -> bool {
        self.until.is_none_or(|until| at < until)
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and nobody has 2^64 millionths"
    )]
    pub fn millionths(&self) -> Option<u64> {
        self.money.map(|money| (money * 1e6).round() as u64)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Limit {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn periods_begin_anew_in_utc() {
        let at: Timestamp = "2026-11-16T09:31:45Z".parse().unwrap();
        for (period, start, end) in [
            (
                Period::Minute,
                "2026-11-16T09:31:00Z",
                "2026-11-16T09:32:00Z",
            ),
            (Period::Hour, "2026-11-16T09:00:00Z", "2026-11-16T10:00:00Z"),
            (Period::Day, "2026-11-16T00:00:00Z", "2026-11-17T00:00:00Z"),
        ] {
            assert_eq!(period.start(at), start.parse().unwrap());
            assert_eq!(period.end(at), end.parse().unwrap());
            assert_eq!(period.start(period.end(at)), period.end(at));
        }
    }

    #[test]
    fn administrators_are_bound_by_what_names_them_alone() {
        let session = "qq:GroupMessage:1".parse().unwrap();
        let boss = "qq:boss".parse().unwrap();
        for (text, about_admin, about_member) in [
            (r#"{"messages":1}"#, false, true),
            (r#"{"messages":1,"group":"qq:GroupMessage:1"}"#, false, true),
            (r#"{"messages":1,"person":"qq:boss"}"#, true, true),
            (r#"{"messages":1,"role":"admin"}"#, true, false),
            (r#"{"messages":1,"role":"member"}"#, false, true),
            (r#"{"messages":1,"person":"tg:boss"}"#, false, false),
            (r#"{"messages":1,"platform":"tg"}"#, false, false),
            (r#"{"messages":1,"key":"boss"}"#, false, false),
        ] {
            let limit = limit(text);
            assert_eq!(limit.check(), Ok(()));
            let about = |role| limit.is_about(&session, role, &boss);
            assert_eq!(about(Role::Admin), about_admin, "{text}");
            assert_eq!(about(Role::Member), about_member, "{text}");
        }
    }

    #[test]
    fn what_bounds_nothing_is_refused() {
        for (text, error) in [
            (r#"{"role":"member"}"#, InvalidLimit::Nothing),
            (r#"{"money":-1}"#, InvalidLimit::Money),
            (r#"{"messages":1,"platform":" "}"#, InvalidLimit::Empty),
            (
                r#"{"messages":1,"key":"1","person":"a:b"}"#,
                InvalidLimit::PersonAndKey,
            ),
            (
                r#"{"messages":1,"role":"guest","together":true}"#,
                InvalidLimit::RoleTogether,
            ),
        ] {
            assert_eq!(limit(text).check(), Err(error), "{text}");
        }
        assert!(serde_json::from_str::<Limit>(r#"{"message":1}"#).is_err());
    }
}
