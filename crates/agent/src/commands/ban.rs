//! `/ban` and `/unban`: whom nobody answers in a chat, for a while or until it is taken back. What they say is
//! kept in the log and heard by no plugin.

use std::time::Duration;

use callgate_contract::{Principal, Role, SessionKey};
use callgate_store::{Ban, LogRow};
use jiff::Timestamp;

use crate::{Agent, TurnError, language::Language, texts};

/// `ACCOUNT [MINUTES]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BanArguments {
    pub(crate) account: Option<String>,
    /// For good where there are none.
    minutes: Option<u32>,
}

impl BanArguments {
    pub(super) fn read(words: &[&str]) -> Self {
        BanArguments {
            account: words.first().map(|account| (*account).to_owned()),
            minutes: words.get(1).and_then(|minutes| minutes.parse().ok()),
        }
    }
}

impl Agent {
    pub(super) async fn ban(
        &self,
        session: &SessionKey,
        arguments: BanArguments,
        language: Language,
    ) -> Result<String, TurnError> {
        let Some(account) = arguments.account else {
            return self.list_banned(session, language).await;
        };
        let person = Principal::person(session, account.as_str());
        if self.role_of(&person).administers() {
            return Ok(texts::not_banned(language, &account));
        }
        let minutes = arguments.minutes;
        let until = minutes.map(|minutes| Duration::from_secs(u64::from(minutes) * 60));
        let until = until.and_then(|length| Timestamp::now().checked_add(length).ok());
        let ban = Ban { person, until };
        self.store()
            .settings()
            .change_session(session, move |settings| {
                settings.banned.retain(|one| one.person != ban.person);
                settings.banned.push(ban);
            })
            .await?;
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
        let person = Principal::person(session, account.as_str());
        let settings = self.store().settings();
        let before = settings.session(session).await?.value.banned;
        let was_banned = before.iter().any(|ban| ban.person == person);
        settings
            .change_session(session, move |settings| {
                settings.banned.retain(|ban| ban.person != person);
            })
            .await?;
        Ok(texts::unbanned(language, &account, was_banned))
    }

    async fn list_banned(
        &self,
        session: &SessionKey,
        language: Language,
    ) -> Result<String, TurnError> {
        let banned = self.store().settings().session(session).await?.value.banned;
        let now = Timestamp::now();
        let accounts = banned.iter().filter(|ban| ban.holds(now));
        let accounts: Vec<_> = accounts.map(|ban| ban.person.user()).collect();
        Ok(texts::all_banned(language, &accounts.join(", ")))
    }

    /// Nobody listens to whoever sent it. Administrators are always heard.
    pub(crate) async fn is_banned(&self, row: &LogRow, role: Role) -> Result<bool, TurnError> {
        if role.administers() {
            return Ok(false);
        }
        let banned = self
            .store()
            .settings()
            .session(&row.session)
            .await?
            .value
            .banned;
        let (person, now) = (row.principal(), Timestamp::now());
        Ok(banned
            .iter()
            .any(|ban| ban.person == person && ban.holds(now)))
    }
}
