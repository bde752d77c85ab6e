//! Timers of plugins: kept here by name and data, so that they outlive every worker. What is due is
//! claimed before anybody is told of it: a timer fires at most once for each time.

use callgate_contract::SessionKey;
use jiff::Timestamp;
use sqlx::any::AnyRow;
use uuid::Uuid;

use super::{MAX_TIMER_TEXT, Timers, check_room};
use crate::{
    StoreError,
    row::{self, get},
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
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let set = sqlx::query(
            "INSERT INTO timer (id, session, user_name, due_at, text, created_at, state,
                                flavour, plugin, name, payload, cron, timezone)
             VALUES ($1, $2, '', $3, $4, $5, 'waiting', $6, $7, $8, $9, $10, $11)
             ON CONFLICT (id) DO UPDATE SET
                 session = excluded.session, due_at = excluded.due_at, text = excluded.text,
                 state = 'waiting', plugin = excluded.plugin, name = excluded.name,
                 payload = excluded.payload, cron = excluded.cron, timezone = excluded.timezone
             WHERE timer.flavour = excluded.flavour",
        )
        .bind(timer.id.to_string())
        .bind(timer.session.to_string())
        .bind(timer.due_at.as_millisecond())
        .bind(timer.text.clone().into_bytes())
        .bind(row::now())
        .bind(timer.flavour.clone())
        .bind(timer.plugin.clone())
        .bind(timer.name.clone())
        .bind(timer.payload.clone())
        .bind(timer.cron.clone())
        .bind(timer.timezone.clone())
        .execute(writer.connection())
        .await?;
        check_room(writer.connection(), &timer.session).await?;
        writer.commit().await?;
        Ok(set.rows_affected() == 1)
    }

    /// The waiting timers of a flavour, the next one first.
    pub async fn of_plugins(&self, flavour: &str) -> Result<Vec<PluginTimer>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM timer WHERE flavour = $1 AND state = 'waiting' ORDER BY due_at, id",
        )
        .bind(flavour.to_owned())
        .fetch_all(&self.0.readers)
        .await?;
        rows.iter().map(read).collect()
    }

    /// False if the flavour has no such timer waiting.
    pub async fn cancel_of_plugins(&self, flavour: &str, id: Uuid) -> Result<bool, StoreError> {
        let mut writer = self.0.writer().await?;
        let cancelled = sqlx::query(
            "UPDATE timer SET state = 'cancelled'
             WHERE id = $1 AND flavour = $2 AND state = 'waiting'",
        )
        .bind(id.to_string())
        .bind(flavour.to_owned())
        .execute(writer.connection())
        .await?;
        writer.release();
        Ok(cancelled.rows_affected() == 1)
    }

    /// Of plugins, those whose time has come, the longest overdue first.
    pub async fn due_for_plugins(&self, now: Timestamp) -> Result<Vec<PluginTimer>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM timer WHERE flavour IS NOT NULL AND state = 'waiting' AND due_at <= $1
             ORDER BY due_at, id",
        )
        .bind(now.as_millisecond())
        .fetch_all(&self.0.readers)
        .await?;
        rows.iter().map(read).collect()
    }

    /// Takes the time that is due, and sets the next; false if another was faster.
    pub async fn claim(
        &self,
        timer: &PluginTimer,
        next: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let mut writer = self.0.writer().await?;
        let state = if next.is_some() { "waiting" } else { "fired" };
        let claimed = sqlx::query(
            "UPDATE timer SET state = $1, due_at = $2
             WHERE id = $3 AND state = 'waiting' AND due_at = $4",
        )
        .bind(state)
        .bind(next.unwrap_or(timer.due_at).as_millisecond())
        .bind(timer.id.to_string())
        .bind(timer.due_at.as_millisecond())
        .execute(writer.connection())
        .await?;
        writer.release();
        Ok(claimed.rows_affected() == 1)
    }
}

fn read(row: &AnyRow) -> Result<PluginTimer, StoreError> {
    Ok(PluginTimer {
        id: row::read_uuid(get(row, "id")?)?,
        flavour: get(row, "flavour")?,
        plugin: get(row, "plugin")?,
        name: get(row, "name")?,
        payload: get(row, "payload")?,
        session: row::read_session(get(row, "session")?)?,
        text: row::read_text("timer", get(row, "text")?)?,
        due_at: row::read_time(get(row, "due_at")?)?,
        cron: get(row, "cron")?,
        timezone: get(row, "timezone")?,
    })
}
