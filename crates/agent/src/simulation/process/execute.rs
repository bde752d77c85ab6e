//! A turn goes on, one small thing at a time.

use super::{Process, Work};
use crate::{
    session::event::{Claim, SessionEvent, Ticket},
    simulation::{
        random::Random,
        turn::{Execution, Halt, Progress},
        world::{World, journal},
    },
};

impl Process {
    pub(super) fn execute(
        &mut self,
        session: usize,
        turn: usize,
        mut execution: Box<Execution>,
        ticket: Option<Ticket>,
        world: &mut World,
        random: &mut Random,
    ) {
        let (joins, mut lost) = (execution.is_joining(), false);
        let ended = match self.go_on(turn, &mut execution, world, random) {
            Ok(Progress::Going | Progress::Joins) => {
                if joins {
                    self.join(session, turn, world);
                }
                return self.add(
                    session,
                    Work::Execute {
                        turn,
                        execution,
                        ticket,
                    },
                );
            }
            Ok(Progress::Finished) => {
                self.feed(session, SessionEvent::DeliveryWanted);
                true
            }
            Ok(Progress::Suspended) => {
                if world.turns[turn].holder == Some(self.life) {
                    world.turns[turn].holder = None;
                }
                true
            }
            Err(halt) => {
                lost = halt == Halt::Fenced;
                false
            }
        };
        self.release(session, Claim::Turn(journal(turn)), ended);
        if let Some(ticket) = ticket {
            self.told.insert(ticket.0, ended);
        }
        let event = match ended {
            true => SessionEvent::Performed,
            false if lost => SessionEvent::LeaseLost,
            false => SessionEvent::Failed,
        };
        self.feed(session, event);
    }

    pub(super) fn execute_directly(
        &mut self,
        session: usize,
        turn: usize,
        mut execution: Box<Execution>,
        world: &mut World,
        random: &mut Random,
    ) {
        let ended = match self.go_on(turn, &mut execution, world, random) {
            Ok(Progress::Going | Progress::Joins) => {
                return self.add(session, Work::Execution(turn, execution));
            }
            Ok(Progress::Finished) => {
                self.feed(session, SessionEvent::DeliveryWanted);
                true
            }
            // Whoever asked cannot wait for an approval.
            Ok(Progress::Suspended) => {
                world.turns[turn].record.approve();
                false
            }
            Err(_) => false,
        };
        self.release(session, Claim::Turn(journal(turn)), ended);
    }

    fn go_on(
        &self,
        turn: usize,
        execution: &mut Execution,
        world: &mut World,
        random: &mut Random,
    ) -> Result<Progress, Halt> {
        let mut record = std::mem::take(&mut world.turns[turn].record);
        let mut write = |random: &mut Random| world.fate_of(turn, self.life, random);
        let progress = execution.advance(&mut record, random, &mut write);
        world.turns[turn].record = record;
        if let Ok(Progress::Finished) = progress {
            world.finish(turn);
        }
        progress
    }

    /// What its user has said meanwhile is taken along.
    fn join(&self, session: usize, turn: usize, world: &mut World) {
        let user = world.turns[turn].user;
        if world.turns[turn].holder != Some(self.life) {
            return;
        }
        for row in world.waiting(session) {
            if world.rows[row].user == user {
                world.take(row, turn);
            }
        }
    }
}
