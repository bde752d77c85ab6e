//! [`SessionState`]: which turn of a session comes next, as a fold over what has happened in it.
//! [`SessionState::step`] takes the next event and says what is to be done; it reads no clock and asks
//! nobody. Nothing else decides that turns of a session never overlap, that what was begun comes before
//! what is new, and that what failed is tried again.

use std::collections::{HashMap, HashSet, VecDeque};

use callgate_contract::JournalId;

use super::event::{
    Claim, Delivered, DeliveryPause, Leftovers, Pause, SessionAction, SessionEvent, Ticket,
};

#[derive(Default)]
pub(crate) struct SessionState {
    phase: Phase,
    tickets: VecDeque<Ticket>,
    claims: Claims,
    /// Something may be on record that nobody works on: it comes before new turns.
    unsettled: bool,
    /// From an interruption until everything that was left has come to its end.
    interrupted: bool,
    /// How often that was looked for.
    attempts: u32,
    open: VecDeque<JournalId>,
    rows: VecDeque<i64>,
    taking_up: Option<i64>,
    delivery: Delivery,
}

/// What is being done. From `Looking` to `Answering` the lease is ours. It stays so after a failure: a turn
/// that was begun may be open, and nobody else may begin one before it has come to its end.
#[derive(Clone, Copy, Default, PartialEq)]
enum Phase {
    #[default]
    Idle,
    Pausing {
        denied: u32,
    },
    Leasing {
        denied: u32,
    },
    Looking,
    Resuming(JournalId),
    EndingTurn,
    PausingWithLease,
    Answering,
    Releasing,
}

#[derive(Default)]
struct Claims {
    arriving: usize,
    rows: HashMap<i64, usize>,
    turns: HashSet<JournalId>,
}

/// One at a time: two would send a message twice.
#[derive(Default)]
struct Delivery {
    is_going: bool,
    /// More was written meanwhile.
    again: bool,
    /// How often it has failed in a row.
    failures: u32,
    is_due_later: bool,
}

impl SessionState {
    pub(crate) fn step(&mut self, event: SessionEvent) -> Vec<SessionAction> {
        let mut actions = Vec::new();
        match event {
            SessionEvent::TurnWanted(ticket) => {
                self.tickets.push_back(ticket);
                actions.extend(self.wake());
            }
            SessionEvent::Interrupted => {
                self.interrupt();
                actions.extend(self.wake());
            }
            SessionEvent::Claimed(claim) => self.claims.add(claim),
            SessionEvent::Released { claim, ended } => {
                self.claims.remove(claim);
                let claimed = &self.claims.rows;
                self.taking_up.take_if(|row| !claimed.contains_key(row));
                if !ended {
                    self.interrupt();
                    actions.extend(self.wake());
                }
            }
            SessionEvent::LeaseHeld { was_left, closing } => {
                if was_left {
                    self.interrupt();
                }
                if closing {
                    actions.extend(self.close());
                }
                actions.push(if was_left && closing {
                    self.leave()
                } else {
                    self.begin_next()
                });
            }
            SessionEvent::LeaseDenied => actions.push(self.pause_denied()),
            SessionEvent::PauseEnded if self.phase == Phase::PausingWithLease => {
                actions.push(self.begin_next());
            }
            SessionEvent::PauseEnded => actions.extend(self.after_release(true)),
            SessionEvent::LeaseGivenUp => actions.extend(self.after_release(false)),
            SessionEvent::Found(leftovers) => {
                self.take_over(leftovers);
                actions.push(self.begin_next());
            }
            SessionEvent::Performed => actions.push(match self.phase {
                Phase::Resuming(_) | Phase::EndingTurn => self.begin_next(),
                _ => self.release(),
            }),
            SessionEvent::CannotResume(why) => actions.push(match self.phase {
                Phase::Resuming(turn) => {
                    self.phase = Phase::EndingTurn;
                    SessionAction::EndTurn { turn, why }
                }
                _ => self.fail(),
            }),
            SessionEvent::Failed => actions.push(self.fail()),
            SessionEvent::LeaseLost => {
                self.interrupt();
                self.open.clear();
                actions.push(self.leave());
            }
            SessionEvent::DeliveryWanted => actions.extend(self.deliver()),
            SessionEvent::Delivered(how) => actions.extend(self.delivered(how)),
            SessionEvent::DeliveryDue => {
                self.delivery.is_due_later = false;
                actions.extend(self.deliver());
            }
        }
        actions.extend(self.take_up());
        actions.extend(self.settle());
        actions
    }

    /// Is there anything left from an interruption?
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    fn interrupt(&mut self) {
        self.unsettled = true;
        self.interrupted = true;
    }

    fn has_work(&self) -> bool {
        self.unsettled || !self.tickets.is_empty()
    }

    fn wake(&mut self) -> Option<SessionAction> {
        match self.phase {
            Phase::Idle => self.after_release(false),
            _ => None,
        }
    }

    /// The lease is not ours. What failed before is tried again after a pause.
    fn after_release(&mut self, paused: bool) -> Option<SessionAction> {
        let denied = match self.phase {
            Phase::Pausing { denied } => denied,
            _ => 0,
        };
        if !self.has_work() {
            self.phase = Phase::Idle;
            return None;
        }
        if self.unsettled && self.attempts > 0 && !paused {
            self.phase = Phase::Pausing { denied: 0 };
            return Some(SessionAction::Pause(Pause::Failed(self.attempts)));
        }
        self.phase = Phase::Leasing { denied };
        Some(SessionAction::TakeLease)
    }

    fn pause_denied(&mut self) -> SessionAction {
        let denied = match self.phase {
            Phase::Leasing { denied } => denied,
            _ => 0,
        };
        self.phase = Phase::Pausing { denied: denied + 1 };
        SessionAction::Pause(Pause::Denied(denied))
    }

    /// Under the lease: what was left first, then what is wanted, one at a time.
    fn begin_next(&mut self) -> SessionAction {
        if let Some(turn) = self.open.pop_front() {
            self.phase = Phase::Resuming(turn);
            return SessionAction::Resume(turn);
        }
        let was_looking = matches!(
            self.phase,
            Phase::Looking | Phase::Resuming(_) | Phase::EndingTurn
        );
        if self.unsettled && !was_looking {
            self.unsettled = false;
            self.attempts += 1;
            self.phase = Phase::Looking;
            return SessionAction::Look;
        }
        if self.unsettled {
            // Interrupted again while it was looked for.
            return self.pause_with_lease();
        }
        match self.tickets.pop_front() {
            Some(ticket) => {
                self.phase = Phase::Answering;
                SessionAction::Answer(ticket)
            }
            None => self.release(),
        }
    }

    fn pause_with_lease(&mut self) -> SessionAction {
        self.phase = Phase::PausingWithLease;
        SessionAction::Pause(Pause::Failed(self.attempts))
    }

    fn release(&mut self) -> SessionAction {
        self.phase = Phase::Releasing;
        SessionAction::GiveUpLease
    }

    /// The same where a turn may be open that nobody is to overtake.
    fn leave(&mut self) -> SessionAction {
        self.phase = Phase::Releasing;
        SessionAction::LeaveLease
    }

    fn fail(&mut self) -> SessionAction {
        match self.phase {
            Phase::Leasing { .. } => {
                self.attempts += 1;
                self.phase = Phase::Pausing { denied: 0 };
                SessionAction::Pause(Pause::Failed(self.attempts))
            }
            _ => {
                self.interrupt();
                self.open.clear();
                self.pause_with_lease()
            }
        }
    }

    /// The next start finds all of it on record.
    fn close(&mut self) -> impl Iterator<Item = SessionAction> + use<> {
        self.unsettled = false;
        self.open.clear();
        self.rows.clear();
        let tickets = std::mem::take(&mut self.tickets);
        tickets.into_iter().map(SessionAction::TurnAway)
    }

    fn take_over(&mut self, found: Leftovers) {
        let claims = &self.claims;
        let turns = found.turns.into_iter();
        self.open = turns.filter(|turn| !claims.turns.contains(turn)).collect();
        let rows = found.rows.into_iter();
        let rows: VecDeque<i64> = rows.filter(|row| !claims.rows.contains_key(row)).collect();
        if rows.is_empty() || self.claims.arriving == 0 {
            self.rows = rows;
        } else {
            // One of them may be the message that is being stored.
            self.interrupt();
        }
    }

    /// Turns that were open come first. One message after the other, so that they keep their order.
    fn take_up(&mut self) -> Option<SessionAction> {
        let is_busy = matches!(
            self.phase,
            Phase::Looking | Phase::Resuming(_) | Phase::EndingTurn
        );
        if is_busy || !self.open.is_empty() || self.taking_up.is_some() {
            return None;
        }
        let row = self.rows.pop_front()?;
        self.claims.add(Claim::Row(row));
        self.taking_up = Some(row);
        Some(SessionAction::TakeUp(row))
    }

    fn settle(&mut self) -> Vec<SessionAction> {
        let is_busy = matches!(
            self.phase,
            Phase::Looking | Phase::Resuming(_) | Phase::EndingTurn
        );
        let is_left = self.unsettled || !self.open.is_empty() || !self.rows.is_empty();
        if !self.interrupted || is_busy || is_left || self.taking_up.is_some() {
            return Vec::new();
        }
        self.interrupted = false;
        self.attempts = 0;
        let deliver = self.deliver();
        [SessionAction::Settled]
            .into_iter()
            .chain(deliver)
            .collect()
    }

    fn deliver(&mut self) -> Option<SessionAction> {
        self.delivery.again = self.delivery.is_going;
        if self.delivery.is_going {
            return None;
        }
        self.delivery.is_going = true;
        Some(SessionAction::Deliver)
    }

    fn delivered(&mut self, how: Delivered) -> Option<SessionAction> {
        let delivery = &mut self.delivery;
        delivery.is_going = false;
        delivery.failures = match how {
            Delivered::Failed => delivery.failures + 1,
            Delivered::Done | Delivered::Limited(_) => 0,
        };
        if std::mem::take(&mut delivery.again) {
            return self.deliver();
        }
        let pause = match how {
            Delivered::Done => return None,
            Delivered::Limited(after) => DeliveryPause::Limited(after),
            Delivered::Failed => DeliveryPause::Failed(delivery.failures),
        };
        let is_due = std::mem::replace(&mut delivery.is_due_later, true);
        (!is_due).then_some(SessionAction::DeliverLater(pause))
    }
}

impl Claims {
    fn add(&mut self, claim: Claim) {
        match claim {
            Claim::Arriving => self.arriving += 1,
            Claim::Row(row) => *self.rows.entry(row).or_default() += 1,
            Claim::Turn(turn) => {
                self.turns.insert(turn);
            }
        }
    }

    fn remove(&mut self, claim: Claim) {
        match claim {
            Claim::Arriving => self.arriving -= 1,
            Claim::Row(row) => {
                if let Some(count) = self.rows.get_mut(&row) {
                    *count -= 1;
                    if *count == 0 {
                        self.rows.remove(&row);
                    }
                }
            }
            Claim::Turn(turn) => {
                self.turns.remove(&turn);
            }
        }
    }
}
