//! Arrival: a message is first a row of its session's log. Then it is a command, or goes to the
//! listeners, and is answered or not.

mod lease;
mod occasion;
mod sessions;

pub use self::sessions::Sessions;
pub(crate) use self::{occasion::Occasion, sessions::Answering};

use std::time::Duration;

use callgate_contract::{ArrivalFacts, Mode, Points, Role, Verdict};
use callgate_store::{Incoming, LogRow, Reception};

use crate::{Agent, TurnError, TurnReport, Watch, commands::Command, history::text_of, when::Wake};

/// What became of a message. It is in the log in any case.
#[derive(Debug)]
pub enum Arrived {
    /// The platform delivered it before.
    Repeated,
    /// Nobody wanted an answer.
    Heard,
    Command,
    /// A listener has dealt with it.
    Taken,
    /// Another turn has taken it along; or none begins any more, and the next start answers it.
    Joined,
    Turn(TurnReport),
}

/// How a message is to be answered, where the session's own choice or the operator's settings are
/// overruled.
#[derive(Clone, Debug, Default)]
pub struct Override {
    pub mode: Option<Mode>,
    pub model: Option<String>,
    /// Known by the way the message came, as of the operator at the terminal.
    pub role: Option<Role>,
    /// Zero where messages come one by one.
    pub debounce: Option<Duration>,
}

impl Agent {
    /// Stores the message, then does what is to be done about it.
    pub async fn arrive(
        &self,
        incoming: Incoming,
        overrule: Override,
        watch: Watch,
    ) -> Result<Arrived, TurnError> {
        let role = overrule
            .role
            .unwrap_or_else(|| self.role_of(&incoming.sender.id));
        let command = self.command(&incoming);
        let offered = command.is_none() && self.listeners(Points::ARRIVED).next().is_some();
        let reception = Reception {
            role: Some(role),
            offered,
        };
        let arrival = self.store().log().receive(&incoming, reception).await?;
        if arrival.repeated {
            return Ok(Arrived::Repeated);
        }
        let row = arrival.row;
        if let Some(command) = command {
            self.obey(command, &row, role, watch).await?;
            if self.is_heard(&incoming) {
                let wake = self.wake(&row).await?;
                self.offer(&row, role, wake, true).await;
            }
            return Ok(Arrived::Command);
        }
        let wish = self.sessions().wish(&row, &overrule, &watch);
        let settled = self.settle(&row, role, offered).await;
        drop(wish);
        if let Some(done) = settled? {
            return Ok(done);
        }
        let debounce = overrule.debounce.unwrap_or(self.settings().debounce);
        tokio::time::sleep(debounce).await;
        self.answer(&row, role, overrule, watch).await
    }

    /// A command of ours, unless it is one that a listener may have in its place.
    fn command(&self, incoming: &Incoming) -> Option<Command> {
        let command = Command::read(&incoming.parts)?;
        let is_theirs = !command.is_everywhere() && self.is_heard(incoming);
        (!is_theirs).then_some(command)
    }

    /// A listener has a command of that name.
    fn is_heard(&self, incoming: &Incoming) -> bool {
        let text = text_of(&incoming.parts);
        let mut listeners = self.listeners(Points::ARRIVED);
        listeners.any(|listener| listener.has_command(&incoming.session, &text))
    }

    /// Does what is to be done about a message that was stored and not answered: a timer has
    /// fired, or a crash came between.
    pub async fn answer_stored(&self, row: &LogRow, watch: Watch) -> Result<Arrived, TurnError> {
        let role = self.role_at_arrival(row);
        if let Some(done) = self.settle(row, role, false).await? {
            return Ok(done);
        }
        self.answer(row, role, Override::default(), watch).await
    }

    /// `None` if the message is to be answered by a turn.
    async fn settle(
        &self,
        row: &LogRow,
        role: Role,
        offered: bool,
    ) -> Result<Option<Arrived>, TurnError> {
        let wake = self.wake(row).await?;
        let wanted = wake.wanted;
        let verdict = match offered && !wake.barred {
            true => {
                let verdict = self.offer(row, role, wake, false).await;
                self.sessions().answered(row.id).await;
                verdict
            }
            false => Verdict::Pass,
        };
        let log = self.store().log();
        match verdict {
            Verdict::Force | Verdict::Pass if wanted || verdict == Verdict::Force => {
                if offered {
                    log.release(row).await?;
                }
                return Ok(None);
            }
            Verdict::Hide => log.hide(row.id).await?,
            _ if offered => log.dealt_with(row.id).await?,
            _ => log.dismiss(&[row.id]).await?,
        }
        Ok(Some(match verdict {
            Verdict::Taken => Arrived::Taken,
            _ => Arrived::Heard,
        }))
    }

    /// What the listeners say, one after the other: a message that one of them hides is nobody's.
    async fn offer(&self, row: &LogRow, role: Role, wake: Wake, obeyed: bool) -> Verdict {
        let sender = row.sender.clone();
        let (user, name) = sender.map_or_else(Default::default, |sender| (sender.id, sender.name));
        let facts = ArrivalFacts {
            row: row.id,
            session: row.session.clone(),
            user,
            name,
            role,
            parts: row.parts.clone(),
            message_id: row.message_id.clone(),
            at: row.at.as_millisecond(),
            mentioned: wake.mentioned,
            prefix: wake.prefix,
            wanted: wake.wanted,
            obeyed,
        };
        let mut verdict = Verdict::Pass;
        for listener in self.listeners(Points::ARRIVED) {
            verdict = verdict.max(listener.arrived(&facts).await);
            if verdict == Verdict::Hide {
                break;
            }
        }
        verdict
    }

    pub(crate) fn role_of(&self, user: &str) -> Role {
        match self.settings().administrators.iter().any(|id| id == user) {
            true => Role::Operator,
            false => Role::User,
        }
    }

    /// The role a stored message came with.
    pub(crate) fn role_at_arrival(&self, row: &LogRow) -> Role {
        let sender = row.sender.as_ref().map_or("", |sender| &sender.id);
        row.sender_role.unwrap_or_else(|| self.role_of(sender))
    }

    /// A message that joined a turn is answered after it, if that turn has not come to it.
    pub(crate) fn answer_later(&self, row: LogRow) {
        let agent = self.clone();
        tokio::spawn(async move {
            let role = agent.role_at_arrival(&row);
            let answered = agent.answer(&row, role, Override::default(), Watch::default());
            if let Err(error) = answered.await {
                tracing::warn!(row = row.id, %error, "a message has no answer");
            }
        });
    }
}
