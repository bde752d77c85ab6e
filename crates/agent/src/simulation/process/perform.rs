//! What a session decides is done here, as the driver of the product does it.

use super::{Process, Task, Wanted, Work};
use crate::{
    session::event::{Claim, Delivered, SessionAction, SessionEvent, Ticket},
    simulation::{
        random::Random,
        turn::{Execution, Halt, Written, written},
        world::{RowState, World, journal, number},
    },
};

impl Process {
    pub(super) fn perform(
        &mut self,
        session: usize,
        action: SessionAction,
        world: &mut World,
        random: &mut Random,
    ) {
        let event = match action {
            SessionAction::TakeLease => self.take_lease(session, world, random),
            SessionAction::GiveUpLease => {
                let token = self.leases.remove(&session);
                if let Some(token) = token
                    && world.leases.get(&session) == Some(&(self.life, token))
                {
                    world.leases.remove(&session);
                }
                SessionEvent::LeaseGivenUp
            }
            SessionAction::LeaveLease => {
                self.leases.remove(&session);
                SessionEvent::LeaseGivenUp
            }
            SessionAction::Pause(_) => SessionEvent::PauseEnded,
            SessionAction::Look => match world.fate(random) {
                Written::Done => SessionEvent::Found(world.leftovers(session, self.life)),
                _ => SessionEvent::Failed,
            },
            SessionAction::Resume(turn) => match self.adopt(session, number(turn), world, random) {
                Ok(event) => event,
                Err(execution) => {
                    let (turn, ticket) = (number(turn), None);
                    return self.add(
                        session,
                        Work::Execute {
                            turn,
                            execution,
                            ticket,
                        },
                    );
                }
            },
            SessionAction::EndTurn { turn, .. } => {
                let turn = number(turn);
                let ended = written(world.fate_of(turn, self.life, random), || {
                    world.finish(turn)
                });
                match ended {
                    Ok(()) => {
                        self.feed(session, SessionEvent::DeliveryWanted);
                        SessionEvent::Performed
                    }
                    Err(Halt::Fenced) => SessionEvent::Performed,
                    Err(Halt::Failed) => SessionEvent::Failed,
                }
            }
            SessionAction::Answer(ticket) => return self.answer(session, ticket, world, random),
            SessionAction::TurnAway(_) => unreachable!("nobody closes"),
            SessionAction::TakeUp(row) => {
                return self.take_up(session, row as usize, world, random);
            }
            SessionAction::Deliver => match world.deliverable(session, self.life) {
                None => SessionEvent::Delivered(Delivered::Done),
                Some(answer) => {
                    let claimed = written(world.fate(random), || {
                        world.answers[answer].claimed_by = Some(self.life);
                    });
                    if claimed.is_ok() {
                        return self.add(session, Work::HandOver(answer));
                    }
                    SessionEvent::Delivered(Delivered::Failed)
                }
            },
            SessionAction::DeliverLater(_) => SessionEvent::DeliveryDue,
            SessionAction::Settled => return,
        };
        self.feed(session, event);
    }

    fn take_lease(
        &mut self,
        session: usize,
        world: &mut World,
        random: &mut Random,
    ) -> SessionEvent {
        let mut taken = None;
        let fate = world.fate(random);
        let told = written(fate, || taken = world.take_lease(session, self.life));
        match (told, taken) {
            (Err(_), _) => SessionEvent::Failed,
            (Ok(()), None) => SessionEvent::LeaseDenied,
            (Ok(()), Some((token, was_left))) => {
                self.leases.insert(session, token);
                SessionEvent::LeaseHeld {
                    was_left: self.left.remove(&session) || was_left,
                    closing: false,
                }
            }
        }
    }

    /// The execution of a turn that can go on, or what came of one that cannot.
    fn adopt(
        &mut self,
        session: usize,
        turn: usize,
        world: &mut World,
        random: &mut Random,
    ) -> Result<SessionEvent, Box<Execution>> {
        let found = &world.turns[turn];
        let is_free = match found.holder {
            Some(holder) if found.is_direct => holder == self.life || !world.lives(holder),
            _ => true,
        };
        let waits = found.record.is_waiting() && !found.is_direct;
        if !found.is_open || !is_free || waits {
            return Ok(SessionEvent::Performed);
        }
        if !found.is_direct && !self.has_lease(session, world) {
            return Ok(SessionEvent::LeaseLost);
        }
        let here = |task: &Task| matches!(&task.work, Work::Execution(one, _) if *one == turn);
        assert!(
            !self.tasks.iter().any(here),
            "a turn was taken up that its own process works on"
        );
        if written(world.fate(random), || {
            world.turns[turn].holder = Some(self.life)
        })
        .is_err()
        {
            return Ok(SessionEvent::Failed);
        }
        if world.turns[turn].is_direct {
            world.finish(turn);
            self.feed(session, SessionEvent::DeliveryWanted);
            return Ok(SessionEvent::Performed);
        }
        if world.turns[turn].cannot_resume {
            return Ok(SessionEvent::CannotResume("it cannot".to_owned()));
        }
        self.feed(session, SessionEvent::Claimed(Claim::Turn(journal(turn))));
        Err(Box::new(Execution::begin(&mut world.turns[turn].record)))
    }

    fn answer(&mut self, session: usize, ticket: Ticket, world: &mut World, random: &mut Random) {
        let event = match self.tickets.remove(&ticket.0) {
            None => SessionEvent::Performed,
            Some(Wanted::Turn(turn)) => match self.adopt(session, turn, world, random) {
                Ok(event) => event,
                Err(execution) => {
                    let ticket = Some(ticket);
                    return self.add(
                        session,
                        Work::Execute {
                            turn,
                            execution,
                            ticket,
                        },
                    );
                }
            },
            Some(Wanted::Row(row)) => {
                let rows = world.waiting(session);
                if rows.contains(&row) {
                    return self.add(session, Work::Begin { ticket, rows });
                }
                SessionEvent::Performed
            }
        };
        self.told.insert(ticket.0, event == SessionEvent::Performed);
        self.feed(session, event);
    }

    fn has_lease(&self, session: usize, world: &World) -> bool {
        let token = self.leases.get(&session).copied();
        let ours = token.map(|token| (self.life, token));
        ours.is_some() && world.leases.get(&session).copied() == ours
    }

    pub(super) fn begin(
        &mut self,
        session: usize,
        ticket: Ticket,
        rows: &[usize],
        world: &mut World,
        random: &mut Random,
    ) {
        let fate = if self.has_lease(session, world) {
            world.fate(random)
        } else {
            Written::Fenced
        };
        let user = world.rows[rows[0]].user;
        let mut turn = self.turn(session, user, false, random.chance(2));
        turn.cannot_resume = random.chance(20);
        let claim = Claim::Turn(journal(world.turns.len()));
        self.feed(session, SessionEvent::Claimed(claim));
        let mut begun = None;
        let told = written(fate, || begun = world.begin(turn, rows));
        if let (Ok(()), Some(turn)) = (told, begun) {
            let execution = Box::new(Execution::begin(&mut world.turns[turn].record));
            let ticket = Some(ticket);
            return self.add(
                session,
                Work::Execute {
                    turn,
                    execution,
                    ticket,
                },
            );
        }
        self.release(session, claim, false);
        self.told.insert(ticket.0, false);
        self.feed(
            session,
            match told {
                Err(Halt::Fenced) => SessionEvent::LeaseLost,
                _ => SessionEvent::Failed,
            },
        );
    }

    fn take_up(&mut self, session: usize, row: usize, world: &mut World, random: &mut Random) {
        let claim = Claim::Row(row as i64);
        let left = &world.rows[row];
        match left.state {
            _ if left.turn.is_some() => self.release(session, claim, true),
            RowState::DealtWith => self.release(session, claim, true),
            RowState::Waiting => self.wait_for(session, row),
            // Listeners are never given a message twice: whoever sent it is told.
            RowState::Offered => {
                let told = written(world.fate(random), || {
                    world.rows[row].state = RowState::DealtWith;
                });
                self.release(session, claim, told.is_ok());
            }
        }
    }
}
