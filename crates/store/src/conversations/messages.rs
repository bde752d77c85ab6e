//! The rows of a history. Positions are given out under the conversation's row lock, so that
//! appends from anywhere never collide, interleave or leave a gap.

use callgate_contract::{ConversationId, JournalId};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value as Json;

use super::{Conversation, Conversations, NewConversation, find, insert};
use crate::{
    StoreError,
    row::{self, get},
    tx::{Parameter, Row, Tx, parameters},
};

/// Messages written by one statement.
const BATCH: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub struct NewMessage {
    /// In OpenAI's shape.
    pub message: Json,
    /// Where known.
    pub tokens: Option<u64>,
}

impl From<Json> for NewMessage {
    fn from(message: Json) -> Self {
        NewMessage {
            message,
            tokens: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryRow {
    /// Ascending without gaps; the first of a new conversation is 1.
    pub position: u64,
    pub message: Json,
    /// Set on a summary: the last position it stands for.
    pub covers: Option<u64>,
    pub turn: Option<JournalId>,
    pub tokens: Option<u64>,
    pub at: Timestamp,
}

impl Conversations<'_> {
    /// Adjacent and in order, whoever else appends. Returns the last position.
    pub async fn append(
        &self,
        id: ConversationId,
        messages: &[NewMessage],
    ) -> Result<u64, StoreError> {
        let messages = messages.to_vec();
        let appended = self.0.write(move |tx| append(tx, id, None, &messages));
        appended.await?.ok_or(StoreError::UnknownConversation(id))
    }

    pub async fn add_message_pair(
        &self,
        id: ConversationId,
        user: Json,
        assistant: Json,
    ) -> Result<u64, StoreError> {
        self.append(id, &[user.into(), assistant.into()]).await
    }

    /// All rows, the summaries where they were written.
    pub async fn history(&self, id: ConversationId) -> Result<Vec<HistoryRow>, StoreError> {
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT message.* FROM message JOIN conversation ON id = conversation
                     WHERE id = ?1 AND deleted_at IS NULL AND position >= first_position
                     ORDER BY position",
                    parameters![id],
                )?;
                if rows.is_empty() {
                    known(tx, id)?;
                }
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Does the history hold `text`, in any case? The engines do not fold case alike, so messages
    /// are looked through here.
    pub async fn holds(&self, id: ConversationId, text: &str) -> Result<bool, StoreError> {
        let text = text.to_lowercase();
        let select = "SELECT message FROM message WHERE conversation = ?1 AND message IS NOT NULL";
        let messages: Vec<String> = self
            .0
            .read(move |tx| tx.scalars(select, parameters![id]))
            .await?;
        let mut messages = messages.iter();
        Ok(messages.any(|message| message.to_lowercase().contains(&text)))
    }

    /// The rows after the position `after`, summaries among them.
    pub async fn since(
        &self,
        id: ConversationId,
        after: u64,
    ) -> Result<Vec<HistoryRow>, StoreError> {
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT message.* FROM message JOIN conversation ON id = conversation
                     WHERE id = ?1 AND deleted_at IS NULL AND position >= first_position
                       AND position > ?2
                     ORDER BY position",
                    parameters![id, row::count(after)],
                )?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// What a model is to be shown: the newest summary, if any, then all it does not cover.
    pub async fn context(&self, id: ConversationId) -> Result<Vec<HistoryRow>, StoreError> {
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "WITH summary AS (
                         SELECT position, covers FROM message
                         WHERE conversation = ?1 AND covers IS NOT NULL
                           AND position >= (SELECT first_position FROM conversation WHERE id = ?1)
                         ORDER BY position DESC LIMIT 1)
                     SELECT message.* FROM message JOIN conversation ON id = conversation
                     WHERE id = ?1 AND deleted_at IS NULL AND position >= first_position
                       AND (position IN (SELECT position FROM summary) OR covers IS NULL)
                       AND position > COALESCE((SELECT covers FROM summary), 0)
                     ORDER BY CASE WHEN covers IS NULL THEN 1 ELSE 0 END, position",
                    parameters![id],
                )?;
                if rows.is_empty() {
                    known(tx, id)?;
                }
                rows.iter().map(read).collect()
            })
            .await
    }

    /// What a model was to be shown when the history lay from position `first` to `last`; also once
    /// it was replaced since. Of a deleted conversation, nothing.
    pub async fn context_at(
        &self,
        id: ConversationId,
        (first, last): (u64, u64),
    ) -> Result<Vec<HistoryRow>, StoreError> {
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "WITH summary AS (
                         SELECT position, covers FROM message
                         WHERE conversation = ?1 AND covers IS NOT NULL
                           AND position BETWEEN ?2 AND ?3
                         ORDER BY position DESC LIMIT 1)
                     SELECT * FROM message
                     WHERE conversation = ?1 AND position BETWEEN ?2 AND ?3
                       AND message IS NOT NULL
                       AND (position IN (SELECT position FROM summary) OR covers IS NULL)
                       AND position > COALESCE((SELECT covers FROM summary), 0)
                     ORDER BY CASE WHEN covers IS NULL THEN 1 ELSE 0 END, position",
                    parameters![id, row::count(first), row::count(last)],
                )?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Appends a summary that stands for everything up to the position `upto`. Nothing is deleted.
    /// Returns the summary's own position.
    pub async fn compact(
        &self,
        id: ConversationId,
        upto: u64,
        summary: &NewMessage,
    ) -> Result<u64, StoreError> {
        let summary = summary.clone();
        self.0
            .write(move |tx| {
                let appended = append(tx, id, None, &[summary])?;
                let position = appended.ok_or(StoreError::UnknownConversation(id))?;
                let marked = tx.writes_one(
                    "UPDATE message SET covers = ?3 WHERE conversation = ?1 AND position = ?2
                     AND ?3 < ?2
                     AND ?3 >= (SELECT first_position FROM conversation WHERE id = ?1)",
                    parameters![id, row::count(position), row::count(upto)],
                )?;
                let refused = StoreError::Position { id, position: upto };
                marked.then_some(position).ok_or(refused)
            })
            .await
    }

    /// A new conversation of the same session with a copy of the history up to the position
    /// `upto`, or of all of it. The session stays where it is.
    pub async fn fork(
        &self,
        id: ConversationId,
        upto: Option<u64>,
    ) -> Result<Conversation, StoreError> {
        self.0
            .write(move |tx| {
                let origin = known(tx, id)?;
                let new = NewConversation {
                    platform: Some(origin.platform),
                    messages: Vec::new(),
                    title: origin.title,
                    persona: origin.persona,
                };
                let fork = insert(tx, &origin.session, new)?;
                // Positions begin at 1 again; a summary covers the same messages under their new
                // ones.
                let copied = tx.execute(
                    "INSERT INTO message (conversation, position, message, hash, covers, turn,
                                          tokens, written_at)
                     SELECT ?2, position - first_position + 1, message, hash,
                            covers - first_position + 1, turn, tokens, written_at
                     FROM message JOIN conversation ON id = conversation
                     WHERE id = ?1 AND deleted_at IS NULL
                       AND position >= first_position AND position <= ?3",
                    parameters![id, fork.id, upto.map_or(i64::MAX, row::count)],
                )?;
                tx.execute(
                    "UPDATE conversation SET last_position = ?2 WHERE id = ?1",
                    parameters![fork.id, row::count(copied)],
                )?;
                Ok(fork)
            })
            .await
    }
}

fn known(tx: &mut dyn Tx, id: ConversationId) -> Result<Conversation, StoreError> {
    find(tx, id)?.ok_or(StoreError::UnknownConversation(id))
}

/// Returns the last position, or `None` where the conversation is unknown or deleted: then nothing
/// is written.
pub(crate) fn append(
    tx: &mut dyn Tx,
    id: ConversationId,
    turn: Option<JournalId>,
    messages: &[NewMessage],
) -> Result<Option<u64>, StoreError> {
    let (count, now) = (messages.len() as i64, row::now());
    let reserved: Option<i64> = tx.scalar(
        "UPDATE conversation SET last_position = last_position + ?2, updated_at = ?3
         WHERE id = ?1 AND deleted_at IS NULL RETURNING last_position",
        parameters![id, count, now],
    )?;
    let Some(last) = reserved else {
        return Ok(None);
    };
    let rows = (last - count + 1..).zip(messages).map(|(position, new)| {
        let text = new.message.to_string();
        let hash = row::hash(text.as_bytes());
        (position, text, hash, new.tokens.map(row::count))
    });
    let rows: Vec<_> = rows.collect();
    for batch in rows.chunks(BATCH) {
        let mut values: Vec<Parameter<'_>> = parameters![id, turn, now].to_vec();
        for (position, text, hash, tokens) in batch {
            values.extend_from_slice(parameters![*position, *text, *hash, *tokens]);
        }
        tx.execute(&insert_text(batch.len()), &values)?;
    }
    row::read_count("position", last).map(Some)
}

/// Inserts so many messages: `?1` to `?3` are of all of them, and four follow for each.
fn insert_text(messages: usize) -> String {
    let row = |message: usize| {
        let first = 4 + 4 * message;
        let [position, text, hash, tokens] = [first, first + 1, first + 2, first + 3];
        format!("(?1, ?{position}, ?{text}, ?{hash}, ?2, ?{tokens}, ?3)")
    };
    let rows: Vec<String> = (0..messages).map(row).collect();
    format!(
        "INSERT INTO message (conversation, position, message, hash, turn, tokens, written_at)
         VALUES {}",
        rows.join(", ")
    )
}

/// The old rows stay, before the start of the history.
pub(super) fn replace(
    tx: &mut dyn Tx,
    id: ConversationId,
    history: Vec<Json>,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE conversation SET first_position = last_position + 1 WHERE id = ?1",
        parameters![id],
    )?;
    let messages: Vec<NewMessage> = history.into_iter().map(NewMessage::from).collect();
    append(tx, id, None, &messages)?;
    Ok(())
}

pub(crate) fn read(row: &Row) -> Result<HistoryRow, StoreError> {
    let covers: Option<i64> = get(row, "covers")?;
    let tokens: Option<i64> = get(row, "tokens")?;
    Ok(HistoryRow {
        position: row::read_count("position", get(row, "position")?)?,
        message: row::read_json("message", &get::<String>(row, "message")?)?,
        covers: covers.map(|c| row::read_count("position", c)).transpose()?,
        turn: get(row, "turn")?,
        tokens: tokens.map(|t| row::read_count("tokens", t)).transpose()?,
        at: row::read_time(get(row, "written_at")?)?,
    })
}
