//! [`InFlight`]: the turns and messages that this process works on right now. Work that ends before its
//! end is on record (the store failed, its future was dropped, it panicked) is nobody's: its session
//! counts as interrupted, later turns of the session come after it, and it is taken up again from the
//! record, with growing pauses, until that succeeds.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use callgate_contract::{JournalId, SessionKey};
use callgate_store::LogRow;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{Notify, OnceCell, Semaphore};

use crate::{Agent, TurnError, agent::WeakAgent};

const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Interrupted sessions that are taken up side by side.
const SIDE_BY_SIDE: usize = 16;

pub(crate) struct InFlight {
    /// A mutex held for a look.
    state: Mutex<State>,
    /// An interrupted session is settled.
    settled: Notify,
    /// Bounds what begins at once when the store is back.
    taking_up: Semaphore,
    /// What the last owner left is known: in [`State::left`].
    looked: OnceCell<()>,
}

#[derive(Default)]
struct State {
    turns: HashSet<JournalId>,
    rows: HashMap<i64, usize>,
    /// Sessions into which a message is just being stored, so that its row has no number yet.
    receiving: HashMap<SessionKey, usize>,
    /// Each with a task that takes it up; true if it was interrupted again meanwhile.
    interrupted: HashMap<SessionKey, bool>,
    /// Sessions in which an earlier process left a turn.
    left: HashSet<SessionKey>,
}

impl Default for InFlight {
    fn default() -> Self {
        InFlight {
            state: Mutex::default(),
            settled: Notify::new(),
            taking_up: Semaphore::new(SIDE_BY_SIDE),
            looked: OnceCell::new(),
        }
    }
}

enum Subject {
    Turn(JournalId),
    Row(i64),
    /// A message that is being stored.
    Arriving,
}

/// While it lives, this process works on its subject. Dropped before [`Work::end`] it was interrupted.
pub(crate) struct Work {
    agent: Agent,
    session: SessionKey,
    subject: Subject,
    ended: bool,
}

impl Work {
    fn on(agent: &Agent, session: &SessionKey, subject: Subject) -> Self {
        let mut state = agent.in_flight().state.lock();
        match &subject {
            Subject::Turn(turn) => {
                state.turns.insert(*turn);
            }
            Subject::Row(row) => *state.rows.entry(*row).or_default() += 1,
            Subject::Arriving => *state.receiving.entry(session.clone()).or_default() += 1,
        }
        drop(state);
        Work {
            agent: agent.clone(),
            session: session.clone(),
            subject,
            ended: false,
        }
    }

    /// Whatever is to be done about it is on record.
    pub(crate) fn end(mut self) {
        self.ended = true;
    }

    /// The message that was being stored is this row.
    pub(crate) fn stored_as(self, row: &LogRow) -> Work {
        let work = self.agent.works_on_row(row);
        self.end();
        work
    }

    /// It has ended unless it failed.
    pub(crate) fn ends_with<T>(self, result: Result<T, TurnError>) -> Result<T, TurnError> {
        if result.is_ok() {
            self.end();
        }
        result
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let mut state = self.agent.in_flight().state.lock();
        match &self.subject {
            Subject::Turn(turn) => {
                state.turns.remove(turn);
            }
            Subject::Row(row) => one_less(&mut state.rows, row),
            Subject::Arriving => one_less(&mut state.receiving, &self.session),
        }
        drop(state);
        if !self.ended {
            self.agent.interrupted(&self.session);
        }
    }
}

fn one_less<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

impl InFlight {
    pub(crate) fn has_turn(&self, turn: JournalId) -> bool {
        self.state.lock().turns.contains(&turn)
    }

    /// Of these rows those of the session that nobody works on. `None` while a message is being stored
    /// there: its row may be among them. To be asked after they were read.
    fn unclaimed(&self, session: &SessionKey, mut rows: Vec<LogRow>) -> Option<Vec<LogRow>> {
        let state = self.state.lock();
        rows.retain(|row| row.session == *session && !state.rows.contains_key(&row.id));
        if rows.is_empty() || !state.receiving.contains_key(session) {
            Some(rows)
        } else {
            None
        }
    }

    fn is_interrupted(&self, session: &SessionKey) -> bool {
        self.state.lock().interrupted.contains_key(session)
    }

    /// A turn of the session may be on record that nobody works on.
    fn may_be_open(&self, session: &SessionKey) -> bool {
        let state = self.state.lock();
        state.interrupted.contains_key(session) || state.left.contains(session)
    }

    /// False if it was interrupted again since [`InFlight::begins`].
    fn settles(&self, session: &SessionKey) -> bool {
        let mut state = self.state.lock();
        let again = state.interrupted.get(session) == Some(&true);
        if !again {
            state.interrupted.remove(session);
            drop(state);
            self.settled.notify_waiters();
        }
        !again
    }

    fn begins(&self, session: &SessionKey) {
        self.state.lock().interrupted.insert(session.clone(), false);
    }

    /// It is to be looked at once more.
    fn again(&self, session: &SessionKey) {
        self.state.lock().interrupted.insert(session.clone(), true);
    }

    /// Returns when nothing of the session waits to be taken up.
    pub(crate) async fn settled(&self, session: &SessionKey) {
        loop {
            let mut settled = std::pin::pin!(self.settled.notified());
            settled.as_mut().enable();
            if !self.is_interrupted(session) {
                return;
            }
            settled.await;
        }
    }
}

impl Agent {
    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.sessions().in_flight
    }

    /// To be called before the turn is on record.
    pub(crate) fn works_on_turn(&self, session: &SessionKey, turn: JournalId) -> Work {
        Work::on(self, session, Subject::Turn(turn))
    }

    pub(crate) fn works_on_row(&self, row: &LogRow) -> Work {
        Work::on(self, &row.session, Subject::Row(row.id))
    }

    /// To be called before the message is stored.
    pub(crate) fn works_on_arrival(&self, session: &SessionKey) -> Work {
        Work::on(self, session, Subject::Arriving)
    }

    /// Has the session taken up again soon, by a task of its own: whoever worked on it is gone.
    pub(crate) fn interrupted(&self, session: &SessionKey) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            // The process ends; the next one finds it on record.
            return;
        };
        let before = self
            .in_flight()
            .state
            .lock()
            .interrupted
            .insert(session.clone(), true);
        if before.is_none() {
            runtime.spawn(take_up_again(self.downgrade(), session.clone()));
        }
    }

    /// Under the session's lease, before a new turn begins: what was begun there and is nobody's comes
    /// to its end first. `left`: another instance had the session and did not give it up.
    pub(crate) async fn finish_open_turns(
        &self,
        session: &SessionKey,
        answering: &crate::arrival::Answering,
        left: bool,
    ) -> Result<(), TurnError> {
        let in_flight = self.in_flight();
        in_flight
            .looked
            .get_or_try_init(async || {
                let open = self.store().turns().cut_off(Timestamp::MAX).await?;
                let mut state = in_flight.state.lock();
                let open = open
                    .into_iter()
                    .filter(|turn| !state.turns.contains(&turn.start.id))
                    .map(|turn| turn.start.session)
                    .collect();
                state.left = open;
                Ok::<(), TurnError>(())
            })
            .await?;
        if !left && !in_flight.may_be_open(session) {
            return Ok(());
        }
        let mut open = self.store().turns().cut_off(Timestamp::MAX).await?;
        open.retain(|turn| turn.start.session == *session);
        for turn in open {
            let id = turn.start.id;
            if in_flight.has_turn(id) {
                continue;
            }
            match self.go_on_with(turn.start, Some(answering)).await {
                Ok(_) => {}
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => self.give_up_turn(id, session, &error).await?,
            }
        }
        in_flight.state.lock().left.remove(session);
        Ok(())
    }

    /// Everything of one session that is on record and nobody works on, in order.
    async fn take_up_session(&self, session: &SessionKey) -> Result<(), TurnError> {
        let answering = self.sessions().of(session);
        let lease = self.lease(session, &answering).await?;
        if self.sessions().under_way.is_closed() {
            // The next start takes it up.
            lease.give_up().await;
            return Ok(());
        }
        let _going = self.sessions().under_way.enter();
        let finished = self.finish_open_turns(session, &answering, true).await;
        lease.give_up().await;
        finished?;
        let log = self.store().log();
        let in_flight = self.in_flight();
        let offered = in_flight.unclaimed(session, log.left_offered(Timestamp::MAX).await?);
        let unanswered = in_flight.unclaimed(session, log.left_unanswered(Timestamp::MAX).await?);
        let (Some(mut offered), Some(unanswered)) = (offered, unanswered) else {
            in_flight.again(session);
            return Ok(());
        };
        if !offered.is_empty() {
            // Nobody works on them now; those that somebody has dealt with meanwhile are left out.
            let still = log.left_offered(Timestamp::MAX).await?;
            offered.retain(|row| still.iter().any(|one| one.id == row.id));
        }
        for row in offered {
            self.tell_cut_off(&row).await?;
        }
        for row in unanswered {
            match self.take_up(&row).await {
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => tracing::warn!(row = row.id, %error, "message not answered"),
                Ok(_) => {}
            }
        }
        self.deliver(session).await;
        Ok(())
    }
}

async fn take_up_again(agent: WeakAgent, session: SessionKey) {
    let mut pause = SHORTEST_PAUSE;
    loop {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        let Some(agent) = agent.upgrade() else {
            return;
        };
        let in_flight = agent.in_flight();
        let Ok(_turn) = in_flight.taking_up.acquire().await else {
            return;
        };
        in_flight.begins(&session);
        match agent.take_up_session(&session).await {
            Ok(()) if in_flight.settles(&session) => {
                tracing::info!(%session, "interrupted session resumed");
                return;
            }
            Ok(()) => {}
            Err(error) => {
                tracing::warn!(%session, %error, "could not resume an interrupted session yet; retrying");
            }
        }
    }
}
