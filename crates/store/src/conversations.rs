//! Conversations: the model's histories, of which a session has a current one. Messages are rows
//! with positions without gaps, and history only grows: replacing it moves where it starts, a
//! summary stands before what it covers. Every id is checked against the session that asks.

mod erase;
mod messages;

use callgate_contract::{ConversationId, SessionKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sqlx::any::AnyRow;

pub use self::messages::{HistoryRow, NewMessage};
pub(crate) use self::{
    erase::{erase, erase_turn},
    messages::{append, read as read_message},
};
use crate::{
    Journal, StoreError,
    connection::Connection,
    row::{self, get},
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Conversation {
    pub id: ConversationId,
    pub session: SessionKey,
    pub platform: String,
    pub title: Option<String>,
    pub persona: Option<String>,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    #[schemars(with = "String")]
    pub updated_at: Timestamp,
    /// Where its history begins and ends. Whatever changes the history moves the end.
    #[serde(skip)]
    pub extent: (u64, u64),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewConversation {
    /// The session's where `None`.
    pub platform: Option<String>,
    /// The first history, in OpenAI's shape.
    pub messages: Vec<Json>,
    pub title: Option<String>,
    pub persona: Option<String>,
}

/// `None` leaves a field as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationUpdate {
    /// Replaces the whole history.
    pub history: Option<Vec<Json>>,
    pub title: Option<String>,
    pub persona: Option<String>,
}

pub struct Conversations<'a>(pub(crate) &'a Journal);

impl Conversations<'_> {
    /// Makes a conversation and switches the session to it.
    pub async fn create(
        &self,
        session: &SessionKey,
        new: NewConversation,
    ) -> Result<Conversation, StoreError> {
        let mut writer = self.0.database.writer().await?;
        writer.begin().await?;
        let conversation = insert(writer.connection(), session, new).await?;
        set_current(writer.connection(), session, conversation.id).await?;
        writer.commit().await?;
        Ok(conversation)
    }

    pub async fn switch(&self, session: &SessionKey, id: ConversationId) -> Result<(), StoreError> {
        self.owned(session, id).await?;
        self.switch_unchecked(session, id).await
    }

    /// Compat(astrbot): upstream switches to whatever id a plugin gives.
    pub async fn switch_unchecked(
        &self,
        session: &SessionKey,
        id: ConversationId,
    ) -> Result<(), StoreError> {
        let mut writer = self.0.database.writer().await?;
        set_current(writer.connection(), session, id).await?;
        writer.release();
        Ok(())
    }

    pub async fn current(
        &self,
        session: &SessionKey,
    ) -> Result<Option<ConversationId>, StoreError> {
        let id: Option<String> =
            sqlx::query_scalar("SELECT conversation FROM current_conversation WHERE session = $1")
                .bind(session.to_string())
                .fetch_optional(&self.0.database.readers)
                .await?;
        id.as_deref().map(row::read_conversation).transpose()
    }

    /// Of any session: for callers whose grant reaches beyond their own.
    pub async fn get(&self, id: ConversationId) -> Result<Option<Conversation>, StoreError> {
        let row = sqlx::query("SELECT * FROM conversation WHERE id = $1 AND deleted_at IS NULL")
            .bind(id.to_string())
            .fetch_optional(&self.0.database.readers)
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// The conversation, if it is the session's; another session's is as unknown as none.
    pub async fn owned(
        &self,
        session: &SessionKey,
        id: ConversationId,
    ) -> Result<Conversation, StoreError> {
        let found = self.get(id).await?;
        found
            .filter(|conversation| conversation.session == *session)
            .ok_or(StoreError::UnknownConversation(id))
    }

    /// The session's conversation of this id; without one, a new conversation under an id of its
    /// own, to which the session is switched.
    pub async fn get_or_create(
        &self,
        session: &SessionKey,
        id: Option<ConversationId>,
    ) -> Result<Conversation, StoreError> {
        if let Some(id) = id {
            match self.owned(session, id).await {
                Err(StoreError::UnknownConversation(_)) => {}
                found => return found,
            }
        }
        self.create(session, NewConversation::default()).await
    }

    /// Newest first; of every session, or on every platform, where `None`.
    pub async fn list(
        &self,
        session: Option<&SessionKey>,
        platform: Option<&str>,
    ) -> Result<Vec<Conversation>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM conversation WHERE deleted_at IS NULL
             AND (CAST($1 AS TEXT) IS NULL OR session = $1)
             AND (CAST($2 AS TEXT) IS NULL OR platform = $2)
             ORDER BY created_at DESC, id DESC",
        )
        .bind(session.map(SessionKey::to_string))
        .bind(platform.map(str::to_owned))
        .fetch_all(&self.0.database.readers)
        .await?;
        rows.iter().map(read).collect()
    }

    /// Of the current conversation where `id` is `None`. False if there is none.
    pub async fn update(
        &self,
        session: &SessionKey,
        id: Option<ConversationId>,
        update: ConversationUpdate,
    ) -> Result<bool, StoreError> {
        let Some(id) = self.named_or_current(session, id).await? else {
            return Ok(false);
        };
        let mut writer = self.0.database.writer().await?;
        writer.begin().await?;
        sqlx::query(
            "UPDATE conversation SET title = COALESCE($2, title), persona = COALESCE($3, persona),
                                     updated_at = $4
             WHERE id = $1 AND deleted_at IS NULL",
        )
        .bind(id.to_string())
        .bind(update.title.map(String::into_bytes))
        .bind(update.persona.map(String::into_bytes))
        .bind(row::now())
        .execute(writer.connection())
        .await?;
        if let Some(history) = update.history {
            messages::replace(writer.connection(), id, history).await?;
        }
        writer.commit().await?;
        Ok(true)
    }

    /// Erases the current conversation where `id` is `None`; false if there is none. Texts and
    /// arguments go, ids and hashes stay. A current one that is deleted leaves the session
    /// without.
    pub async fn delete(
        &self,
        session: &SessionKey,
        id: Option<ConversationId>,
    ) -> Result<bool, StoreError> {
        let Some(id) = self.named_or_current(session, id).await? else {
            return Ok(false);
        };
        // With the buffered calls written: a call of this conversation must not come after.
        let mut write = self.0.write(true).await?;
        erase::delete(write.connection(), id).await?;
        write.commit().await?;
        self.0.database.scrub().await?;
        Ok(true)
    }

    async fn named_or_current(
        &self,
        session: &SessionKey,
        id: Option<ConversationId>,
    ) -> Result<Option<ConversationId>, StoreError> {
        if let Some(id) = id {
            return self.owned(session, id).await.map(|found| Some(found.id));
        }
        // What an unchecked switch points at may not exist.
        let Some(id) = self.current(session).await? else {
            return Ok(None);
        };
        match self.owned(session, id).await {
            Ok(found) => Ok(Some(found.id)),
            Err(StoreError::UnknownConversation(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

async fn insert(
    connection: &mut Connection,
    session: &SessionKey,
    new: NewConversation,
) -> Result<Conversation, StoreError> {
    let id = ConversationId::fresh();
    let platform = new
        .platform
        .unwrap_or_else(|| session.platform().to_owned());
    sqlx::query(
        "INSERT INTO conversation (id, session, platform, title, persona, first_position,
                                   last_position, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, 1, 0, $6, $6)",
    )
    .bind(id.to_string())
    .bind(session.to_string())
    .bind(platform)
    .bind(new.title.map(String::into_bytes))
    .bind(new.persona.map(String::into_bytes))
    .bind(row::now())
    .execute(&mut *connection)
    .await?;
    if !new.messages.is_empty() {
        let messages: Vec<NewMessage> = new.messages.into_iter().map(NewMessage::from).collect();
        append(connection, id, None, &messages).await?;
    }
    let row = sqlx::query("SELECT * FROM conversation WHERE id = $1")
        .bind(id.to_string())
        .fetch_one(connection)
        .await?;
    read(&row)
}

async fn set_current(
    connection: &mut Connection,
    session: &SessionKey,
    id: ConversationId,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO current_conversation (session, conversation) VALUES ($1, $2)
         ON CONFLICT (session) DO UPDATE SET conversation = excluded.conversation",
    )
    .bind(session.to_string())
    .bind(id.to_string())
    .execute(connection)
    .await?;
    Ok(())
}

fn read(row: &AnyRow) -> Result<Conversation, StoreError> {
    let text = |column: &'static str| -> Result<Option<String>, StoreError> {
        let bytes: Option<Vec<u8>> = get(row, column)?;
        bytes.map(|bytes| row::read_text(column, bytes)).transpose()
    };
    Ok(Conversation {
        id: row::read_conversation(get(row, "id")?)?,
        session: row::read_session(get(row, "session")?)?,
        platform: get(row, "platform")?,
        title: text("title")?,
        persona: text("persona")?,
        created_at: row::read_time(get(row, "created_at")?)?,
        updated_at: row::read_time(get(row, "updated_at")?)?,
        extent: (
            row::read_count("position", get(row, "first_position")?)?,
            row::read_count("position", get(row, "last_position")?)?,
        ),
    })
}
