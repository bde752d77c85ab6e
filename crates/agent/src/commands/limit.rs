//! `/limit`, `/ban` and `/unban`: how much somebody, or all of a chat together, may ask for there. What is set
//! here holds in this chat alone.

use std::time::Duration;

use callgate_contract::{Limit, Period, Principal, SessionKey};
use callgate_store::{StoredLimit, TurnStart};
use jiff::Timestamp;

use crate::{Agent, TurnError, language::Language, texts};

/// What was written after the command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LimitArguments {
    /// Nothing: those of the chat are listed.
    List,
    /// `None` is the whole chat.
    Set(Option<String>, Box<Limit>),
    Remove(Option<String>),
    Unclear,
}

/// `ACCOUNT [MINUTES]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BanArguments {
    List,
    /// For good where there are no minutes.
    Ban(String, Option<u32>),
    Unclear,
}

/// The whole chat, in the place of an account.
const HERE: &str = "here";

impl LimitArguments {
    pub(super) fn read(words: &[&str]) -> Self {
        let whom = |word: &str| (word != HERE).then(|| word.to_owned());
        match *words {
            [] => LimitArguments::List,
            [who, "off"] => LimitArguments::Remove(whom(who)),
            [who, amount, "per", period] => set(whom(who), amount, "messages", period),
            [who, amount, unit, "per", period] => set(whom(who), amount, unit, period),
            _ => LimitArguments::Unclear,
        }
    }
}

fn set(whom: Option<String>, amount: &str, unit: &str, period: &str) -> LimitArguments {
    let per = match period {
        "minute" => Some(Period::Minute),
        "hour" => Some(Period::Hour),
        "day" => Some(Period::Day),
        _ => None,
    };
    let (Some(per), count) = (per, amount.parse().ok()) else {
        return LimitArguments::Unclear;
    };
    let limit = Limit {
        together: whom.is_none(),
        messages: count.filter(|_| unit.starts_with("message")),
        tokens: count.filter(|_| unit.starts_with("token")),
        money: amount.parse().ok().filter(|_| unit == "money"),
        per,
        ..Limit::default()
    };
    // Nobody at all is answered by another command, which says so.
    match limit.check() {
        Ok(()) if !limit.is_ban() => LimitArguments::Set(whom, Box::new(limit)),
        Ok(()) | Err(_) => LimitArguments::Unclear,
    }
}

impl BanArguments {
    pub(super) fn read(words: &[&str]) -> Self {
        match *words {
            [] => BanArguments::List,
            [account] => BanArguments::Ban(account.to_owned(), None),
            [account, minutes] => match minutes.parse() {
                Ok(minutes) => BanArguments::Ban(account.to_owned(), Some(minutes)),
                Err(_) => BanArguments::Unclear,
            },
            _ => BanArguments::Unclear,
        }
    }
}

impl Agent {
    pub(super) async fn limit(
        &self,
        start: &TurnStart,
        arguments: LimitArguments,
        language: Language,
    ) -> Result<String, TurnError> {
        let session = &start.session;
        match arguments {
            LimitArguments::Unclear => Ok(texts::how_to_limit(language).to_owned()),
            LimitArguments::List => self.list_limits(start, language).await,
            LimitArguments::Set(whom, limit) => {
                let person = whom
                    .as_ref()
                    .map(|one| Principal::person(session, one.as_str()));
                let limit = Limit {
                    group: Some(session.clone()),
                    person,
                    ..*limit
                };
                let by = start.principal.to_string();
                self.store().limits().add(&limit, &by).await?;
                Ok(texts::limit_set(language, whom.as_deref(), &limit))
            }
            LimitArguments::Remove(whom) => {
                let is_meant = |limit: &Limit| !limit.is_ban();
                let were = self
                    .remove_limits(session, whom.as_deref(), is_meant)
                    .await?;
                Ok(texts::limits_removed(language, whom.as_deref(), were))
            }
        }
    }

    pub(super) async fn ban(
        &self,
        start: &TurnStart,
        arguments: BanArguments,
        language: Language,
    ) -> Result<String, TurnError> {
        let session = &start.session;
        let (account, minutes) = match arguments {
            BanArguments::Unclear => return Ok(texts::how_to_ban(language).to_owned()),
            BanArguments::List => return self.list_banned(session, language).await,
            BanArguments::Ban(account, minutes) => (account, minutes),
        };
        let person = Principal::person(session, account.as_str());
        if self.role_of(&person).administers() {
            return Ok(texts::not_banned(language, &account));
        }
        let length = minutes.map(|minutes| Duration::from_secs(u64::from(minutes) * 60));
        let ban = Limit {
            group: Some(session.clone()),
            person: Some(person),
            messages: Some(0),
            until: length.and_then(|length| Timestamp::now().checked_add(length).ok()),
            ..Limit::default()
        };
        let by = start.principal.to_string();
        self.store().limits().add(&ban, &by).await?;
        Ok(texts::banned(language, &account, minutes))
    }

    pub(super) async fn unban(
        &self,
        session: &SessionKey,
        account: Option<String>,
        language: Language,
    ) -> Result<String, TurnError> {
        let Some(account) = account else {
            return self.list_banned(session, language).await;
        };
        let were = self.remove_limits(session, Some(&account), Limit::is_ban);
        Ok(texts::unbanned(language, &account, were.await? > 0))
    }

    async fn list_banned(
        &self,
        session: &SessionKey,
        language: Language,
    ) -> Result<String, TurnError> {
        let (set, now) = (self.store().limits().list().await?, Timestamp::now());
        let bans = set.iter().map(|one| &one.limit).filter(|limit| {
            limit.is_ban() && limit.group.as_ref() == Some(session) && limit.holds_at(now)
        });
        let accounts: Vec<_> = bans
            .filter_map(|limit| Some(limit.person.as_ref()?.user()))
            .collect();
        Ok(texts::all_banned(language, &accounts.join(", ")))
    }

    /// Those that hold in the chat; for others than administrators, those that bind themselves.
    async fn list_limits(
        &self,
        start: &TurnStart,
        language: Language,
    ) -> Result<String, TurnError> {
        let (session, now) = (&start.session, Timestamp::now());
        let set = self.store().limits().list().await?;
        let settings = self.settings();
        let configured = settings.limits.iter();
        let all = configured.chain(set.iter().map(|one| &one.limit));
        let shown = all.filter(|limit| {
            let is_here = limit.group.as_ref().is_none_or(|group| group == session)
                && limit
                    .platform
                    .as_deref()
                    .is_none_or(|it| it == session.platform());
            let is_seen =
                start.role.administers() || limit.is_about(session, start.role, &start.principal);
            is_here && is_seen && limit.holds_at(now)
        });
        Ok(texts::all_limits(language, &shown.collect::<Vec<_>>()))
    }

    /// Returns how many there were; `whom` is an account, `None` the chat as a whole.
    async fn remove_limits(
        &self,
        session: &SessionKey,
        whom: Option<&str>,
        is_meant: impl Fn(&Limit) -> bool,
    ) -> Result<usize, TurnError> {
        let person = whom.map(|account| Principal::person(session, account));
        let (set, now) = (self.store().limits().list().await?, Timestamp::now());
        let found = set.iter().filter(|one| {
            let StoredLimit { limit, .. } = one;
            limit.group.as_ref() == Some(session)
                && limit.person == person
                && limit.together == person.is_none()
                && limit.holds_at(now)
                && is_meant(limit)
        });
        let found: Vec<i64> = found.map(|one| one.id).collect();
        for id in &found {
            self.store().limits().remove(*id).await?;
        }
        Ok(found.len())
    }
}
