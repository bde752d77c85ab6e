//! Performs what [`super::state::SessionState`] decides. Each action is performed by a task, so that it
//! comes to its end whoever has left; what came of it is the next event.

use std::{collections::HashSet, sync::Arc, time::Duration};

use callgate_contract::{JournalId, SessionKey};
use callgate_store::{Lease, LeftBy, StoreError};
use parking_lot::Mutex;
use tokio::{runtime::Handle, time::sleep};
use tracing::Instrument;

use super::{
    ClaimGuard, LiveSession,
    event::{
        Claim, Delivered, DeliveryPause, Leftovers, Pause, SessionAction, SessionEvent, Ticket,
    },
    request::Request,
};
use crate::{Agent, Arrived, TurnError, agent::WeakAgent};

/// Between two looks whether another instance has given the session up; longer and longer.
const DENIED: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));
/// Between two attempts after a failure.
const FAILED: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

impl Agent {
    pub(super) fn feed(&self, session: &Arc<LiveSession>, event: SessionEvent) {
        let actions = session.step(event);
        self.perform_all(session, actions);
    }

    pub(super) fn perform_all(&self, session: &Arc<LiveSession>, actions: Vec<SessionAction>) {
        for action in actions {
            // Without a runtime the process ends; the next one finds everything on record.
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(perform_from(self.downgrade(), session.clone(), action));
            }
        }
    }

    async fn perform(
        &self,
        session: &Arc<LiveSession>,
        action: SessionAction,
    ) -> Option<SessionEvent> {
        Some(match action {
            SessionAction::TakeLease => self.take_lease(session).await,
            SessionAction::GiveUpLease => {
                let lease = session.core.lock().lease.take();
                if let Some(lease) = lease {
                    self.give_up(lease).await;
                }
                SessionEvent::LeaseGivenUp
            }
            SessionAction::LeaveLease => {
                session.core.lock().lease = None;
                SessionEvent::LeaseGivenUp
            }
            SessionAction::Pause(_) => SessionEvent::PauseEnded,
            SessionAction::Look => match self.store().leftovers(&session.key).await {
                Ok(found) => SessionEvent::Found(Leftovers {
                    turns: found.turns,
                    rows: found.rows,
                }),
                Err(error) => failed(session, &error.into()),
            },
            SessionAction::Resume(turn) => self.resume_left(session, turn).await,
            SessionAction::EndTurn { turn, why } => {
                match self.give_up_turn(turn, &session.key, &why).await {
                    Ok(()) => SessionEvent::Performed,
                    Err(error) => failed(session, &error),
                }
            }
            SessionAction::Answer(ticket) => self.answer_ticket(session, ticket).await,
            SessionAction::TurnAway(ticket) => {
                turn_away(session, ticket);
                return None;
            }
            SessionAction::TakeUp(row) => {
                self.take_up_row(session, row).await;
                return None;
            }
            SessionAction::Deliver => SessionEvent::Delivered(self.deliver_now(session).await),
            SessionAction::DeliverLater(_) => SessionEvent::DeliveryDue,
            SessionAction::Settled => {
                let mut core = session.core.lock();
                let recovered = std::mem::take(&mut core.recovered);
                for waiting in core.settled.drain(..) {
                    // Whoever waited may have left.
                    let _ = waiting.send(recovered.clone());
                }
                return None;
            }
        })
    }

    async fn take_lease(&self, session: &LiveSession) -> SessionEvent {
        let taken = async {
            let left = self.left_by_earlier().await?;
            let lease = self.store().leases().take(&session.key).await?;
            // Forgotten only by whoever then looks: another instance may have the session now.
            Ok::<_, StoreError>(lease.map(|lease| {
                let was_left = left.lock().remove(&session.key) || lease.was_left();
                (was_left, lease)
            }))
        };
        match taken.await {
            Ok(Some((was_left, lease))) => {
                session.core.lock().lease = Some(lease);
                let closing = self.sessions().under_way.is_closed();
                SessionEvent::LeaseHeld { was_left, closing }
            }
            Ok(None) => SessionEvent::LeaseDenied,
            Err(error) => failed(session, &error.into()),
        }
    }

    /// Sessions in which an earlier process left a turn. Looked for once for all, so that a message need not.
    async fn left_by_earlier(&self) -> Result<&Mutex<HashSet<SessionKey>>, StoreError> {
        self.sessions()
            .left
            .get_or_try_init(async || {
                let open = self.store().turns().cut_off(LeftBy::Anyone).await?;
                let sessions = open.into_iter().map(|turn| turn.start.session);
                Ok(Mutex::new(sessions.collect()))
            })
            .await
    }

    /// As long as this instance lives, nobody else gets the session: what the store refuses now is tried
    /// again, by a task, since nobody need wait for it.
    async fn give_up(&self, lease: Lease) {
        let Err(error) = self.store().leases().give_up(&lease).await else {
            return;
        };
        tracing::warn!(%error, "could not release a session lease; retrying");
        let store = self.store().clone();
        tokio::spawn(async move {
            for attempt in 0.. {
                sleep(grown(FAILED, attempt)).await;
                if store.leases().give_up(&lease).await.is_ok() {
                    return;
                }
            }
        });
    }

    async fn resume_left(&self, session: &LiveSession, turn: JournalId) -> SessionEvent {
        let _one_of_few = self.sessions().resuming.acquire().await;
        let _going = self.sessions().under_way.enter();
        match self.go_on_with(turn, session).await {
            Ok(resumed) => {
                if resumed {
                    session.core.lock().recovered.turns.push(turn);
                }
                SessionEvent::Performed
            }
            Err(error) if error.is_temporary() || error.is_elsewhere() => failed(session, &error),
            Err(error) => {
                tracing::error!(turn = %turn.0, %error, "a turn cannot be resumed and is ended");
                SessionEvent::CannotResume(error.to_string())
            }
        }
    }

    async fn answer_ticket(&self, session: &LiveSession, ticket: Ticket) -> SessionEvent {
        let _going = self.sessions().under_way.enter();
        let (request, lease) = {
            let mut core = session.core.lock();
            (core.requests.remove(&ticket.0), core.lease.clone())
        };
        let failure = match request {
            Some(Request::Answer {
                trigger,
                tell,
                span,
            }) => {
                let answering = self.answer_under(lease.as_ref(), session, *trigger);
                let arrived = answering.instrument(span).await;
                let failure = arrived.as_ref().err().map(|error| failed(session, error));
                // Whoever waited may have left.
                let _ = tell.send(arrived);
                failure
            }
            Some(Request::Resume {
                turn,
                watch,
                tell,
                span,
            }) => {
                let report = self.go_on(turn, session, watch).instrument(span).await;
                let failure = match &report {
                    Ok(_) | Err(TurnError::Ended { .. }) => None,
                    Err(error) => Some(failed(session, error)),
                };
                let _ = tell.send(report);
                failure
            }
            None => None,
        };
        failure.unwrap_or(SessionEvent::Performed)
    }

    async fn take_up_row(&self, session: &Arc<LiveSession>, row: i64) {
        let claim = ClaimGuard::held(self, session.clone(), Claim::Row(row));
        let _one_of_few = self.sessions().resuming.acquire().await;
        match self.take_up(row).await {
            Ok(arrived) => {
                if let Arrived::Turn(_) = arrived {
                    session.core.lock().recovered.messages += 1;
                }
                claim.end();
            }
            Err(error) => {
                tracing::warn!(row, %error, "message not answered yet; retrying");
            }
        }
    }

    async fn deliver_now(&self, session: &LiveSession) -> Delivered {
        // A message that is being sent when the process ends is one nobody knows about.
        let _going = self.sessions().under_way.enter();
        let outbox = self.store().outbox();
        let delivering = outbox.deliver_pending(Some(&session.key), self.outbox());
        let deliveries = match delivering.await {
            Ok(deliveries) => deliveries,
            Err(error) => {
                tracing::warn!(session = %session.key, %error, "could not read or write the outbox; retrying");
                return Delivered::Failed;
            }
        };
        for (id, reason) in &deliveries.failed {
            tracing::info!(session = %session.key, id, reason, "message kept in the outbox");
        }
        for (id, reason) in &deliveries.given_up {
            tracing::warn!(session = %session.key, id, reason, "message not delivered; see callgate outbox");
        }
        let limited = deliveries.again_after;
        limited.map_or(Delivered::Done, Delivered::Limited)
    }
}

/// Told so, or nobody would take it up before the next start.
fn failed(session: &LiveSession, error: &TurnError) -> SessionEvent {
    tracing::warn!(session = %session.key, %error, "session interrupted; retrying");
    if error.is_elsewhere() {
        SessionEvent::LeaseLost
    } else {
        SessionEvent::Failed
    }
}

fn turn_away(session: &LiveSession, ticket: Ticket) {
    let request = session.core.lock().requests.remove(&ticket.0);
    // Whoever waited may have left.
    match request {
        Some(Request::Answer { tell, .. }) => drop(tell.send(Ok(Arrived::Joined))),
        Some(Request::Resume { tell, .. }) => drop(tell.send(Err(TurnError::CutOff))),
        None => {}
    }
}

/// An action whose task ends before the action does: it panicked, or the runtime ends.
struct Performing<'a> {
    agent: &'a Agent,
    session: &'a Arc<LiveSession>,
    action: Option<SessionAction>,
}

impl Drop for Performing<'_> {
    fn drop(&mut self) {
        let event = match &self.action {
            None
            | Some(
                SessionAction::TakeUp(_) | SessionAction::TurnAway(_) | SessionAction::Settled,
            ) => return,
            Some(SessionAction::Deliver) => SessionEvent::Delivered(Delivered::Failed),
            Some(SessionAction::DeliverLater(_)) => SessionEvent::DeliveryDue,
            Some(SessionAction::Pause(_)) => SessionEvent::PauseEnded,
            Some(SessionAction::GiveUpLease | SessionAction::LeaveLease) => {
                SessionEvent::LeaseGivenUp
            }
            Some(_) => SessionEvent::Failed,
        };
        self.agent.feed(self.session, event);
    }
}

async fn perform_from(agent: WeakAgent, session: Arc<LiveSession>, mut action: SessionAction) {
    loop {
        match action {
            SessionAction::Pause(Pause::Denied(times)) => sleep(grown(DENIED, times)).await,
            SessionAction::Pause(Pause::Failed(times))
            | SessionAction::DeliverLater(DeliveryPause::Failed(times)) => {
                sleep(grown(FAILED, times.saturating_sub(1))).await;
            }
            SessionAction::DeliverLater(DeliveryPause::Limited(after)) => sleep(after).await,
            _ => {}
        }
        // Not held while pausing: who has forgotten the agent is not kept from ending.
        let Some(agent) = agent.upgrade() else {
            return;
        };
        let mut performing = Performing {
            agent: &agent,
            session: &session,
            action: Some(action.clone()),
        };
        let event = agent.perform(&session, action).await;
        performing.action = None;
        let Some(event) = event else {
            return;
        };
        let mut actions = session.step(event).into_iter();
        let Some(next) = actions.next() else {
            return;
        };
        agent.perform_all(&session, actions.collect());
        action = next;
    }
}

fn grown((shortest, longest): (Duration, Duration), times: u32) -> Duration {
    shortest.saturating_mul(1 << times.min(16)).min(longest)
}
