//! Timers of plugins: kept here by name and data, so that they outlive every worker. What is due is
//! claimed before anybody is told of it: a timer fires at most once for each time.

use callgate_contract::SessionKey;
use jiff::Timestamp;
use uuid::Uuid;

use super::{MAX_TIMER_TEXT, Timers, check_room};
use crate::{
    StoreError, crash_point,
    row::{self, get},
    tx::{Row, parameters},
};

/// Bytes of what goes along.
const MAX_PAYLOAD: usize = 256 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginTimer {
    pub id: Uuid,
    pub flavour: String,
    /// Empty where nobody knows who set it.
    pub plugin: String,
    pub name: String,
    /// Bytes of the value codec.
    pub payload: Vec<u8>,
    pub session: SessionKey,
    /// What people see of it.
    pub text: String,
    pub due_at: Timestamp,
    /// Five fields; `None` for once.
    pub cron: Option<String>,
    pub timezone: Option<String>,
}

impl Timers<'_> {
    /// Sets or replaces the timer; false if its id is somebody else's.
    pub async fn set_for_plugin(&self, timer: &PluginTimer) -> Result<bool, StoreError> {
        match timer.text.len().max(timer.payload.len()) {
            length if timer.text.len() > MAX_TIMER_TEXT || length > MAX_PAYLOAD => {
                return Err(StoreError::TimerSize { length });
            }
            _ => {}
        }
        let timer = timer.clone();
        self.0
            .write(move |tx| {
                let set = tx.writes_one(
                    "INSERT INTO timer (id, session, user_name, due_at, text, created_at, state,
                                        flavour, plugin, name, payload, cron, timezone)
                     VALUES (?1, ?2, '', ?3, ?4, ?5, 'waiting', ?6, ?7, ?8, ?9, ?10, ?11)
                     ON CONFLICT (id) DO UPDATE SET
                         session = excluded.session, due_at = excluded.due_at,
                         text = excluded.text, state = 'waiting', plugin = excluded.plugin,
                         name = excluded.name, payload = excluded.payload,
                         cron = excluded.cron, timezone = excluded.timezone
                     WHERE timer.flavour = excluded.flavour",
                    parameters![
                        timer.id,
                        timer.session.to_string(),
                        timer.due_at.as_millisecond(),
                        timer.text.as_bytes(),
                        row::now(),
                        timer.flavour,
                        timer.plugin,
                        timer.name,
                        timer.payload,
                        timer.cron,
                        timer.timezone,
                    ],
                )?;
                check_room(tx, &timer.session)?;
                Ok(set)
            })
            .await
    }

    /// The waiting timers of a flavour, the next one first.
    pub async fn of_plugins(&self, flavour: &str) -> Result<Vec<PluginTimer>, StoreError> {
        let flavour = flavour.to_owned();
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT * FROM timer WHERE flavour = ?1 AND state = 'waiting'
                     ORDER BY due_at, id",
                    parameters![flavour],
                )?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// False if the flavour has no such timer waiting.
    pub async fn cancel_of_plugins(&self, flavour: &str, id: Uuid) -> Result<bool, StoreError> {
        let flavour = flavour.to_owned();
        self.0
            .write(move |tx| {
                let cancelled = tx.writes_one(
                    "UPDATE timer SET state = 'cancelled'
                     WHERE id = ?1 AND flavour = ?2 AND state = 'waiting'",
                    parameters![id, flavour],
                )?;
                Ok(cancelled)
            })
            .await
    }

    /// Of plugins, those whose time has come, the longest overdue first.
    pub async fn due_for_plugins(&self, now: Timestamp) -> Result<Vec<PluginTimer>, StoreError> {
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT * FROM timer
                     WHERE flavour IS NOT NULL AND state = 'waiting' AND due_at <= ?1
                     ORDER BY due_at, id",
                    parameters![now.as_millisecond()],
                )?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Takes the time that is due, and sets the next; false if another was faster.
    pub async fn claim(
        &self,
        timer: &PluginTimer,
        next: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let (id, due) = (timer.id, timer.due_at.as_millisecond());
        let state = if next.is_some() { "waiting" } else { "fired" };
        let next = next.map_or(due, Timestamp::as_millisecond);
        let claimed = self
            .0
            .write(move |tx| {
                let claimed = tx.writes_one(
                    "UPDATE timer SET state = ?1, due_at = ?2
                     WHERE id = ?3 AND state = 'waiting' AND due_at = ?4",
                    parameters![state, next, id, due],
                )?;
                Ok(claimed)
            })
            .await?;
        crash_point("timer.after_claim");
        Ok(claimed)
    }
}

pub(crate) fn read(row: &Row) -> Result<PluginTimer, StoreError> {
    Ok(PluginTimer {
        id: get(row, "id")?,
        flavour: get(row, "flavour")?,
        plugin: get(row, "plugin")?,
        name: get(row, "name")?,
        payload: get(row, "payload")?,
        session: row::read_session(&get::<String>(row, "session")?)?,
        text: row::read_text("timer", get(row, "text")?)?,
        due_at: row::read_time(get(row, "due_at")?)?,
        cron: get(row, "cron")?,
        timezone: get(row, "timezone")?,
    })
}
