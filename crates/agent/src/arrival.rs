//! Arrival: a message is first a row of its session's log. Then it is a command, or goes to the
//! listeners, and is answered or not.

mod accept;
mod trigger;

pub use self::accept::Accepted;
pub(crate) use self::trigger::TurnTrigger;

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    ArrivalFacts, Mode, Part, PlatformFacts, Points, Principal, Role, SessionKey, SessionType,
    Verdict,
};
use callgate_store::{Incoming, LogRow, Reception, Sender};

use crate::{
    Agent, TurnError, TurnReport, Watch,
    commands::Command,
    history::text_of,
    session::ClaimGuard,
    when::{Prompting, Wake},
};

/// In place of a row of the log.
const NO_ROW: i64 = 0;

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
    /// Known by the way the message came, as of the operator at the terminal; else the sender's account
    /// on the session's platform.
    pub principal: Option<Principal>,
    /// In place of the role that the principal has.
    pub role: Option<Role>,
    /// The id of the key that the message came by: its turn ends with it.
    pub key: Option<String>,
    /// Zero where messages come one by one.
    pub debounce: Option<Duration>,
    /// As the platform told it.
    pub platform: Option<Arc<PlatformFacts>>,
}

/// A message that is on disk, and about which nothing has been done yet.
pub struct Received {
    row: LogRow,
    role: Role,
    state: State,
    claim: ClaimGuard,
}

enum State {
    /// Delivered before: whoever took it in then deals with it.
    Repeated,
    /// It came too late to be answered.
    Stale,
    Command(Command),
    Message {
        offered: bool,
        overrule: Override,
    },
}

/// What the rules and the listeners make of a message.
enum Settled {
    Over(Arrived),
    /// A turn is to answer it.
    Left(Prompting),
}

impl Agent {
    /// Stores the message, then does what is to be done about it.
    pub async fn arrive(
        &self,
        incoming: Incoming,
        overrule: Override,
        watch: Watch,
    ) -> Result<Arrived, TurnError> {
        let received = self.receive(incoming, overrule).await?;
        self.respond(received, watch).await
    }

    /// From here on the message is not lost, with its sender's role and how it is to be answered.
    pub(crate) async fn receive(
        &self,
        incoming: Incoming,
        overrule: Override,
    ) -> Result<Received, TurnError> {
        let sender = || Principal::person(&incoming.session, incoming.sender.id.as_str());
        let principal = overrule.principal.clone().unwrap_or_else(sender);
        let role = overrule.role.unwrap_or_else(|| self.role_of(&principal));
        let stale = self.is_stale(&incoming).await?;
        let command = self.command(&incoming);
        let is_message = command.is_none() && !stale;
        // Nor does a turn take along what the judge is still to look at.
        let offered = is_message
            && (self.listeners(Points::ARRIVED).next().is_some()
                || self.has_judge(&incoming.session).await?);
        let reception = Reception {
            role: Some(role),
            principal: Some(principal),
            key: overrule.key.clone(),
            offered,
            dismissed: stale,
            mode: overrule.mode,
            model: overrule.model.clone(),
            provenance: None,
        };
        let claim = self.claim_arrival(&incoming.session);
        let arrival = self.store().log().receive(&incoming, reception).await?;
        let claim = claim.stored_as(&arrival.row);
        Ok(Received {
            row: arrival.row,
            role,
            state: match command {
                _ if arrival.repeated => State::Repeated,
                _ if stale => State::Stale,
                Some(command) => State::Command(command),
                None => State::Message { offered, overrule },
            },
            claim,
        })
    }

    pub(crate) async fn respond(
        &self,
        received: Received,
        watch: Watch,
    ) -> Result<Arrived, TurnError> {
        let Received {
            row,
            role,
            state,
            claim,
        } = received;
        let answered = match state {
            State::Repeated => Ok(Arrived::Repeated),
            State::Stale => Ok(Arrived::Heard),
            State::Command(command) => self.respond_to_command(command, &row, role, watch).await,
            State::Message { offered, overrule } => {
                self.respond_to_message(&row, role, offered, overrule, watch)
                    .await
            }
        };
        match claim.ends_with(answered) {
            Err(error) if error.is_temporary() => self.outcome_later(&row, error).await,
            answered => answered,
        }
    }

    async fn respond_to_command(
        &self,
        command: Command,
        row: &LogRow,
        role: Role,
        watch: Watch,
    ) -> Result<Arrived, TurnError> {
        let obeyed = self.run_command(command, row, role, watch).await?;
        if obeyed && self.is_heard(&row.session, &row.parts) {
            let wake = self.wake_by_rules(row).await?;
            self.offer(row, role, wake, true, None).await;
        }
        Ok(Arrived::Command)
    }

    async fn respond_to_message(
        &self,
        row: &LogRow,
        role: Role,
        offered: bool,
        overrule: Override,
        watch: Watch,
    ) -> Result<Arrived, TurnError> {
        let watch = self.ending_with(overrule.key.as_deref(), &row.session, watch);
        let wish = self.sessions().wishes.wish(row, &overrule, &watch);
        let settled = self
            .settle(row, role, offered, overrule.platform.clone())
            .await;
        drop(wish);
        let prompting = match settled? {
            Settled::Over(done) => return Ok(done),
            Settled::Left(prompting) => prompting,
        };
        let debounce = match overrule.debounce {
            Some(debounce) => debounce,
            None => self.gathering(&row.session).await?,
        };
        if !debounce.is_zero() {
            tokio::time::sleep(debounce).await;
        }
        self.answer(row, role, prompting, watch).await
    }

    /// What came of a message in whose midst the store failed, once it was taken up again.
    async fn outcome_later(&self, row: &LogRow, error: TurnError) -> Result<Arrived, TurnError> {
        tracing::warn!(row = row.id, %error, "message will be answered later");
        self.settled(&row.session).await;
        self.outcome_of(row).await
    }

    /// A command of ours, unless it is one that a listener may have in its place.
    fn command(&self, incoming: &Incoming) -> Option<Command> {
        let command = Command::read(&incoming.parts)?;
        let is_theirs =
            !command.is_everywhere() && self.is_heard(&incoming.session, &incoming.parts);
        (!is_theirs).then_some(command)
    }

    /// A listener has a command of that name.
    fn is_heard(&self, session: &SessionKey, parts: &[Part]) -> bool {
        let text = text_of(parts);
        let mut listeners = self.listeners(Points::ARRIVED);
        listeners.any(|listener| listener.has_command(session, &text))
    }

    /// Does what is to be done about a message that was stored and not answered: a timer has
    /// fired, or a crash came between.
    pub async fn answer_stored(&self, row: &LogRow, watch: Watch) -> Result<Arrived, TurnError> {
        let (role, claim) = (self.role_at_arrival(row), self.claim_row(row));
        let answered = async {
            let prompting = match self.settle(row, role, false, None).await? {
                Settled::Over(done) => return Ok(done),
                Settled::Left(prompting) => prompting,
            };
            let key = self.store().keys().of_row(row.id).await?;
            let watch = self.ending_with(key.as_deref(), &row.session, watch);
            self.answer(row, role, prompting, watch).await
        };
        claim.ends_with(answered.await)
    }

    async fn settle(
        &self,
        row: &LogRow,
        role: Role,
        offered: bool,
        platform: Option<Arc<PlatformFacts>>,
    ) -> Result<Settled, TurnError> {
        let mut wake = self.wake(row).await?;
        let prompting = wake.prompting;
        // Nobody looks at what nobody would answer.
        if (wake.wanted || wake.undecided || offered && !wake.barred)
            && let Some(refusal) = self.refusal_of(row, role).await?
        {
            // Whoever has not spoken to us is told nothing.
            let is_asked = wake.wanted && prompting == Prompting::Addressed;
            let refused = self.refuse(row, role, refusal, is_asked).await;
            return refused.map(Settled::Over);
        }
        self.decide(row, &mut wake).await?;
        let wanted = wake.wanted;
        let verdict = if offered && !wake.barred {
            let verdict = self.offer(row, role, wake, false, platform).await;
            self.sessions().wishes.answered(row.id).await;
            verdict
        } else {
            Verdict::Pass
        };
        let (log, id) = (self.store().log(), row.id);
        let is_left = verdict == Verdict::Force || verdict == Verdict::Pass && wanted;
        // Nobody but we knows what the listeners said, and they are not asked again: it is stored as
        // soon as the store takes it.
        let mut pause = Duration::from_millis(100);
        loop {
            let stored = match verdict {
                _ if is_left && !offered => Ok(()),
                _ if is_left => log.release(row).await,
                Verdict::Hide => log.hide(id).await,
                Verdict::Taken if offered => log.answered_by_listener(id).await,
                _ if offered => log.dealt_with(id).await,
                _ => log.dismiss(&[id]).await,
            };
            match stored {
                Err(error) if offered && error.is_temporary() => tokio::time::sleep(pause).await,
                stored => break stored?,
            }
            pause = (pause * 2).min(Duration::from_secs(5));
        }
        Ok(match verdict {
            // What a plugin wants answered is not ours to count.
            Verdict::Force => Settled::Left(Prompting::Addressed),
            _ if is_left => Settled::Left(prompting),
            Verdict::Taken => Settled::Over(Arrived::Taken),
            _ => Settled::Over(Arrived::Heard),
        })
    }

    /// What the listeners say, one after the other: a message that one of them hides is nobody's.
    async fn offer(
        &self,
        row: &LogRow,
        role: Role,
        wake: Wake,
        obeyed: bool,
        platform: Option<Arc<PlatformFacts>>,
    ) -> Verdict {
        let sender = row.sender.clone();
        let (user, name) = sender.map_or_else(Default::default, |sender| (sender.id, sender.name));
        let facts = ArrivalFacts {
            row: row.id,
            session: row.session.clone(),
            user,
            name,
            principal: row.principal(),
            role,
            parts: row.parts.clone(),
            message_id: row.message_id.clone(),
            at: row.at.as_millisecond(),
            mentioned: wake.mentioned,
            prefix: wake.prefix,
            wanted: wake.wanted,
            obeyed,
            platform,
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

    /// Something that happened in a chat and is no message: plugins hear of it and nobody answers. It is
    /// nowhere on record, since nothing depends on it.
    pub fn notice(&self, session: SessionKey, sender: Sender, platform: Arc<PlatformFacts>) {
        if self.listeners(Points::ARRIVED).next().is_none() {
            return;
        }
        let principal = Principal::person(&session, sender.id.as_str());
        let facts = ArrivalFacts {
            row: NO_ROW,
            role: self.role_of(&principal),
            principal,
            user: sender.id,
            name: sender.name,
            parts: Vec::new(),
            message_id: None,
            at: jiff::Timestamp::now().as_millisecond(),
            mentioned: session.kind() == SessionType::FriendMessage,
            prefix: None,
            wanted: false,
            obeyed: false,
            session,
            platform: Some(platform),
        };
        let agent = self.clone();
        // A task: a handler may take as long as it likes.
        tokio::spawn(async move {
            for listener in agent.listeners(Points::ARRIVED) {
                listener.arrived(&facts).await;
            }
        });
    }

    pub(crate) fn role_of(&self, principal: &Principal) -> Role {
        let settings = self.settings();
        let mut administrators = settings.administrators.iter();
        Role::of(principal, |platform, account| {
            administrators.any(|one| one.is(platform, account))
        })
    }

    /// The role a stored message came with.
    pub(crate) fn role_at_arrival(&self, row: &LogRow) -> Role {
        row.sender_role
            .unwrap_or_else(|| self.role_of(&row.principal()))
    }

    /// A message that joined a turn is answered after it, if that turn has not come to it.
    pub(crate) fn answer_later(&self, row: LogRow) {
        let agent = self.clone();
        tokio::spawn(async move {
            let (role, claim) = (agent.role_at_arrival(&row), agent.claim_row(&row));
            let answered = async {
                let key = agent.store().keys().of_row(row.id).await?;
                let watch = agent.ending_with(key.as_deref(), &row.session, Watch::default());
                agent.answer(&row, role, Prompting::Addressed, watch).await
            };
            if let Err(error) = claim.ends_with(answered.await) {
                tracing::warn!(row = row.id, %error, "message not answered");
            }
        });
    }
}
