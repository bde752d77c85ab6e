//! Arrival: a message is first a row of its session's log. Then it is a command, or goes to the
//! listeners, and is answered or not; one turn at a time answers a session, and what arrives meanwhile joins it or waits.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use callgate_contract::{ArrivalFacts, Cancel, Mode, Part, Points, Role, SessionKey, Verdict};
use callgate_store::{Conversation, Incoming, LogRow, Persona, Reception};

use crate::{
    Agent, TurnAsk, TurnError, TurnReport, Watch, commands::Command, compact::Asker,
    drain::UnderWay, recall::Histories, turn::Shape, when::Wake,
};

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

/// The sessions that are being answered.
#[derive(Default)]
pub struct Sessions {
    /// A mutex held for a map lookup only; the lock of a session is inside.
    answering: Mutex<HashMap<SessionKey, Arc<Answering>>>,
    /// By row, while a message is offered to listeners: how its sender wants it answered. A mutex
    /// held for a look.
    wishes: Mutex<HashMap<i64, (Override, Watch)>>,
    /// By row, while a listener's turn answers it: a lock held as long. A mutex held for a look.
    asked_for: Mutex<HashMap<i64, Arc<tokio::sync::Mutex<()>>>>,
    pub(crate) histories: Histories,
    pub(crate) under_way: UnderWay,
}

/// Sessions that are remembered before those nobody waits for are looked for.
const MANY: usize = 256;

/// One session's turn and delivery. The async locks are what makes each one at a time: held across
/// a whole turn, and across a whole delivery, which would otherwise send a message twice.
#[derive(Default)]
pub(crate) struct Answering {
    pub(crate) lock: tokio::sync::Mutex<()>,
    pub(crate) delivery: tokio::sync::Mutex<()>,
    running: Mutex<Option<Running>>,
}

/// The turn that runs now.
#[derive(Clone)]
struct Running {
    /// So that `/stop` reaches it.
    cancel: Cancel,
    /// Whose further messages join it.
    user: String,
}

/// Why a turn begins.
pub(crate) struct Occasion {
    session: SessionKey,
    user: String,
    role: Role,
    /// There is no turn unless this row waits still.
    waits: Option<i64>,
    /// A row that nobody else can take, and that is answered as well.
    pub(crate) reserved: Option<LogRow>,
    /// In place of what the rows say.
    pub(crate) prompt: Option<Vec<Part>>,
    pub(crate) overrule: Override,
    pub(crate) watch: Watch,
    pub(crate) cancel: Cancel,
    pub(crate) shape: Shape,
}

impl Occasion {
    pub(crate) fn new(session: SessionKey, user: String, role: Role) -> Self {
        Occasion {
            session,
            user,
            role,
            waits: None,
            reserved: None,
            prompt: None,
            overrule: Override::default(),
            watch: Watch::default(),
            cancel: Cancel::default(),
            shape: Shape::default(),
        }
    }
}

impl Answering {
    /// While the guard lives, `/stop` reaches the turn and messages of its user join it.
    pub(crate) fn runs(&self, cancel: &Cancel, user: &str) -> RunningTurn<'_> {
        self.set(Some(Running {
            cancel: cancel.clone(),
            user: user.to_owned(),
        }));
        RunningTurn(self)
    }

    fn set(&self, running: Option<Running>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = running;
    }
}

/// Over when it is dropped, also where nobody waited for its end.
pub(crate) struct RunningTurn<'a>(&'a Answering);

impl Drop for RunningTurn<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// Forgotten when the listeners have decided.
struct Wish<'a>(&'a Sessions, i64);

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        self.0.wishes().remove(&self.1);
    }
}

impl Sessions {
    fn wishes(&self) -> std::sync::MutexGuard<'_, HashMap<i64, (Override, Watch)>> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wish(&self, row: i64, overrule: &Override, watch: &Watch) -> Wish<'_> {
        self.wishes().insert(row, (overrule.clone(), watch.clone()));
        Wish(self, row)
    }

    /// How the message of this row is to be answered, where a listener asks for its turn.
    pub(crate) fn wished(&self, row: i64) -> Option<(Override, Watch)> {
        self.wishes().get(&row).cloned()
    }

    /// While the guard lives, the row is being answered for a listener.
    pub(crate) async fn answers(&self, row: i64) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            let mut asked_for = self.asked_for();
            asked_for.retain(|_, lock| lock.try_lock().is_err());
            asked_for.entry(row).or_default().clone()
        };
        lock.lock_owned().await
    }

    /// Returns when no listener's turn answers the row any more: the turn outlives a listener that
    /// has ended over it.
    async fn answered(&self, row: i64) {
        let lock = self.asked_for().get(&row).cloned();
        if let Some(lock) = lock {
            drop(lock.lock().await);
        }
    }

    fn asked_for(&self) -> std::sync::MutexGuard<'_, HashMap<i64, Arc<tokio::sync::Mutex<()>>>> {
        let asked_for = self.asked_for.lock();
        asked_for.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of(&self, session: &SessionKey) -> Arc<Answering> {
        let mut answering = self
            .answering
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Sessions nobody waits for are forgotten, so that the map does not grow for ever; only when
        // it would have to grow, so that a look into it stays a look.
        if answering.len() >= MANY && answering.len() == answering.capacity() {
            answering.retain(|key, state| key == session || Arc::strong_count(state) > 1);
        }
        answering.entry(session.clone()).or_default().clone()
    }

    /// The session's turn, if one runs.
    fn running(&self, session: &SessionKey) -> Option<Running> {
        let answering = self.of(session);
        let running = answering.running.lock();
        running.unwrap_or_else(PoisonError::into_inner).clone()
    }
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
        let command = Command::read(&incoming.parts);
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
            return Ok(Arrived::Command);
        }
        let wish = self.sessions().wish(row.id, &overrule, &watch);
        let settled = self.settle(&row, role, offered).await;
        drop(wish);
        if let Some(done) = settled? {
            return Ok(done);
        }
        let debounce = overrule.debounce.unwrap_or(self.settings().debounce);
        tokio::time::sleep(debounce).await;
        self.answer(&row, role, overrule, watch).await
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
                let verdict = self.offer(row, role, wake).await;
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
    async fn offer(&self, row: &LogRow, role: Role, wake: Wake) -> Verdict {
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

    /// Stops the session's turn; false if none runs.
    pub fn stop(&self, session: &SessionKey) -> bool {
        let running = self.sessions().running(session);
        running.inspect(|turn| turn.cancel.cancel()).is_some()
    }

    /// Does a turn run in the session now?
    pub fn is_answering(&self, session: &SessionKey) -> bool {
        self.sessions().running(session).is_some()
    }

    /// Does a turn of this user run there? Whoever is part of it must not wait for it.
    pub(crate) fn is_answering_to(&self, session: &SessionKey, user: &str) -> bool {
        let running = self.sessions().running(session);
        running.is_some_and(|turn| turn.user == user)
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

    /// Answers a stored message and all that wait with it.
    pub(crate) async fn answer(
        &self,
        row: &LogRow,
        role: Role,
        overrule: Override,
        watch: Watch,
    ) -> Result<Arrived, TurnError> {
        let sender = row.sender.as_ref();
        let user = sender.map_or_else(String::new, |sender| sender.id.clone());
        let mut occasion = Occasion::new(row.session.clone(), user, role);
        occasion.waits = Some(row.id);
        (occasion.overrule, occasion.watch) = (overrule, watch);
        self.answer_on(occasion).await
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

    /// One turn at a time in a session: the others wait here.
    pub(crate) async fn answer_on(&self, occasion: Occasion) -> Result<Arrived, TurnError> {
        let answering = self.sessions().of(&occasion.session);
        let _one_at_a_time = answering.lock.lock().await;
        if self.sessions().under_way.is_closed() {
            return Ok(Arrived::Joined);
        }
        let _going = self.sessions().under_way.enter();
        let mut waiting = self.store().log().unanswered(&occasion.session).await?;
        if occasion
            .waits
            .is_some_and(|id| waiting.iter().all(|row| row.id != id))
        {
            return Ok(Arrived::Joined);
        }
        if let Some(row) = &occasion.reserved {
            waiting.retain(|waiting| waiting.id != row.id);
        }
        let _running = answering.runs(&occasion.cancel, &occasion.user);
        let ask = self.ask_for(occasion, waiting).await?;
        self.turn(ask).await.map(Arrived::Turn)
    }

    async fn ask_for(
        &self,
        occasion: Occasion,
        waiting: Vec<LogRow>,
    ) -> Result<TurnAsk, TurnError> {
        let session = occasion.session;
        let conversation = self.conversation(&session).await?;
        let persona = self.store().personas().answering(&conversation).await?;
        let asker = Asker {
            user: &occasion.user,
            cancel: &occasion.cancel,
        };
        let history = self
            .compacted(&conversation, persona.as_ref(), asker)
            .await?;
        let (mode, model) = self
            .chosen(&session, persona.as_ref(), occasion.overrule)
            .await?;
        let mut rows: Vec<i64> = waiting.iter().map(|row| row.id).collect();
        rows.extend(occasion.reserved.as_ref().map(|row| row.id));
        let mut parts: Vec<Part> = waiting.into_iter().flat_map(|row| row.parts).collect();
        let asked = occasion.reserved.map(|row| row.parts);
        parts.extend(occasion.prompt.or(asked).unwrap_or_default());
        Ok(TurnAsk {
            session,
            user: occasion.user,
            role: occasion.role,
            parts,
            rows,
            conversation: Some(conversation.id),
            history: Some(history),
            persona,
            mode,
            model,
            parent: None,
            shape: occasion.shape,
            watch: occasion.watch,
            cancel: occasion.cancel,
        })
    }

    /// The mode and model of the session's next turn.
    pub(crate) async fn chosen(
        &self,
        session: &SessionKey,
        persona: Option<&Persona>,
        overrule: Override,
    ) -> Result<(Mode, String), TurnError> {
        let settings = self.store().settings().session(session).await?.value;
        let mode = overrule
            .mode
            .or(settings.mode)
            .or_else(|| persona.map(|persona| persona.mode));
        let model = overrule
            .model
            .or(settings.model)
            .or_else(|| persona.and_then(|persona| persona.model.clone()));
        let model = self.models().choose(model.as_deref()).id.clone();
        Ok((mode.unwrap_or_default(), model))
    }

    /// The session's current conversation, begun if there is none.
    pub(crate) async fn conversation(
        &self,
        session: &SessionKey,
    ) -> Result<Conversation, TurnError> {
        let current = self.store().conversations().current(session).await?;
        Ok(self
            .store()
            .conversations()
            .get_or_create(session, current)
            .await?)
    }
}
