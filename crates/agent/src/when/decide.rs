//! Whether a stored message is answered: what holds in its session, and what it takes to know.

use std::{sync::Arc, time::Duration};

use callgate_contract::{Part, SessionKey, SessionType};
use callgate_store::{Incoming, LogRow};
use jiff::{SignedDuration, Timestamp};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use super::{AnswerWhen, Moment, Pace, Prompting, Wake};
use crate::{Agent, AgentSettings, TurnError};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// What holds in a session: its own settings, and the operator's where it has none.
struct Speaking {
    usual: Arc<AgentSettings>,
    answer: Option<AnswerWhen>,
    pace: Option<Pace>,
    muted: bool,
}

impl Speaking {
    fn answer(&self) -> &AnswerWhen {
        self.answer.as_ref().unwrap_or(&self.usual.answer)
    }

    fn pace(&self) -> &Pace {
        self.pace.as_ref().unwrap_or(&self.usual.pace)
    }
}

impl AnswerWhen {
    /// With a session's own settings in place of those of the same name.
    pub fn with(&self, own: &Json) -> Result<Self, serde_json::Error> {
        overlaid(self, own)
    }
}

impl Pace {
    /// With a session's own settings in place of those of the same name.
    pub fn with(&self, own: &Json) -> Result<Self, serde_json::Error> {
        overlaid(self, own)
    }
}

fn overlaid<T: Serialize + DeserializeOwned>(
    usual: &T,
    own: &Json,
) -> Result<T, serde_json::Error> {
    let mut all = serde_json::to_value(usual)?;
    match (all.as_object_mut(), own.as_object()) {
        (Some(all), Some(own)) => all.extend(own.clone()),
        _ => all = own.clone(),
    }
    serde_json::from_value(all)
}

impl Agent {
    async fn speaking_in(&self, session: &SessionKey) -> Result<Speaking, TurnError> {
        let own = self.store().settings().session(session).await?.value;
        let usual = self.settings();
        let unread = |error| {
            tracing::warn!(%session, %error, "could not read when the session is to be answered");
        };
        let answer = own.answer.map(|own| usual.answer.with(&own));
        let pace = own.pace.map(|own| usual.pace.with(&own));
        Ok(Speaking {
            answer: answer.and_then(|read| read.map_err(unread).ok()),
            pace: pace.and_then(|read| read.map_err(unread).ok()),
            muted: own.muted,
            usual,
        })
    }

    /// Whether the message is to be answered, also after what we have said before.
    pub(crate) async fn wake(&self, row: &LogRow) -> Result<Wake, TurnError> {
        let mut wake = self.wake_by_rules(row).await?;
        if (wake.wanted || wake.undecided) && !self.has_room(&row.session, wake.prompting).await? {
            (wake.wanted, wake.undecided) = (false, false);
        }
        Ok(wake)
    }

    /// The judge's word, where it is its turn to speak.
    pub(crate) async fn decide(&self, row: &LogRow, wake: &mut Wake) -> Result<(), TurnError> {
        if std::mem::take(&mut wake.undecided) {
            let speaking = self.speaking_in(&row.session).await?;
            wake.wanted = self.ask_judge(speaking.answer(), row).await?;
        }
        Ok(())
    }

    pub(crate) async fn wake_by_rules(&self, row: &LogRow) -> Result<Wake, TurnError> {
        let speaking = self.speaking_in(&row.session).await?;
        let moment = Moment {
            now: Timestamp::now(),
            chance: chance()?,
            replies_to_us: speaking.answer().replied && self.is_ours(row).await?,
        };
        let mut wake = speaking.answer().wake(speaking.pace(), row, moment);
        wake.barred |= speaking.muted || row.hidden;
        wake.wanted &= !wake.barred;
        wake.undecided &= !wake.barred;
        Ok(wake)
    }

    /// Is the message a reply to one of ours?
    async fn is_ours(&self, row: &LogRow) -> Result<bool, TurnError> {
        for part in &row.parts {
            if let Part::Reply { to, .. } = part
                && self
                    .store()
                    .outbox()
                    .sent(&row.session, to)
                    .await?
                    .is_some()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// May we speak there now? What is decided before a turn begins holds until it has ended, since
    /// turns of a session come one after the other and the one that runs counts.
    pub(crate) async fn has_room(
        &self,
        session: &SessionKey,
        prompting: Prompting,
    ) -> Result<bool, TurnError> {
        if prompting == Prompting::Addressed {
            return Ok(true);
        }
        let speaking = self.speaking_in(session).await?;
        if !speaking.pace().has_bounds() {
            return Ok(true);
        }
        let now = Timestamp::now();
        let since = now.checked_sub(HOUR).unwrap_or(Timestamp::MIN);
        let spoken = self.store().turns().spoken(session, since).await?;
        Ok(speaking.pace().has_room(prompting, spoken, now))
    }

    /// Is there one who may be asked about messages of this session?
    pub(crate) async fn has_judge(&self, session: &SessionKey) -> Result<bool, TurnError> {
        let speaking = self.speaking_in(session).await?;
        let is_private = session.kind() == SessionType::FriendMessage;
        Ok(!is_private && !speaking.answer().judge.is_empty())
    }

    /// Did it come too late to be answered?
    pub(crate) async fn is_stale(&self, incoming: &Incoming) -> Result<bool, TurnError> {
        if incoming.sent_at.is_none() {
            return Ok(false);
        }
        let speaking = self.speaking_in(&incoming.session).await?;
        Ok(speaking.pace().is_stale(incoming, Timestamp::now()))
    }

    /// How long a message waits for others that are answered with it.
    pub(crate) async fn gathering(&self, session: &SessionKey) -> Result<Duration, TurnError> {
        let speaking = self.speaking_in(session).await?;
        Ok(match speaking.pace().join_seconds {
            0 => self.settings().debounce,
            seconds => Duration::from_secs(seconds.into()),
        })
    }
}

fn chance() -> Result<f64, TurnError> {
    let bits = getrandom::u32().map_err(TurnError::Randomness)?;
    Ok(f64::from(bits) / (f64::from(u32::MAX) + 1.0))
}
