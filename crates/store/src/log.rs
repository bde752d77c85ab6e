//! The session's log: every message in and out, and the system rows. It only grows. What came in
//! is taken by at most one turn; the same message delivered twice is one row.

use callgate_contract::{JournalId, Part, SessionKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{AnyConnection, any::AnyRow};

use crate::{
    StoreError, crash_point,
    database::{Database, next_id},
    row::{self, get},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogRole {
    User,
    Assistant,
    System,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sender {
    pub id: String,
    pub name: String,
}

/// A message on its way in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    pub session: SessionKey,
    pub sender: Sender,
    pub parts: Vec<Part>,
    /// The platform's own id; a second message of the same id is the first one delivered again.
    pub message_id: Option<String>,
    /// Kept out of prompts and never answered.
    pub hidden: bool,
    /// It is meant for the bot: a mention, a reply, a private message.
    pub mentioned: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogRow {
    /// Ascending within the store.
    pub id: i64,
    pub session: SessionKey,
    pub role: LogRole,
    /// Of what came in.
    pub sender: Option<Sender>,
    /// Empty once erased.
    pub parts: Vec<Part>,
    pub at: Timestamp,
    pub message_id: Option<String>,
    pub hidden: bool,
    pub mentioned: bool,
    /// The turn that took it.
    pub turn: Option<JournalId>,
}

/// What [`Log::append_incoming`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub row: LogRow,
    /// The platform delivered it before: the row is the first one's.
    pub repeated: bool,
}

pub struct Log<'a>(pub(crate) &'a Database);

impl Log<'_> {
    /// Returns the row's id.
    pub async fn append(
        &self,
        session: &SessionKey,
        role: LogRole,
        parts: &[Part],
    ) -> Result<i64, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let id = append(writer.connection(), None, session, role, parts).await?;
        writer.commit().await?;
        Ok(id)
    }

    /// Durable when it returns: from here on the message is not lost.
    pub async fn append_incoming(&self, incoming: &Incoming) -> Result<Arrival, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let arrival = insert_incoming(writer.connection(), incoming).await?;
        match arrival.repeated {
            // Keeps the number for the next row.
            true => writer.rollback().await?,
            false => writer.commit().await?,
        }
        crash_point("log.after_incoming");
        Ok(arrival)
    }

    /// The newest `limit` rows, oldest first.
    pub async fn list(&self, session: &SessionKey, limit: u32) -> Result<Vec<LogRow>, StoreError> {
        let select = sqlx::query("SELECT * FROM log WHERE session = $1 ORDER BY id DESC LIMIT $2");
        let rows = select
            .bind(session.to_string())
            .bind(i64::from(limit))
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().rev().map(read).collect()
    }

    /// The first `limit` rows after the row `after`, oldest first.
    pub async fn since(
        &self,
        session: &SessionKey,
        after: i64,
        limit: u32,
    ) -> Result<Vec<LogRow>, StoreError> {
        let select =
            sqlx::query("SELECT * FROM log WHERE session = $1 AND id > $2 ORDER BY id LIMIT $3");
        let rows = select
            .bind(session.to_string())
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().map(read).collect()
    }

    /// What came in and no turn has taken, oldest first; neither hidden rows nor dismissed ones.
    pub async fn unanswered(&self, session: &SessionKey) -> Result<Vec<LogRow>, StoreError> {
        let select = sqlx::query(
            "SELECT * FROM log WHERE session = $1
             AND role = 'user' AND turn IS NULL AND hidden = 0 AND dismissed = 0 ORDER BY id",
        );
        let rows = select
            .bind(session.to_string())
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().map(read).collect()
    }

    /// Sessions that have unanswered rows: after a start, where a crash may have cut in between a
    /// message and its turn.
    pub async fn waiting(&self) -> Result<Vec<SessionKey>, StoreError> {
        let select = sqlx::query_scalar(
            "SELECT session FROM log
             WHERE role = 'user' AND turn IS NULL AND hidden = 0 AND dismissed = 0
             GROUP BY session ORDER BY MIN(id)",
        );
        let sessions: Vec<String> = select.fetch_all(&self.0.readers).await?;
        sessions.iter().map(|key| row::read_session(key)).collect()
    }

    /// The rows need no answer of their own. What a turn has taken stays taken.
    pub async fn dismiss(&self, ids: &[i64]) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        for id in ids {
            let update = sqlx::query("UPDATE log SET dismissed = 1 WHERE id = $1");
            update.bind(*id).execute(writer.connection()).await?;
        }
        writer.commit().await
    }

    /// All of them or, where one is another turn's or none of this session's, none. Taking again
    /// what the turn has is harmless.
    pub async fn take_for_turn(&self, turn: JournalId, ids: &[i64]) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        match take(writer.connection(), turn, ids).await {
            Ok(()) => writer.commit().await,
            Err(error) => {
                writer.rollback().await?;
                Err(error)
            }
        }
    }
}

/// The turn must exist: its session decides which rows it may take.
pub(crate) async fn take(
    connection: &mut AnyConnection,
    turn: JournalId,
    ids: &[i64],
) -> Result<(), StoreError> {
    for id in ids {
        let taken = sqlx::query(
            "UPDATE log SET turn = $1 WHERE id = $2 AND role = 'user'
             AND (turn IS NULL OR turn = $1)
             AND session = (SELECT session FROM turn WHERE turn.id = $1)",
        )
        .bind(turn.0.to_string())
        .bind(*id)
        .execute(&mut *connection)
        .await?;
        if taken.rows_affected() == 0 {
            return Err(StoreError::NotToTake { turn, row: *id });
        }
    }
    Ok(())
}

pub(crate) async fn append(
    connection: &mut AnyConnection,
    journal: Option<JournalId>,
    session: &SessionKey,
    role: LogRole,
    parts: &[Part],
) -> Result<i64, StoreError> {
    let id = next_id(connection, "log").await?;
    sqlx::query(
        "INSERT INTO log (id, session, role, parts, written_at, journal)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(id)
    .bind(session.to_string())
    .bind(row::word(role)?)
    .bind(row::json("parts", &parts)?)
    .bind(row::now())
    .bind(journal.map(|journal| journal.0.to_string()))
    .execute(connection)
    .await?;
    Ok(id)
}

pub(crate) async fn insert_incoming(
    connection: &mut AnyConnection,
    incoming: &Incoming,
) -> Result<Arrival, StoreError> {
    let id = next_id(connection, "log").await?;
    let inserted = sqlx::query(
        "INSERT INTO log (id, session, role, parts, written_at, sender, sender_name, message_id,
                          hidden, mentioned)
         VALUES ($1, $2, 'user', $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (session, message_id) DO NOTHING",
    )
    .bind(id)
    .bind(incoming.session.to_string())
    .bind(row::json("parts", &incoming.parts)?)
    .bind(row::now())
    .bind(incoming.sender.id.clone())
    .bind(incoming.sender.name.clone().into_bytes())
    .bind(incoming.message_id.clone())
    .bind(row::flag(incoming.hidden))
    .bind(row::flag(incoming.mentioned))
    .execute(&mut *connection)
    .await?;
    let repeated = inserted.rows_affected() == 0;
    let select = match repeated {
        true => sqlx::query("SELECT * FROM log WHERE session = $1 AND message_id = $2")
            .bind(incoming.session.to_string())
            .bind(incoming.message_id.clone()),
        false => sqlx::query("SELECT * FROM log WHERE id = $1").bind(id),
    };
    let row = read(&select.fetch_one(connection).await?)?;
    Ok(Arrival { row, repeated })
}

fn read(row: &AnyRow) -> Result<LogRow, StoreError> {
    let sender: Option<String> = get(row, "sender")?;
    let name: Option<Vec<u8>> = get(row, "sender_name")?;
    let turn: Option<String> = get(row, "turn")?;
    Ok(LogRow {
        id: get(row, "id")?,
        session: row::read_session(get(row, "session")?)?,
        role: row::read_word("role", get(row, "role")?)?,
        sender: match (sender, name) {
            (Some(id), name) => Some(Sender {
                id,
                name: row::read_text("sender", name.unwrap_or_default())?,
            }),
            (None, _) => None,
        },
        parts: row::read_json("parts", get(row, "parts")?)?,
        at: row::read_time(get(row, "written_at")?)?,
        message_id: get(row, "message_id")?,
        hidden: row::read_flag(get(row, "hidden")?),
        mentioned: row::read_flag(get(row, "mentioned")?),
        turn: turn.as_deref().map(row::read_journal).transpose()?,
    })
}
