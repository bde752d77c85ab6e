//! The session's log: every message in and out, and the system rows. It only grows. What came in
//! is taken by at most one turn; the same message delivered twice is one row.

mod changed;
mod find;
mod judged;

use callgate_contract::{JournalId, Mode, Part, Principal, Provenance, Role, SessionKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::find::{LogQuery, Speaker};
use crate::{
    LeftBy, StoreError, crash_point,
    database::Database,
    instance,
    leftovers::{FoundOpen, left_behind},
    row::{self, get},
    tx::{Parameter, Row, Tx, parameters},
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
    /// When it was sent, by its platform's clock, in milliseconds since 1970; `None` where that is not
    /// known.
    pub sent_at: Option<i64>,
}

/// How a message is taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reception {
    /// The sender's, where known: after a restart nobody can tell by which way a message came.
    pub role: Option<Role>,
    /// Who sent it; `None` for the sender's account on the session's platform.
    pub principal: Option<Principal>,
    /// The id of the key that it came by: what the message begins ends with it.
    pub key: Option<String>,
    /// Listeners deal with it first: no turn takes it along before they have spoken.
    pub offered: bool,
    /// It is in need of no answer.
    pub dismissed: bool,
    /// The sender's wish, in place of what the session would choose.
    pub mode: Option<Mode>,
    pub model: Option<String>,
    /// Where nobody in the chat has said it.
    pub provenance: Option<Provenance>,
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
    /// Who sent it; `None` for the sender's account on the session's platform.
    #[serde(skip)]
    pub sender_principal: Option<Principal>,
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
    /// Whose words it is that nobody in the chat has said.
    #[schemars(with = "Option<String>")]
    pub provenance: Option<Provenance>,
}

impl LogRow {
    /// Who sent it.
    pub fn principal(&self) -> Principal {
        let account = || self.sender.as_ref().map_or("", |sender| &sender.id);
        let known = self.sender_principal.clone();
        known.unwrap_or_else(|| Principal::person(&self.session, account()))
    }
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
        provenance: Option<Provenance>,
        parts: &[Part],
    ) -> Result<i64, StoreError> {
        let (session, parts) = (session.clone(), parts.to_vec());
        self.0
            .write(move |tx| append(tx, None, &session, (role, provenance.as_ref()), &parts))
            .await
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
        let (message, holder) = (incoming.clone(), self.0.holder());
        let arrival = self
            .0
            .write(move |tx| insert_incoming(tx, message, reception, holder))
            .await?;
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
        let session = session.to_string();
        self.0
            .read(move |tx| {
                rows(
                    tx,
                    "SELECT * FROM log WHERE session = ?1 AND id > ?2 AND journal = ?3
                     AND role = 'assistant' ORDER BY id",
                    parameters![session, id, journal],
                )
            })
            .await
    }

    pub async fn get(&self, id: i64) -> Result<Option<LogRow>, StoreError> {
        self.0
            .read(move |tx| {
                let row = tx.query_optional("SELECT * FROM log WHERE id = ?1", parameters![id])?;
                row.as_ref().map(read).transpose()
            })
            .await
    }

    /// The newest `limit` rows, oldest first.
    pub async fn list(&self, session: &SessionKey, limit: u32) -> Result<Vec<LogRow>, StoreError> {
        let mut rows = self.before(session, None, limit).await?;
        rows.reverse();
        Ok(rows)
    }

    /// The newest `limit` rows before the row `before`, newest first; hidden ones too.
    pub async fn before(
        &self,
        session: &SessionKey,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<LogRow>, StoreError> {
        let (session, before) = (session.to_string(), before.unwrap_or(i64::MAX));
        self.0
            .read(move |tx| {
                rows(
                    tx,
                    "SELECT * FROM log WHERE session = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3",
                    parameters![session, before, limit],
                )
            })
            .await
    }

    /// The first `limit` rows after the row `after`, oldest first.
    pub async fn since(
        &self,
        session: &SessionKey,
        after: i64,
        limit: u32,
    ) -> Result<Vec<LogRow>, StoreError> {
        let session = session.to_string();
        self.0
            .read(move |tx| {
                rows(
                    tx,
                    "SELECT * FROM log WHERE session = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
                    parameters![session, after, limit],
                )
            })
            .await
    }

    /// The name under which `sender` last spoke in the session.
    pub async fn name_of(
        &self,
        session: &SessionKey,
        sender: &str,
    ) -> Result<Option<String>, StoreError> {
        let (session, sender) = (session.to_string(), sender.to_owned());
        self.0
            .read(move |tx| {
                let name: Option<Option<Vec<u8>>> = tx.scalar(
                    "SELECT sender_name FROM log WHERE session = ?1 AND sender = ?2
                     ORDER BY id DESC LIMIT 1",
                    parameters![session, sender],
                )?;
                let name = name.flatten().map(|name| row::read_text("sender", name));
                name.transpose()
            })
            .await
    }

    /// What came in and no turn has taken, oldest first; neither hidden rows nor dismissed ones.
    pub async fn unanswered(&self, session: &SessionKey) -> Result<Vec<LogRow>, StoreError> {
        let session = session.to_string();
        self.0
            .read(move |tx| {
                rows(
                    tx,
                    "SELECT * FROM log WHERE session = ?1
                     AND role = 'user' AND turn IS NULL AND hidden = 0 AND dismissed = 0
                     ORDER BY id",
                    parameters![session],
                )
            })
            .await
    }

    /// The same number as before: nothing came in since, so that nobody need look. `None`: other
    /// processes may write to this log.
    pub fn arrivals(&self, session: &SessionKey) -> Option<u64> {
        (!self.0.is_shared()).then(|| self.0.arrivals.count(session))
    }

    /// Sessions that have unanswered rows.
    pub async fn waiting(&self) -> Result<Vec<SessionKey>, StoreError> {
        self.0
            .read(|tx| {
                let sessions: Vec<String> = tx.scalars(
                    "SELECT session FROM log
                     WHERE role = 'user' AND turn IS NULL AND hidden = 0 AND dismissed = 0
                     GROUP BY session ORDER BY MIN(id)",
                    &[],
                )?;
                sessions.iter().map(|key| row::read_session(key)).collect()
            })
            .await
    }

    /// The rows need no answer of their own. What a turn has taken stays taken.
    pub async fn dismiss(&self, ids: &[i64]) -> Result<(), StoreError> {
        self.settle(
            ids,
            "UPDATE log SET dismissed = 1, offered = 0 WHERE id = ?1",
        )
        .await
    }

    /// Listeners have left the row to the turn.
    pub async fn release(&self, row: &LogRow) -> Result<(), StoreError> {
        let update = "UPDATE log SET dismissed = 0, offered = 0 WHERE id = ?1 AND offered = 1";
        self.settle(&[row.id], update).await?;
        self.0.arrivals.tell(&row.session);
        Ok(())
    }

    /// Listeners have dealt with the row. One that they have left to a turn meanwhile stays so.
    pub async fn dealt_with(&self, id: i64) -> Result<(), StoreError> {
        let update = "UPDATE log SET offered = 0 WHERE id = ?1 AND offered = 1";
        self.settle(&[id], update).await
    }

    /// The same where one of them has answered it.
    pub async fn answered_by_listener(&self, id: i64) -> Result<(), StoreError> {
        let update = "UPDATE log SET offered = 2 WHERE id = ?1 AND offered = 1";
        self.settle(&[id], update).await
    }

    /// The row is kept out of prompts and never answered.
    pub async fn hide(&self, id: i64) -> Result<(), StoreError> {
        let update = "UPDATE log SET dismissed = 1, offered = 0, hidden = 1 WHERE id = ?1";
        self.settle(&[id], update).await
    }

    /// Unanswered rows where a crash came between a message and its turn, oldest first.
    pub async fn left_unanswered(&self, by: LeftBy) -> Result<Vec<LogRow>, StoreError> {
        let select = concat!(
            "SELECT * FROM log
             WHERE role = 'user' AND turn IS NULL AND hidden = 0 AND dismissed = 0 AND ",
            left_behind!("log"),
            " ORDER BY id"
        );
        self.0
            .left_behind(select, by, FoundOpen::has_message, read)
            .await
    }

    /// The same of rows that listeners were dealing with.
    pub async fn left_offered(&self, by: LeftBy) -> Result<Vec<LogRow>, StoreError> {
        let select = concat!(
            "SELECT * FROM log WHERE offered = 1 AND turn IS NULL AND ",
            left_behind!("log"),
            " ORDER BY id"
        );
        self.0
            .left_behind(select, by, FoundOpen::has_message, read)
            .await
    }

    /// Rows that listeners are dealing with and no turn has taken.
    pub async fn offered(&self) -> Result<Vec<LogRow>, StoreError> {
        let select = "SELECT * FROM log WHERE offered = 1 AND turn IS NULL ORDER BY id";
        self.0.read(|tx| rows(tx, select, &[])).await
    }

    async fn settle(&self, ids: &[i64], update: &'static str) -> Result<(), StoreError> {
        let ids = ids.to_vec();
        crash_point("log.before_settle");
        self.0
            .write(move |tx| {
                for id in ids {
                    tx.execute(update, parameters![id])?;
                }
                Ok(())
            })
            .await?;
        crash_point("log.after_settle");
        Ok(())
    }

    /// All of them or, where one is another turn's or none of this session's, none. Taking again
    /// what the turn has is harmless.
    pub async fn take_for_turn(&self, turn: JournalId, ids: &[i64]) -> Result<(), StoreError> {
        let (ids, life) = (ids.to_vec(), self.0.holder());
        self.0
            .write(move |tx| match life {
                Some(life) if !instance::is_ours(tx, turn, life)? => {
                    Err(StoreError::Elsewhere(turn))
                }
                _ => take(tx, turn, &ids),
            })
            .await
    }
}

fn rows(
    tx: &mut dyn Tx,
    select: &str,
    parameters: &[Parameter<'_>],
) -> Result<Vec<LogRow>, StoreError> {
    tx.query(select, parameters)?.iter().map(read).collect()
}

/// The turn must exist: its session decides which rows it may take.
pub(crate) fn take(tx: &mut dyn Tx, turn: JournalId, ids: &[i64]) -> Result<(), StoreError> {
    for id in ids {
        let taken = tx.writes_one(
            "UPDATE log SET turn = ?1 WHERE id = ?2 AND role = 'user'
             AND (turn IS NULL OR turn = ?1)
             AND session = (SELECT session FROM turn WHERE turn.id = ?1)",
            parameters![turn, *id],
        )?;
        if !taken {
            return Err(StoreError::NotToTake { turn, row: *id });
        }
    }
    Ok(())
}

pub(crate) fn append(
    tx: &mut dyn Tx,
    journal: Option<JournalId>,
    session: &SessionKey,
    (role, provenance): (LogRole, Option<&Provenance>),
    parts: &[Part],
) -> Result<i64, StoreError> {
    let row = tx.query_one(
        "INSERT INTO log (session, role, parts, written_at, journal, provenance)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
        parameters![
            session.to_string(),
            row::word(role)?,
            row::json("parts", &parts)?,
            row::now(),
            journal,
            provenance.map(ToString::to_string),
        ],
    )?;
    row.at(0)
}

/// What was read of an answer whose end never came.
pub(crate) fn append_unfinished(
    tx: &mut dyn Tx,
    turn: JournalId,
    session: &SessionKey,
    text: &str,
) -> Result<(), StoreError> {
    let parts = [Part::text(text)];
    let id = append(tx, Some(turn), session, (LogRole::Assistant, None), &parts)?;
    tx.execute(
        "UPDATE log SET unfinished = 1 WHERE id = ?1",
        parameters![id],
    )?;
    Ok(())
}

pub(crate) fn insert_incoming(
    tx: &mut dyn Tx,
    incoming: Incoming,
    reception: Reception,
    holder: Option<Uuid>,
) -> Result<Arrival, StoreError> {
    let (session, now) = (incoming.session.to_string(), row::now());
    let usual = Principal::person(&incoming.session, incoming.sender.id.as_str());
    let principal = reception.principal.filter(|principal| *principal != usual);
    let id: Option<i64> = tx.scalar(
        "INSERT INTO log (session, role, parts, written_at, sender, sender_name, message_id,
                          hidden, mentioned, sender_role, dismissed, offered, holder, mode, model,
                          sender_principal, provenance, sender_key)
         VALUES (?1, 'user', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?17, ?10, ?11, ?12, ?13, ?14, ?15,
                 ?16)
         ON CONFLICT (session, message_id) WHERE message_id IS NOT NULL DO NOTHING RETURNING id",
        parameters![
            session,
            row::json("parts", &incoming.parts)?,
            now,
            incoming.sender.id,
            incoming.sender.name.as_bytes(),
            incoming.message_id,
            incoming.hidden,
            incoming.mentioned,
            reception.role.map(row::word).transpose()?,
            reception.offered,
            holder,
            reception.mode.map(row::word).transpose()?,
            reception.model,
            principal.as_ref().map(Principal::to_string),
            reception.provenance.as_ref().map(Provenance::to_string),
            reception.key,
            reception.offered || reception.dismissed,
        ],
    )?;
    let Some(id) = id else {
        let select = "SELECT * FROM log WHERE session = ?1 AND message_id = ?2";
        let first = tx.query_one(select, parameters![session, incoming.message_id])?;
        return Ok(Arrival {
            row: read(&first)?,
            repeated: true,
        });
    };
    Ok(Arrival {
        row: LogRow {
            id,
            session: incoming.session,
            role: LogRole::User,
            sender: Some(incoming.sender),
            sender_role: reception.role,
            sender_principal: principal,
            mode: reception.mode,
            model: reception.model,
            parts: incoming.parts,
            at: row::read_time(now)?,
            message_id: incoming.message_id,
            hidden: incoming.hidden,
            mentioned: incoming.mentioned,
            turn: None,
            unfinished: false,
            provenance: reception.provenance,
        },
        repeated: false,
    })
}

pub(crate) fn read(row: &Row) -> Result<LogRow, StoreError> {
    let sender: Option<String> = get(row, "sender")?;
    let name: Option<Vec<u8>> = get(row, "sender_name")?;
    let role: Option<String> = get(row, "sender_role")?;
    let principal: Option<String> = get(row, "sender_principal")?;
    let mode: Option<String> = get(row, "mode")?;
    let provenance: Option<String> = get(row, "provenance")?;
    Ok(LogRow {
        id: get(row, "id")?,
        session: row::read_session(&get::<String>(row, "session")?)?,
        role: row::read_word("role", get(row, "role")?)?,
        sender: match (sender, name) {
            (Some(id), name) => Some(Sender {
                id,
                name: row::read_text("sender", name.unwrap_or_default())?,
            }),
            (None, _) => None,
        },
        sender_role: role.map(|role| row::read_word("role", role)).transpose()?,
        sender_principal: principal
            .map(|principal| row::read_word("principal", principal))
            .transpose()?,
        mode: mode.map(|mode| row::read_word("mode", mode)).transpose()?,
        model: get(row, "model")?,
        parts: row::read_json("parts", &get::<String>(row, "parts")?)?,
        at: row::read_time(get(row, "written_at")?)?,
        message_id: get(row, "message_id")?,
        hidden: row::read_flag(get(row, "hidden")?),
        mentioned: row::read_flag(get(row, "mentioned")?),
        turn: get(row, "turn")?,
        unfinished: row::read_flag(get(row, "unfinished")?),
        provenance: provenance
            .map(|provenance| row::read_word("provenance", provenance))
            .transpose()?,
    })
}
