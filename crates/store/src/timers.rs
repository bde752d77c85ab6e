//! Timers: a text that arrives in its session at its time, as a message of the user who asked for
//! it. A firing is an arrival: the log row and the end of the timer are one transaction.

mod plugin;

pub use plugin::PluginTimer;

use callgate_contract::{Part, SessionKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::{
    Incoming, LogRow, Reception, Sender, StoreError,
    connection::Connection,
    crash_point,
    database::Database,
    log,
    row::{self, get},
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
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTimer {
    pub id: Uuid,
    pub session: SessionKey,
    pub user: String,
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
}

pub struct Timers<'a>(pub(crate) &'a Database);

impl Timers<'_> {
    /// For people; a method asks with `Change::SetTimer`, so that it stands or falls with its
    /// call.
    pub async fn set(&self, timer: &NewTimer) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        set(writer.connection(), timer).await?;
        writer.commit().await
    }

    /// False if the session has no such timer waiting.
    pub async fn cancel(&self, session: &SessionKey, id: Uuid) -> Result<bool, StoreError> {
        let mut writer = self.0.writer().await?;
        let cancelled = cancel(writer.connection(), session, id).await?;
        writer.release();
        Ok(cancelled)
    }

    /// The session's waiting timers, the next one first.
    pub async fn list(&self, session: &SessionKey) -> Result<Vec<Timer>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM timer WHERE session = $1 AND state = 'waiting' ORDER BY due_at, id",
        )
        .bind(session.to_string())
        .fetch_all(&self.0.readers)
        .await?;
        rows.iter().map(read).collect()
    }

    /// Waiting timers of all sessions, the next one first.
    pub async fn all(&self) -> Result<Vec<Timer>, StoreError> {
        let rows = sqlx::query("SELECT * FROM timer WHERE state = 'waiting' ORDER BY due_at, id")
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().map(read).collect()
    }

    /// Waiting timers whose time has come, the longest overdue first.
    pub async fn due(&self, now: Timestamp) -> Result<Vec<Timer>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM timer WHERE flavour IS NULL AND state = 'waiting' AND due_at <= $1
             ORDER BY due_at, id",
        )
        .bind(now.as_millisecond())
        .fetch_all(&self.0.readers)
        .await?;
        rows.iter().map(read).collect()
    }

    /// When the next text is due, so that a scheduler can sleep until then.
    pub async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let next: Option<i64> = sqlx::query_scalar(
            "SELECT MIN(due_at) FROM timer WHERE flavour IS NULL AND state = 'waiting'",
        )
        .fetch_one(&self.0.readers)
        .await?;
        next.map(row::read_time).transpose()
    }

    /// The row that arrived, or `None` if the timer was not waiting: another was faster, or it was
    /// cancelled.
    pub async fn fire(&self, id: Uuid) -> Result<Option<LogRow>, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let fired = sqlx::query(
            "UPDATE timer SET state = 'fired'
             WHERE id = $1 AND flavour IS NULL AND state = 'waiting' RETURNING *",
        )
        .bind(id.to_string())
        .fetch_optional(writer.connection())
        .await?;
        let Some(timer) = fired.as_ref().map(read).transpose()? else {
            writer.rollback().await?;
            return Ok(None);
        };
        let incoming = Incoming {
            session: timer.session,
            sender: Sender {
                id: timer.user.clone(),
                name: timer.user,
            },
            parts: vec![Part::text(timer.text)],
            message_id: Some(format!("timer:{id}")),
            hidden: false,
            mentioned: true,
        };
        let (reception, holder) = (Reception::default(), self.0.holder());
        let arrival =
            log::insert_incoming(writer.connection(), &incoming, reception, holder).await?;
        crash_point("timer.before_fire_commit");
        writer.commit().await?;
        self.0.arrivals.tell(&arrival.row.session);
        crash_point("timer.after_fire");
        Ok(Some(arrival.row))
    }
}

/// Setting a timer of an id that exists changes nothing.
pub(crate) async fn set(connection: &mut Connection, timer: &NewTimer) -> Result<(), StoreError> {
    match timer.text.len() {
        1..=MAX_TIMER_TEXT => {}
        length => return Err(StoreError::TimerSize { length }),
    }
    sqlx::query(
        "INSERT INTO timer (id, session, user_name, due_at, text, created_at, state)
         VALUES ($1, $2, $3, $4, $5, $6, 'waiting') ON CONFLICT (id) DO NOTHING",
    )
    .bind(timer.id.to_string())
    .bind(timer.session.to_string())
    .bind(timer.user.clone())
    .bind(timer.due_at.as_millisecond())
    .bind(timer.text.clone().into_bytes())
    .bind(row::now())
    .execute(&mut *connection)
    .await?;
    check_room(connection, &timer.session).await
}

/// No more than [`MAX_TIMERS`] of the session wait, the one just set included.
async fn check_room(connection: &mut Connection, session: &SessionKey) -> Result<(), StoreError> {
    let waiting: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM timer WHERE session = $1 AND state = 'waiting'")
            .bind(session.to_string())
            .fetch_one(connection)
            .await?;
    match usize::try_from(waiting) {
        Ok(waiting) if waiting <= MAX_TIMERS => Ok(()),
        _ => Err(StoreError::TooManyTimers),
    }
}

pub(crate) async fn cancel(
    connection: &mut Connection,
    session: &SessionKey,
    id: Uuid,
) -> Result<bool, StoreError> {
    let cancelled = sqlx::query(
        "UPDATE timer SET state = 'cancelled'
         WHERE id = $1 AND session = $2 AND state = 'waiting'",
    )
    .bind(id.to_string())
    .bind(session.to_string())
    .execute(connection)
    .await?;
    Ok(cancelled.rows_affected() == 1)
}

fn read(row: &AnyRow) -> Result<Timer, StoreError> {
    Ok(Timer {
        id: row::read_uuid(get(row, "id")?)?,
        session: row::read_session(get(row, "session")?)?,
        user: get(row, "user_name")?,
        due_at: row::read_time(get(row, "due_at")?)?,
        text: row::read_text("timer", get(row, "text")?)?,
        created_at: row::read_time(get(row, "created_at")?)?,
        state: row::read_word("timer", get(row, "state")?)?,
    })
}
