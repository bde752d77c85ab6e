//! The store of the simulation and what witnesses outside have seen. It keeps the promises of the real
//! one: a transaction is whole or not at all, a lease has one holder, and whoever lost a turn writes
//! nothing more of it.

use std::collections::HashMap;

use callgate_contract::JournalId;

use super::{
    random::Random,
    turn::{TurnRecord, Written},
};
use crate::session::event::Leftovers;

pub(super) type Life = usize;

/// For so long an instance counts as alive that no longer says so.
pub(super) const TERM: u64 = 60;

#[derive(Default)]
pub(super) struct World {
    pub(super) now: u64,
    pub(super) rows: Vec<Row>,
    pub(super) turns: Vec<Turn>,
    pub(super) answers: Vec<Answer>,
    pub(super) leases: HashMap<usize, (Life, u64)>,
    /// When each is taken for gone.
    pub(super) lives: HashMap<Life, u64>,
    pub(super) tokens: u64,
    /// One write in so many fails; none where zero.
    pub(super) failing: usize,
}

pub(super) struct Row {
    pub(super) session: usize,
    pub(super) user: usize,
    pub(super) holder: Life,
    pub(super) state: RowState,
    pub(super) turn: Option<usize>,
    pub(super) taken_at: u64,
    pub(super) was_offered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RowState {
    /// Listeners are dealing with it.
    Offered,
    Waiting,
    DealtWith,
}

pub(super) struct Turn {
    pub(super) session: usize,
    pub(super) user: usize,
    pub(super) holder: Option<Life>,
    pub(super) is_open: bool,
    /// Outside the session's queue, as an agent's or a request's of `/v1`: it ends with its process.
    pub(super) is_direct: bool,
    pub(super) cannot_resume: bool,
    pub(super) record: TurnRecord,
}

/// What goes out to people.
pub(super) struct Answer {
    pub(super) session: usize,
    pub(super) turn: usize,
    pub(super) claimed_by: Option<Life>,
    pub(super) handed_over: u32,
    pub(super) is_delivered: bool,
    /// Somebody handed it over and could not say so.
    pub(super) is_uncertain: bool,
}

impl World {
    pub(super) fn lives(&self, life: Life) -> bool {
        self.lives.get(&life).is_some_and(|end| *end > self.now)
    }

    /// What becomes of a write that nothing fences.
    pub(super) fn fate(&self, random: &mut Random) -> Written {
        match self.failing {
            0 => Written::Done,
            often if random.chance(often) => Written::Lost,
            often if random.chance(often * 2) => Written::Unheard,
            _ => Written::Done,
        }
    }

    /// The same of a write to a turn.
    pub(super) fn fate_of(&self, turn: usize, life: Life, random: &mut Random) -> Written {
        if self.turns[turn].holder == Some(life) && self.turns[turn].is_open {
            self.fate(random)
        } else {
            Written::Fenced
        }
    }

    /// `None` if another has it, and lives; else whether that one had left it.
    pub(super) fn take_lease(&mut self, session: usize, life: Life) -> Option<(u64, bool)> {
        let before = self.leases.get(&session).copied();
        if before.is_some_and(|(holder, _)| holder != life && self.lives(holder)) {
            return None;
        }
        self.tokens += 1;
        self.leases.insert(session, (life, self.tokens));
        Some((self.tokens, before.is_some()))
    }

    fn is_left_to(&self, life: Life, holder: Option<Life>) -> bool {
        holder.is_none_or(|holder| holder == life || !self.lives(holder))
    }

    pub(super) fn leftovers(&self, session: usize, life: Life) -> Leftovers {
        let turns = self.turns.iter().enumerate().filter(|(_, turn)| {
            let is_left = !turn.is_direct || self.is_left_to(life, turn.holder);
            turn.session == session && turn.is_open && is_left
        });
        let rows = self.rows.iter().enumerate().filter(|(_, row)| {
            let is_left = row.turn.is_none() && row.state != RowState::DealtWith;
            row.session == session && is_left && self.is_left_to(life, Some(row.holder))
        });
        Leftovers {
            turns: turns.map(|(id, _)| journal(id)).collect(),
            rows: rows.map(|(id, _)| id as i64).collect(),
        }
    }

    pub(super) fn waiting(&self, session: usize) -> Vec<usize> {
        let rows = self.rows.iter().enumerate().filter(|(_, row)| {
            row.session == session && row.turn.is_none() && row.state == RowState::Waiting
        });
        rows.map(|(id, _)| id).collect()
    }

    /// A turn takes the rows, unless one of them was taken meanwhile.
    pub(super) fn begin(&mut self, turn: Turn, rows: &[usize]) -> Option<usize> {
        if rows.iter().any(|row| self.rows[*row].turn.is_some()) {
            return None;
        }
        if !turn.is_direct {
            let mut others = self
                .turns
                .iter()
                .filter(|other| other.session == turn.session && other.is_open && !other.is_direct);
            assert!(
                others.all(|other| other.record.is_suspended()),
                "a turn began before another of its session had come to its end"
            );
        }
        let id = self.turns.len();
        self.turns.push(turn);
        for row in rows {
            self.take(*row, id);
        }
        Some(id)
    }

    pub(super) fn take(&mut self, row: usize, turn: usize) {
        let taken = &mut self.rows[row];
        taken.turn = Some(turn);
        taken.taken_at = self.now;
    }

    /// It ends and its answer is written, in one transaction.
    pub(super) fn finish(&mut self, turn: usize) {
        let ended = &mut self.turns[turn];
        assert!(ended.is_open, "a turn ended twice");
        ended.is_open = false;
        self.answers.push(Answer {
            session: ended.session,
            turn,
            claimed_by: None,
            handed_over: 0,
            is_delivered: false,
            is_uncertain: false,
        });
    }

    /// The oldest answer of the session that this one may hand over.
    pub(super) fn deliverable(&self, session: usize, life: Life) -> Option<usize> {
        let mut answers = self.answers.iter().enumerate();
        answers
            .find(|(_, answer)| answer.session == session && !answer.is_delivered)
            .filter(|(_, answer)| self.is_left_to(life, answer.claimed_by))
            .map(|(id, _)| id)
    }

    /// Everything has come to its end, once and in order.
    pub(super) fn check(&self) {
        for (id, row) in self.rows.iter().enumerate() {
            let answered = row.turn.is_some_and(|turn| !self.turns[turn].is_open);
            assert!(
                answered || row.state == RowState::DealtWith,
                "message {id} was accepted and never answered"
            );
        }
        for (id, turn) in self.turns.iter().enumerate() {
            assert!(!turn.is_open, "turn {id} never ended");
            turn.record.check();
            let answers = self.answers.iter().filter(|answer| answer.turn == id);
            assert_eq!(answers.count(), 1, "answers of turn {id}");
        }
        for answer in &self.answers {
            assert!(answer.is_delivered, "an answer never left");
            let once = answer.handed_over == 1 || answer.is_uncertain;
            assert!(once, "an answer left {} times", answer.handed_over);
        }
        let mut last: HashMap<(usize, usize), u64> = HashMap::new();
        for row in self.rows.iter().filter(|row| !row.was_offered) {
            let before = last.insert((row.session, row.user), row.taken_at);
            let in_order = before <= Some(row.taken_at);
            assert!(in_order, "a later message was answered first");
        }
        for (session, (holder, _)) in &self.leases {
            assert!(!self.lives(*holder), "session {session} was never given up");
        }
    }
}

pub(super) fn journal(turn: usize) -> JournalId {
    JournalId(uuid::Uuid::from_u128(turn as u128))
}

pub(super) fn number(turn: JournalId) -> usize {
    turn.0.as_u128() as usize
}
