//! Timers: a text that arrives in its session at its time, as a message of whoever asked for it. A
//! firing is an arrival: the log row and the end of the timer, or its next time, are one transaction.

mod planned;
mod plugin;
mod repeat;

pub(crate) use planned::put_off;
pub use planned::{PlannedTimer, TimerAct, TimerPlan};
pub use plugin::PluginTimer;
pub(crate) use plugin::read as read_for_plugin;
pub use repeat::{InvalidRepeat, Repeat};

use callgate_contract::{Part, Principal, Provenance, Role, SessionKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    Incoming, LogRow, Reception, Sender, StoreError, crash_point,
    database::Database,
    log,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

/// Bytes.
pub const MAX_TIMER_TEXT: usize = 16 << 10;
/// That wait in one session.
pub const MAX_TIMERS: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerState {
    Waiting,
    Fired,
    Cancelled,
    /// Nobody was there at its time, nor within an hour of it.
    Missed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTimer {
    pub id: Uuid,
    pub session: SessionKey,
    /// Whose message it will be, and the role it will have.
    pub principal: Principal,
    pub role: Role,
    pub due_at: Timestamp,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Timer {
    pub id: Uuid,
    pub session: SessionKey,
    pub user: String,
    pub due_at: Timestamp,
    pub text: String,
    pub created_at: Timestamp,
    pub state: TimerState,
    /// `None` for one that a person has set.
    pub plan: Option<TimerPlan>,
}

pub struct Timers<'a>(pub(crate) &'a Database);

impl Timers<'_> {
    /// For people; a method asks with `Change::SetTimer`, so that it stands or falls with its
    /// call.
    pub async fn set(&self, timer: &NewTimer) -> Result<(), StoreError> {
        let timer = timer.clone();
        self.0.write(move |tx| set(tx, &timer)).await
    }

    /// False if the session has no such timer waiting.
    pub async fn cancel(&self, session: &SessionKey, id: Uuid) -> Result<bool, StoreError> {
        let session = session.clone();
        self.0.write(move |tx| cancel(tx, &session, id)).await
    }

    /// The session's waiting timers, the next one first.
    pub async fn list(&self, session: &SessionKey) -> Result<Vec<Timer>, StoreError> {
        let session = session.to_string();
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT * FROM timer WHERE session = ?1 AND state = 'waiting'
                     ORDER BY due_at, id",
                    parameters![session],
                )?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Waiting timers of all sessions, the next one first.
    pub async fn all(&self) -> Result<Vec<Timer>, StoreError> {
        self.0
            .read(|tx| {
                let select = "SELECT * FROM timer WHERE state = 'waiting' ORDER BY due_at, id";
                tx.query(select, &[])?.iter().map(read).collect()
            })
            .await
    }

    /// Waiting timers whose time has come, the longest overdue first.
    pub async fn due(&self, now: Timestamp) -> Result<Vec<Timer>, StoreError> {
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT * FROM timer
                     WHERE flavour IS NULL AND state = 'waiting' AND due_at <= ?1
                     ORDER BY due_at, id",
                    parameters![now.as_millisecond()],
                )?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// When the next text is due, so that a scheduler can sleep until then.
    pub async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.0
            .read(|tx| {
                let next: Option<Option<i64>> = tx.scalar(
                    "SELECT MIN(due_at) FROM timer WHERE flavour IS NULL AND state = 'waiting'",
                    &[],
                )?;
                next.flatten().map(row::read_time).transpose()
            })
            .await
    }

    /// The row that arrived, or `None` if the timer was not waiting: another was faster, or it was
    /// cancelled.
    pub async fn fire(&self, id: Uuid) -> Result<Option<LogRow>, StoreError> {
        let holder = self.0.holder();
        let arrived = self.0.write(move |tx| fire(tx, id, holder)).await?;
        if let Some(row) = &arrived {
            self.0.arrivals.tell(&row.session);
            crash_point("timer.after_fire");
        }
        Ok(arrived)
    }
}

fn fire(tx: &mut dyn Tx, id: Uuid, holder: Option<Uuid>) -> Result<Option<LogRow>, StoreError> {
    let waiting = tx.query_optional(
        "SELECT * FROM timer WHERE id = ?1 AND flavour IS NULL AND state = 'waiting'",
        parameters![id],
    )?;
    let Some(fired) = waiting else {
        return Ok(None);
    };
    let timer = read(&fired)?;
    let message_id = match &timer.plan {
        Some(plan) => match planned::claim(tx, &timer, plan)? {
            Some(due) => format!("timer:{id}:{}", due.as_millisecond()),
            None => return Ok(None),
        },
        None if end(tx, id)? => format!("timer:{id}"),
        None => return Ok(None),
    };
    let plan = timer.plan.as_ref();
    let reception = Reception {
        role: Some(row::read_word("role", get(&fired, "role")?)?),
        principal: Some(row::read_word("principal", get(&fired, "principal")?)?),
        provenance: Some(plan.map_or(Provenance::Timer, |plan| plan.act.provenance())),
        ..Reception::default()
    };
    let incoming = Incoming {
        session: timer.session,
        sender: Sender {
            id: timer.user.clone(),
            name: timer.user,
        },
        parts: vec![Part::text(timer.text)],
        message_id: Some(message_id),
        hidden: false,
        mentioned: plan.is_none_or(|plan| plan.regardless),
        sent_at: None,
    };
    let arrival = log::insert_incoming(tx, incoming, reception, holder)?;
    crash_point("timer.before_fire_commit");
    Ok(Some(arrival.row))
}

/// False if another was faster.
fn end(tx: &mut dyn Tx, id: Uuid) -> Result<bool, StoreError> {
    let update = "UPDATE timer SET state = 'fired' WHERE id = ?1 AND state = 'waiting'";
    Ok(tx.writes_one(update, parameters![id])?)
}

/// Setting a timer of an id that exists changes nothing.
pub(crate) fn set(tx: &mut dyn Tx, timer: &NewTimer) -> Result<(), StoreError> {
    match timer.text.len() {
        1..=MAX_TIMER_TEXT => {}
        length => return Err(StoreError::TimerSize { length }),
    }
    tx.execute(
        "INSERT INTO timer (id, session, user_name, principal, role, due_at, text, created_at, state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'waiting') ON CONFLICT (id) DO NOTHING",
        parameters![
            timer.id,
            timer.session.to_string(),
            timer.principal.user().as_ref(),
            timer.principal.to_string(),
            row::word(timer.role)?,
            timer.due_at.as_millisecond(),
            timer.text.as_bytes(),
            row::now(),
        ],
    )?;
    check_room(tx, &timer.session)
}

/// No more than [`MAX_TIMERS`] of the session wait, the one just set included.
fn check_room(tx: &mut dyn Tx, session: &SessionKey) -> Result<(), StoreError> {
    let count = "SELECT COUNT(*) FROM timer WHERE session = ?1 AND state = 'waiting'";
    let waiting: i64 = tx
        .query_one(count, parameters![session.to_string()])?
        .at(0)?;
    match usize::try_from(waiting) {
        Ok(waiting) if waiting <= MAX_TIMERS => Ok(()),
        _ => Err(StoreError::TooManyTimers),
    }
}

pub(crate) fn cancel(tx: &mut dyn Tx, session: &SessionKey, id: Uuid) -> Result<bool, StoreError> {
    let cancelled = tx.writes_one(
        "UPDATE timer SET state = 'cancelled'
         WHERE id = ?1 AND session = ?2 AND state = 'waiting'",
        parameters![id, session.to_string()],
    )?;
    Ok(cancelled)
}

fn read(row: &Row) -> Result<Timer, StoreError> {
    Ok(Timer {
        id: get(row, "id")?,
        session: row::read_session(&get::<String>(row, "session")?)?,
        user: get(row, "user_name")?,
        due_at: row::read_time(get(row, "due_at")?)?,
        text: row::read_text("timer", get(row, "text")?)?,
        created_at: row::read_time(get(row, "created_at")?)?,
        state: row::read_word("timer", get(row, "state")?)?,
        plan: planned::read_plan(row)?,
    })
}
