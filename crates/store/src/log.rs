//! The session's log: every message in and out, and the system rows. It only grows. What came in
//! is taken by at most one turn; the same message delivered twice is one row.

mod find;

use callgate_contract::{JournalId, Mode, Part, Role, SessionKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;

pub use self::find::{LogQuery, Speaker};
use crate::{
    StoreError,
    connection::Connection,
    crash_point,
    database::{Database, next_id},
    instance::{self, left_behind},
    row::{self, get},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogRole {
    User,
    Assistant,
    System,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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

/// How a message is taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reception {
    /// The sender's, where known: after a restart nobody can tell by which way a message came.
    pub role: Option<Role>,
    /// Listeners deal with it first: no turn takes it along before they have spoken.
    pub offered: bool,
    /// The sender's wish, in place of what the session would choose.
    pub mode: Option<Mode>,
    pub model: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LogRow {
    /// Ascending within the store.
    pub id: i64,
    pub session: SessionKey,
    pub role: LogRole,
    /// Of what came in.
    pub sender: Option<Sender>,
    /// The sender's when it came in, where that was known.
    #[serde(skip)]
    pub sender_role: Option<Role>,
    /// In which mode and by which model its sender wants it answered.
    #[serde(skip)]
    pub mode: Option<Mode>,
    #[serde(skip)]
    pub model: Option<String>,
    /// Empty once erased.
    pub parts: Vec<Part>,
    #[schemars(with = "String")]
    pub at: Timestamp,
    pub message_id: Option<String>,
    pub hidden: bool,
    pub mentioned: bool,
    /// The turn that took it.
    pub turn: Option<JournalId>,
    /// The beginning of an answer that was stopped, or broke off.
    pub unfinished: bool,
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

    /// [`Log::receive`] where nothing more is known of the message.
    pub async fn append_incoming(&self, incoming: &Incoming) -> Result<Arrival, StoreError> {
        self.receive(incoming, Reception::default()).await
    }

    /// Durable when it returns: from here on the message is not lost.
    pub async fn receive(
        &self,
        incoming: &Incoming,
        reception: Reception,
    ) -> Result<Arrival, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let holder = self.0.holder();
        let arrival = insert_incoming(writer.connection(), incoming, reception, holder).await?;
        if arrival.repeated {
            // Keeps the number for the next row.
            writer.rollback().await?;
        } else {
            writer.commit().await?;
        }
        self.0.arrivals.tell(&incoming.session);
        crash_point("log.after_incoming");
        Ok(arrival)
    }

    /// What the turn or run `journal` has said in the session after row `id`, oldest first.
    pub async fn said_in(
        &self,
        session: &SessionKey,
        journal: JournalId,
        id: i64,
    ) -> Result<Vec<LogRow>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM log WHERE session = $1 AND id > $2 AND journal = $3
             AND role = 'assistant' ORDER BY id",
        )
        .bind(session.to_string())
        .bind(id)
        .bind(journal.0.to_string())
        .fetch_all(&self.0.readers)
        .await?;
        rows.iter().map(read).collect()
    }

    pub async fn get(&self, id: i64) -> Result<Option<LogRow>, StoreError> {
        let select = sqlx::query("SELECT * FROM log WHERE id = $1").bind(id);
        let row = select.fetch_optional(&self.0.readers).await?;
        row.as_ref().map(read).transpose()
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

    /// The newest `limit` rows before the row `before`, newest first; hidden ones too.
    pub async fn before(
        &self,
        session: &SessionKey,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<LogRow>, StoreError> {
        let select = sqlx::query(
            "SELECT * FROM log WHERE session = $1 AND id < $2 ORDER BY id DESC LIMIT $3",
        );
        let rows = select
            .bind(session.to_string())
            .bind(before.unwrap_or(i64::MAX))
            .bind(i64::from(limit))
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().map(read).collect()
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

    /// The name under which `sender` last spoke in the session.
    pub async fn name_of(
        &self,
        session: &SessionKey,
        sender: &str,
    ) -> Result<Option<String>, StoreError> {
        let name: Option<Option<Vec<u8>>> = sqlx::query_scalar(
            "SELECT sender_name FROM log WHERE session = $1 AND sender = $2
             ORDER BY id DESC LIMIT 1",
        )
        .bind(session.to_string())
        .bind(sender.to_owned())
        .fetch_optional(&self.0.readers)
        .await?;
        let name = name.flatten().map(|name| row::read_text("sender", name));
        name.transpose()
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

    /// The same number as before: nothing came in since, so that nobody need look. `None`: other
    /// processes may write to this log.
    pub fn arrivals(&self, session: &SessionKey) -> Option<u64> {
        (!self.0.is_shared()).then(|| self.0.arrivals.count(session))
    }

    /// Sessions that have unanswered rows.
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
        self.settle(
            ids,
            "UPDATE log SET dismissed = 1, offered = 0 WHERE id = $1",
        )
        .await
    }

    /// Listeners have left the row to the turn.
    pub async fn release(&self, row: &LogRow) -> Result<(), StoreError> {
        let update = "UPDATE log SET dismissed = 0, offered = 0 WHERE id = $1 AND offered = 1";
        self.settle(&[row.id], update).await?;
        self.0.arrivals.tell(&row.session);
        Ok(())
    }

    /// Listeners have dealt with the row. One that they have left to a turn meanwhile stays so.
    pub async fn dealt_with(&self, id: i64) -> Result<(), StoreError> {
        let update = "UPDATE log SET offered = 0 WHERE id = $1 AND offered = 1";
        self.settle(&[id], update).await
    }

    /// The row is kept out of prompts and never answered.
    pub async fn hide(&self, id: i64) -> Result<(), StoreError> {
        let update = "UPDATE log SET dismissed = 1, offered = 0, hidden = 1 WHERE id = $1";
        self.settle(&[id], update).await
    }

    /// Unanswered rows where a crash came between a message and its turn, oldest first: what came to
    /// us before `start`, when we did not yet run, or to an instance that is gone.
    pub async fn left_unanswered(&self, start: Timestamp) -> Result<Vec<LogRow>, StoreError> {
        let select = concat!(
            "SELECT * FROM log
             WHERE role = 'user' AND turn IS NULL AND hidden = 0 AND dismissed = 0 AND ",
            left_behind!("log", "written_at"),
            " ORDER BY id"
        );
        let rows = self.0.left_behind(select, start).await?;
        rows.iter().map(read).collect()
    }

    /// The same of rows that listeners were dealing with.
    pub async fn left_offered(&self, start: Timestamp) -> Result<Vec<LogRow>, StoreError> {
        let select = concat!(
            "SELECT * FROM log WHERE offered = 1 AND turn IS NULL AND ",
            left_behind!("log", "written_at"),
            " ORDER BY id"
        );
        let rows = self.0.left_behind(select, start).await?;
        rows.iter().map(read).collect()
    }

    /// Rows that listeners are dealing with and no turn has taken.
    pub async fn offered(&self) -> Result<Vec<LogRow>, StoreError> {
        let select = "SELECT * FROM log WHERE offered = 1 AND turn IS NULL ORDER BY id";
        let rows = sqlx::query(select).fetch_all(&self.0.readers).await?;
        rows.iter().map(read).collect()
    }

    async fn settle(&self, ids: &[i64], update: &'static str) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        for id in ids {
            let update = sqlx::query(update).bind(*id);
            update.execute(writer.connection()).await?;
        }
        writer.commit().await
    }

    /// All of them or, where one is another turn's or none of this session's, none. Taking again
    /// what the turn has is harmless.
    pub async fn take_for_turn(&self, turn: JournalId, ids: &[i64]) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let (connection, life) = (writer.connection(), &self.0.instance.life);
        if self.0.is_shared() && !instance::is_ours(connection, turn, life).await? {
            writer.rollback().await?;
            return Err(StoreError::Elsewhere(turn));
        }
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
    connection: &mut Connection,
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
    connection: &mut Connection,
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

/// What was read of an answer whose end never came.
pub(crate) async fn append_unfinished(
    connection: &mut Connection,
    turn: JournalId,
    session: &SessionKey,
    text: &str,
) -> Result<(), StoreError> {
    let parts = [Part::text(text)];
    let id = append(connection, Some(turn), session, LogRole::Assistant, &parts).await?;
    sqlx::query("UPDATE log SET unfinished = 1 WHERE id = $1")
        .bind(id)
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn insert_incoming(
    connection: &mut Connection,
    incoming: &Incoming,
    reception: Reception,
    holder: Option<String>,
) -> Result<Arrival, StoreError> {
    let id = next_id(connection, "log").await?;
    let role = reception.role.map(row::word).transpose()?;
    let inserted = sqlx::query(
        "INSERT INTO log (id, session, role, parts, written_at, sender, sender_name, message_id,
                          hidden, mentioned, sender_role, dismissed, offered, holder, mode, model)
         VALUES ($1, $2, 'user', $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14)
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
    .bind(role)
    .bind(row::flag(reception.offered))
    .bind(holder)
    .bind(reception.mode.map(row::word).transpose()?)
    .bind(reception.model)
    .execute(&mut *connection)
    .await?;
    let repeated = inserted.rows_affected() == 0;
    let select = if repeated {
        sqlx::query("SELECT * FROM log WHERE session = $1 AND message_id = $2")
            .bind(incoming.session.to_string())
            .bind(incoming.message_id.clone())
    } else {
        sqlx::query("SELECT * FROM log WHERE id = $1").bind(id)
    };
    let row = read(&select.fetch_one(connection).await?)?;
    Ok(Arrival { row, repeated })
}

pub(crate) fn read(row: &AnyRow) -> Result<LogRow, StoreError> {
    let sender: Option<String> = get(row, "sender")?;
    let name: Option<Vec<u8>> = get(row, "sender_name")?;
    let turn: Option<String> = get(row, "turn")?;
    let role: Option<String> = get(row, "sender_role")?;
    let mode: Option<String> = get(row, "mode")?;
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
        sender_role: role.map(|role| row::read_word("role", role)).transpose()?,
        mode: mode.map(|mode| row::read_word("mode", mode)).transpose()?,
        model: get(row, "model")?,
        parts: row::read_json("parts", get(row, "parts")?)?,
        at: row::read_time(get(row, "written_at")?)?,
        message_id: get(row, "message_id")?,
        hidden: row::read_flag(get(row, "hidden")?),
        mentioned: row::read_flag(get(row, "mentioned")?),
        turn: turn.as_deref().map(row::read_journal).transpose()?,
        unfinished: row::read_flag(get(row, "unfinished")?),
    })
}
