//! The rows of a history. Positions are given out under the conversation's row lock, so that
//! appends from anywhere never collide, interleave or leave a gap.

use callgate_contract::{ConversationId, JournalId};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value as Json;
use sqlx::{Row, any::AnyRow};

use super::{Conversation, Conversations, NewConversation, insert};
use crate::{
    StoreError,
    connection::Connection,
    row::{self, get},
};

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
        let mut writer = self.0.database.writer().await?;
        writer.begin().await?;
        let appended = append(writer.connection(), id, None, messages).await?;
        writer.commit().await?;
        appended.ok_or(StoreError::UnknownConversation(id))
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
        let rows = sqlx::query(
            "SELECT message.* FROM message JOIN conversation ON id = conversation
             WHERE id = $1 AND deleted_at IS NULL AND position >= first_position
             ORDER BY position",
        )
        .bind(id.to_string())
        .fetch_all(&self.0.database.readers)
        .await?;
        if rows.is_empty() {
            self.known(id).await?;
        }
        rows.iter().map(read).collect()
    }

    /// Does the history hold `text`, in any case? The engines do not fold case alike, so messages
    /// are looked through here.
    pub async fn holds(&self, id: ConversationId, text: &str) -> Result<bool, StoreError> {
        let text = text.to_lowercase();
        let rows = sqlx::query("SELECT message FROM message WHERE conversation = $1")
            .bind(id.to_string())
            .fetch_all(&self.0.database.readers)
            .await?;
        for row in &rows {
            let message: Option<String> = get(row, "message")?;
            if message.is_some_and(|message| message.to_lowercase().contains(&text)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The rows after the position `after`, summaries among them.
    pub async fn since(
        &self,
        id: ConversationId,
        after: u64,
    ) -> Result<Vec<HistoryRow>, StoreError> {
        let rows = sqlx::query(
            "SELECT message.* FROM message JOIN conversation ON id = conversation
             WHERE id = $1 AND deleted_at IS NULL AND position >= first_position AND position > $2
             ORDER BY position",
        )
        .bind(id.to_string())
        .bind(row::count(after))
        .fetch_all(&self.0.database.readers)
        .await?;
        rows.iter().map(read).collect()
    }

    /// What a model is to be shown: the newest summary, if any, then all it does not cover.
    pub async fn context(&self, id: ConversationId) -> Result<Vec<HistoryRow>, StoreError> {
        let rows = sqlx::query(
            "WITH summary AS (
                 SELECT position, covers FROM message
                 WHERE conversation = $1 AND covers IS NOT NULL
                   AND position >= (SELECT first_position FROM conversation WHERE id = $1)
                 ORDER BY position DESC LIMIT 1)
             SELECT message.* FROM message JOIN conversation ON id = conversation
             WHERE id = $1 AND deleted_at IS NULL AND position >= first_position
               AND (position IN (SELECT position FROM summary) OR covers IS NULL)
               AND position > COALESCE((SELECT covers FROM summary), 0)
             ORDER BY CASE WHEN covers IS NULL THEN 1 ELSE 0 END, position",
        )
        .bind(id.to_string())
        .fetch_all(&self.0.database.readers)
        .await?;
        if rows.is_empty() {
            self.known(id).await?;
        }
        rows.iter().map(read).collect()
    }

    /// What a model was to be shown when the history lay from position `first` to `last`; also once
    /// it was replaced since. Of a deleted conversation, nothing.
    pub async fn context_at(
        &self,
        id: ConversationId,
        (first, last): (u64, u64),
    ) -> Result<Vec<HistoryRow>, StoreError> {
        let rows = sqlx::query(
            "WITH summary AS (
                 SELECT position, covers FROM message
                 WHERE conversation = $1 AND covers IS NOT NULL AND position BETWEEN $2 AND $3
                 ORDER BY position DESC LIMIT 1)
             SELECT * FROM message
             WHERE conversation = $1 AND position BETWEEN $2 AND $3 AND message IS NOT NULL
               AND (position IN (SELECT position FROM summary) OR covers IS NULL)
               AND position > COALESCE((SELECT covers FROM summary), 0)
             ORDER BY CASE WHEN covers IS NULL THEN 1 ELSE 0 END, position",
        )
        .bind(id.to_string())
        .bind(row::count(first))
        .bind(row::count(last))
        .fetch_all(&self.0.database.readers)
        .await?;
        rows.iter().map(read).collect()
    }

    /// Appends a summary that stands for everything up to the position `upto`. Nothing is deleted.
    /// Returns the summary's own position.
    pub async fn compact(
        &self,
        id: ConversationId,
        upto: u64,
        summary: &NewMessage,
    ) -> Result<u64, StoreError> {
        let mut writer = self.0.database.writer().await?;
        writer.begin().await?;
        let Some(position) =
            append(writer.connection(), id, None, std::slice::from_ref(summary)).await?
        else {
            writer.rollback().await?;
            return Err(StoreError::UnknownConversation(id));
        };
        let marked = sqlx::query(
            "UPDATE message SET covers = $3 WHERE conversation = $1 AND position = $2
             AND $3 < $2 AND $3 >= (SELECT first_position FROM conversation WHERE id = $1)",
        )
        .bind(id.to_string())
        .bind(row::count(position))
        .bind(row::count(upto))
        .execute(writer.connection())
        .await?;
        if marked.rows_affected() == 0 {
            writer.rollback().await?;
            return Err(StoreError::Position { id, position: upto });
        }
        writer.commit().await?;
        Ok(position)
    }

    /// A new conversation of the same session with a copy of the history up to the position
    /// `upto`, or of all of it. The session stays where it is.
    pub async fn fork(
        &self,
        id: ConversationId,
        upto: Option<u64>,
    ) -> Result<Conversation, StoreError> {
        let origin = self.known(id).await?;
        let mut writer = self.0.database.writer().await?;
        writer.begin().await?;
        let new = NewConversation {
            platform: Some(origin.platform),
            messages: Vec::new(),
            title: origin.title,
            persona: origin.persona,
        };
        let fork = insert(writer.connection(), &origin.session, new).await?;
        // Positions begin at 1 again; a summary covers the same messages under their new ones.
        let copied = sqlx::query(
            "INSERT INTO message (conversation, position, message, hash, covers, turn, tokens,
                                  written_at)
             SELECT $2, position - first_position + 1, message, hash, covers - first_position + 1,
                    turn, tokens, written_at
             FROM message JOIN conversation ON id = conversation
             WHERE id = $1 AND deleted_at IS NULL
               AND position >= first_position AND position <= $3",
        )
        .bind(id.to_string())
        .bind(fork.id.to_string())
        .bind(upto.map_or(i64::MAX, row::count))
        .execute(writer.connection())
        .await?;
        sqlx::query("UPDATE conversation SET last_position = $2 WHERE id = $1")
            .bind(fork.id.to_string())
            .bind(row::count(copied.rows_affected()))
            .execute(writer.connection())
            .await?;
        writer.commit().await?;
        Ok(fork)
    }

    async fn known(&self, id: ConversationId) -> Result<Conversation, StoreError> {
        let found = self.get(id).await?;
        found.ok_or(StoreError::UnknownConversation(id))
    }
}

/// Returns the last position, or `None` where the conversation is unknown or deleted: then nothing
/// is written.
pub(crate) async fn append(
    connection: &mut Connection,
    id: ConversationId,
    turn: Option<JournalId>,
    messages: &[NewMessage],
) -> Result<Option<u64>, StoreError> {
    let count = messages.len() as i64;
    let now = row::now();
    let reserved = sqlx::query(
        "UPDATE conversation SET last_position = last_position + $2, updated_at = $3
         WHERE id = $1 AND deleted_at IS NULL RETURNING last_position",
    )
    .bind(id.to_string())
    .bind(count)
    .bind(now)
    .fetch_optional(&mut *connection)
    .await?;
    let Some(reserved) = reserved else {
        return Ok(None);
    };
    let last: i64 = reserved.try_get(0)?;
    for (position, new) in (last - count + 1..).zip(messages) {
        let text = new.message.to_string();
        sqlx::query(
            "INSERT INTO message (conversation, position, message, hash, turn, tokens, written_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(id.to_string())
        .bind(position)
        .bind(text.clone())
        .bind(row::hash(text.as_bytes()))
        .bind(turn.map(|turn| turn.0.to_string()))
        .bind(new.tokens.map(row::count))
        .bind(now)
        .execute(&mut *connection)
        .await?;
    }
    row::read_count("position", last).map(Some)
}

/// The old rows stay, before the start of the history.
pub(super) async fn replace(
    connection: &mut Connection,
    id: ConversationId,
    history: Vec<Json>,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE conversation SET first_position = last_position + 1 WHERE id = $1")
        .bind(id.to_string())
        .execute(&mut *connection)
        .await?;
    let messages: Vec<NewMessage> = history.into_iter().map(NewMessage::from).collect();
    append(connection, id, None, &messages).await?;
    Ok(())
}

pub(crate) fn read(row: &AnyRow) -> Result<HistoryRow, StoreError> {
    let covers: Option<i64> = get(row, "covers")?;
    let tokens: Option<i64> = get(row, "tokens")?;
    let turn: Option<String> = get(row, "turn")?;
    Ok(HistoryRow {
        position: row::read_count("position", get(row, "position")?)?,
        message: row::read_json("message", get(row, "message")?)?,
        covers: covers.map(|c| row::read_count("position", c)).transpose()?,
        turn: turn.as_deref().map(row::read_journal).transpose()?,
        tokens: tokens.map(|t| row::read_count("tokens", t)).transpose()?,
        at: row::read_time(get(row, "written_at")?)?,
    })
}
