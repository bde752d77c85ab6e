//! An instance in the simulation: the states of its sessions and the tasks that perform what they decide.
//! A task does one small thing when it is its turn; a kill forgets all of them.

mod execute;
mod perform;

use std::collections::{HashMap, HashSet};

use super::{
    mutant::Mutant,
    random::Random,
    turn::{Execution, TurnRecord, written},
    world::{Life, Row, RowState, Turn, World, journal, number},
};
use crate::session::{
    event::{Claim, SessionAction, SessionEvent, Ticket},
    state::SessionState,
};

pub(super) struct Process {
    pub(super) life: Life,
    pub(super) frozen_until: u64,
    sessions: HashMap<usize, SessionState>,
    tasks: Vec<Task>,
    tickets: HashMap<u64, Wanted>,
    last_ticket: u64,
    /// What became of tickets.
    told: HashMap<u64, bool>,
    leases: HashMap<usize, u64>,
    /// Sessions in which an earlier life left a turn.
    left: HashSet<usize>,
    mutant: Option<Mutant>,
    /// Every event and what follows from it.
    pub(super) is_shown: bool,
}

#[derive(Clone, Copy)]
enum Wanted {
    Row(usize),
    Turn(usize),
}

struct Task {
    session: usize,
    work: Work,
}

enum Work {
    Store {
        user: usize,
        offered: bool,
    },
    /// A timer has fired: its row is there, and nobody works on it yet.
    Fired(usize),
    Listeners(usize),
    Waits {
        row: usize,
        ticket: u64,
    },
    Perform(SessionAction),
    Begin {
        ticket: Ticket,
        rows: Vec<usize>,
    },
    Execute {
        turn: usize,
        execution: Box<Execution>,
        ticket: Option<Ticket>,
    },
    Execution(usize, Box<Execution>),
    HandOver(usize),
    HandedOver(usize),
}

impl Process {
    pub(super) fn start(
        life: Life,
        sessions: usize,
        world: &mut World,
        mutant: Option<Mutant>,
    ) -> Self {
        let mut process = Process {
            life,
            frozen_until: 0,
            sessions: HashMap::new(),
            tasks: Vec::new(),
            tickets: HashMap::new(),
            last_ticket: 0,
            told: HashMap::new(),
            leases: HashMap::new(),
            left: HashSet::new(),
            mutant,
            is_shown: false,
        };
        for session in 0..sessions {
            let left = world.leftovers(session, life);
            if !left.turns.is_empty() {
                process.left.insert(session);
            }
            if !left.turns.is_empty() || !left.rows.is_empty() {
                process.feed(session, SessionEvent::Interrupted);
            }
            if world.deliverable(session, life).is_some() {
                process.feed(session, SessionEvent::DeliveryWanted);
            }
        }
        process
    }

    pub(super) fn is_idle(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn receive(&mut self, session: usize, user: usize, offered: bool) {
        self.feed(session, SessionEvent::Claimed(Claim::Arriving));
        self.add(session, Work::Store { user, offered });
    }

    pub(super) fn fire(&mut self, session: usize, user: usize, world: &mut World) {
        let row = world.rows.len();
        world.rows.push(Row {
            session,
            user,
            holder: self.life,
            state: RowState::Waiting,
            turn: None,
            taken_at: 0,
            was_offered: true,
        });
        self.add(session, Work::Fired(row));
    }

    /// A turn outside the session's queue.
    pub(super) fn ask_directly(&mut self, session: usize, world: &mut World) {
        let turn = world.turns.len();
        self.feed(session, SessionEvent::Claimed(Claim::Turn(journal(turn))));
        world.begin(self.turn(session, 99, true, false), &[]);
        let execution = Execution::begin(&mut world.turns[turn].record);
        self.add(session, Work::Execution(turn, Box::new(execution)));
    }

    /// An approval was given here.
    pub(super) fn resume(&mut self, session: usize, turn: usize) {
        self.want(session, Wanted::Turn(turn));
    }

    /// Looks for what others have left that are gone.
    pub(super) fn look_after_others(&mut self, sessions: usize, world: &World) {
        for session in 0..sessions {
            let left = world.leftovers(session, self.life);
            let of_turns = left
                .turns
                .iter()
                .map(|turn| world.turns[number(*turn)].holder);
            let of_rows = left
                .rows
                .iter()
                .map(|row| Some(world.rows[*row as usize].holder));
            let mut holders = of_turns.chain(of_rows).flatten();
            if holders.any(|holder| holder != self.life) {
                self.feed(session, SessionEvent::Interrupted);
            }
            let answer = world.deliverable(session, self.life);
            let claimed = answer.and_then(|id| world.answers[id].claimed_by);
            if claimed.is_some_and(|holder| holder != self.life) {
                self.feed(session, SessionEvent::DeliveryWanted);
            }
        }
    }

    fn turn(&self, session: usize, user: usize, is_direct: bool, by_code: bool) -> Turn {
        Turn {
            session,
            user,
            holder: Some(self.life),
            is_open: true,
            is_direct,
            cannot_resume: false,
            record: TurnRecord::new(by_code),
        }
    }

    fn add(&mut self, session: usize, work: Work) {
        self.tasks.push(Task { session, work });
    }

    fn want(&mut self, session: usize, wanted: Wanted) -> u64 {
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        self.tickets.insert(ticket, wanted);
        self.feed(session, SessionEvent::TurnWanted(Ticket(ticket)));
        ticket
    }

    #[expect(
        clippy::print_stderr,
        reason = "shown to whoever looks for a failing seed's cause"
    )]
    fn feed(&mut self, session: usize, event: SessionEvent) {
        let shown = self.is_shown.then(|| format!("{event:?}"));
        let state = self.sessions.entry(session).or_default();
        let actions = match self.mutant {
            Some(mutant) => mutant.step(state, event),
            None => state.step(event),
        };
        if let Some(event) = shown {
            eprintln!(
                "life {}, session {session}: {event} -> {actions:?}",
                self.life
            );
        }
        for action in actions {
            let is_turn = |action: &SessionAction| {
                !matches!(
                    action,
                    SessionAction::Deliver
                        | SessionAction::DeliverLater(_)
                        | SessionAction::Settled
                        | SessionAction::TakeUp(_)
                )
            };
            let overlaps = self.tasks.iter().any(|task| {
                task.session == session
                    && match &task.work {
                        Work::Perform(other) if is_turn(&action) => is_turn(other),
                        Work::Begin { .. } | Work::Execute { .. } => is_turn(&action),
                        Work::Perform(SessionAction::Deliver)
                        | Work::HandOver(_)
                        | Work::HandedOver(_) => action == SessionAction::Deliver,
                        _ => false,
                    }
            });
            assert!(!overlaps, "{action:?} begins while another goes on");
            self.add(session, Work::Perform(action));
        }
    }

    fn release(&mut self, session: usize, claim: Claim, ended: bool) {
        self.feed(session, SessionEvent::Released { claim, ended });
    }

    /// Lets one of the tasks do its next small thing.
    pub(super) fn advance(&mut self, world: &mut World, random: &mut Random) {
        if self.tasks.is_empty() || self.frozen_until > world.now {
            return;
        }
        let task = self.tasks.swap_remove(random.below(self.tasks.len()));
        let session = task.session;
        match task.work {
            Work::Store { user, offered } => self.store(session, user, offered, world, random),
            Work::Fired(row) => self.answer_row(session, row),
            Work::Listeners(row) => self.hear(session, row, world, random),
            Work::Waits { row, ticket } => match self.told.remove(&ticket) {
                Some(ended) => self.release(session, Claim::Row(row as i64), ended),
                None => self.add(session, Work::Waits { row, ticket }),
            },
            Work::Perform(action) => self.perform(session, action, world, random),
            Work::Begin { ticket, rows } => self.begin(session, ticket, &rows, world, random),
            Work::Execute {
                turn,
                execution,
                ticket,
            } => self.execute(session, turn, execution, ticket, world, random),
            Work::Execution(turn, execution) => {
                self.execute_directly(session, turn, execution, world, random);
            }
            Work::HandOver(answer) => {
                let handed = &mut world.answers[answer];
                handed.handed_over += 1;
                handed.is_uncertain = true;
                self.add(session, Work::HandedOver(answer));
            }
            Work::HandedOver(answer) => {
                let handed = &mut world.answers[answer];
                handed.is_uncertain = handed.handed_over > 1;
                handed.is_delivered = true;
                self.add(session, Work::Perform(SessionAction::Deliver));
            }
        }
    }

    fn store(
        &mut self,
        session: usize,
        user: usize,
        offered: bool,
        world: &mut World,
        random: &mut Random,
    ) {
        let row = world.rows.len();
        let stored = written(world.fate(random), || {
            world.rows.push(Row {
                session,
                user,
                holder: self.life,
                state: if offered {
                    RowState::Offered
                } else {
                    RowState::Waiting
                },
                turn: None,
                taken_at: 0,
                was_offered: offered,
            });
        });
        if stored.is_err() {
            return self.release(session, Claim::Arriving, false);
        }
        self.feed(session, SessionEvent::Claimed(Claim::Row(row as i64)));
        self.release(session, Claim::Arriving, true);
        if offered {
            self.add(session, Work::Listeners(row));
        } else {
            self.wait_for(session, row);
        }
    }

    fn answer_row(&mut self, session: usize, row: usize) {
        self.feed(session, SessionEvent::Claimed(Claim::Row(row as i64)));
        self.wait_for(session, row);
    }

    fn wait_for(&mut self, session: usize, row: usize) {
        let ticket = self.want(session, Wanted::Row(row));
        self.add(session, Work::Waits { row, ticket });
    }

    /// Listeners decide, and it is tried until that is on record.
    fn hear(&mut self, session: usize, row: usize, world: &mut World, random: &mut Random) {
        let takes = random.chance(2);
        let heard = &mut world.rows[row];
        if heard.holder != self.life || heard.state != RowState::Offered || heard.turn.is_some() {
            return self.release(session, Claim::Row(row as i64), true);
        }
        heard.state = if takes {
            RowState::DealtWith
        } else {
            RowState::Waiting
        };
        if takes {
            self.release(session, Claim::Row(row as i64), true);
        } else {
            self.wait_for(session, row);
        }
    }
}
