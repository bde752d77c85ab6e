//! Conversations: the model's histories, of which a session has a current one. Messages are rows
//! with positions without gaps, and history only grows: replacing it moves where it starts, a
//! summary stands before what it covers. Every id is checked against the session that asks.

mod erase;
mod messages;

use callgate_contract::{ConversationId, SessionKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use self::messages::{HistoryRow, NewMessage};
pub(crate) use self::{
    erase::{erase, erase_turn},
    messages::{append, read as read_message},
};
use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, Tx, parameters},
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

/// What is asked of a session before it is answered, all at once.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// `None` if the session has none, or one that is gone.
    pub conversation: Option<Conversation>,
    /// It has, or had, further conversations.
    pub others: bool,
    pub notes: bool,
    /// Words of strangers were in an earlier turn of the conversation.
    pub tainted: bool,
}

/// Nothing is known: whoever must know looks.
impl Default for Surroundings {
    fn default() -> Self {
        Surroundings {
            conversation: None,
            others: true,
            notes: true,
            tainted: true,
        }
    }
}

pub struct Conversations<'a>(pub(crate) &'a Database);

impl Conversations<'_> {
    /// Makes a conversation and switches the session to it.
    pub async fn create(
        &self,
        session: &SessionKey,
        new: NewConversation,
    ) -> Result<Conversation, StoreError> {
        let session = session.clone();
        self.0
            .write(move |tx| {
                let conversation = insert(tx, &session, new)?;
                set_current(tx, &session, conversation.id)?;
                Ok(conversation)
            })
            .await
    }

    pub async fn switch(&self, session: &SessionKey, id: ConversationId) -> Result<(), StoreError> {
        let session = session.clone();
        self.0
            .write(move |tx| {
                owned(tx, &session, id)?;
                set_current(tx, &session, id)
            })
            .await
    }

    /// Compat(astrbot): upstream switches to whatever id a plugin gives.
    pub async fn switch_unchecked(
        &self,
        session: &SessionKey,
        id: ConversationId,
    ) -> Result<(), StoreError> {
        let session = session.clone();
        self.0.write(move |tx| set_current(tx, &session, id)).await
    }

    pub async fn current(
        &self,
        session: &SessionKey,
    ) -> Result<Option<ConversationId>, StoreError> {
        let session = session.clone();
        self.0.read(move |tx| current(tx, &session)).await
    }

    /// The session's current conversation, and what else there is about the session.
    pub async fn surroundings(&self, session: &SessionKey) -> Result<Surroundings, StoreError> {
        let session = session.to_string();
        self.0
            .read(move |tx| {
                let found = tx.query_optional(
                    "SELECT conversation.*,
                         EXISTS (SELECT 1 FROM conversation AS other
                             WHERE other.session = ?1 AND other.id <> conversation.id) AS others,
                         EXISTS (SELECT 1 FROM note WHERE note.session = ?1) AS notes,
                         EXISTS (SELECT 1 FROM turn WHERE turn.conversation = conversation.id
                             AND tainted = 1) AS tainted
                     FROM current_conversation AS it
                     JOIN conversation ON conversation.id = it.conversation
                     WHERE it.session = ?1 AND conversation.session = ?1 AND deleted_at IS NULL",
                    parameters![session],
                )?;
                let Some(found) = found else {
                    // What there is yet to begin has heard nothing.
                    return Ok(Surroundings {
                        tainted: false,
                        ..Surroundings::default()
                    });
                };
                Ok(Surroundings {
                    conversation: Some(read(&found)?),
                    others: row::read_flag(get(&found, "others")?),
                    notes: row::read_flag(get(&found, "notes")?),
                    tainted: row::read_flag(get(&found, "tainted")?),
                })
            })
            .await
    }

    /// Of any session: for callers whose grant reaches beyond their own.
    pub async fn get(&self, id: ConversationId) -> Result<Option<Conversation>, StoreError> {
        self.0.read(move |tx| find(tx, id)).await
    }

    /// The conversation, if it is the session's; another session's is as unknown as none.
    pub async fn owned(
        &self,
        session: &SessionKey,
        id: ConversationId,
    ) -> Result<Conversation, StoreError> {
        let session = session.clone();
        self.0.read(move |tx| owned(tx, &session, id)).await
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
        let (session, platform) = (
            session.map(SessionKey::to_string),
            platform.map(str::to_owned),
        );
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT * FROM conversation WHERE deleted_at IS NULL
                 AND (CAST(?1 AS TEXT) IS NULL OR session = ?1)
                 AND (CAST(?2 AS TEXT) IS NULL OR platform = ?2)
                 ORDER BY created_at DESC, id DESC",
                    parameters![session, platform],
                )?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Of the current conversation where `id` is `None`. False if there is none.
    pub async fn update(
        &self,
        session: &SessionKey,
        id: Option<ConversationId>,
        update: ConversationUpdate,
    ) -> Result<bool, StoreError> {
        let session = session.clone();
        self.0
            .write(move |tx| {
                let Some(id) = named_or_current(tx, &session, id)? else {
                    return Ok(false);
                };
                tx.execute(
                    "UPDATE conversation SET title = COALESCE(?2, title),
                     persona = COALESCE(?3, persona), updated_at = ?4
                 WHERE id = ?1 AND deleted_at IS NULL",
                    parameters![
                        id,
                        update.title.map(String::into_bytes),
                        update.persona.map(String::into_bytes),
                        row::now(),
                    ],
                )?;
                if let Some(history) = update.history {
                    messages::replace(tx, id, history)?;
                }
                Ok(true)
            })
            .await
    }

    /// Erases the current conversation where `id` is `None`; false if there is none. Texts and
    /// arguments go, ids and hashes stay. A current one that is deleted leaves the session
    /// without.
    pub async fn delete(
        &self,
        session: &SessionKey,
        id: Option<ConversationId>,
    ) -> Result<bool, StoreError> {
        let session = session.clone();
        // With the buffered calls written before: none of this conversation may come after.
        let deleted = self
            .0
            .write(move |tx| {
                let id = named_or_current(tx, &session, id)?;
                id.map(|id| erase::delete(tx, id)).transpose()
            })
            .await?;
        if deleted.is_some() {
            self.0.scrub().await?;
        }
        Ok(deleted.is_some())
    }
}

fn find(tx: &mut dyn Tx, id: ConversationId) -> Result<Option<Conversation>, StoreError> {
    let select = "SELECT * FROM conversation WHERE id = ?1 AND deleted_at IS NULL";
    let row = tx.query_optional(select, parameters![id])?;
    row.as_ref().map(read).transpose()
}

fn owned(
    tx: &mut dyn Tx,
    session: &SessionKey,
    id: ConversationId,
) -> Result<Conversation, StoreError> {
    find(tx, id)?
        .filter(|conversation| conversation.session == *session)
        .ok_or(StoreError::UnknownConversation(id))
}

pub(crate) fn current(
    tx: &mut dyn Tx,
    session: &SessionKey,
) -> Result<Option<ConversationId>, StoreError> {
    let select = "SELECT conversation FROM current_conversation WHERE session = ?1";
    tx.scalar(select, parameters![session.to_string()])
}

fn named_or_current(
    tx: &mut dyn Tx,
    session: &SessionKey,
    id: Option<ConversationId>,
) -> Result<Option<ConversationId>, StoreError> {
    if let Some(id) = id {
        return owned(tx, session, id).map(|found| Some(found.id));
    }
    // What an unchecked switch points at may not exist.
    let Some(id) = current(tx, session)? else {
        return Ok(None);
    };
    match owned(tx, session, id) {
        Ok(found) => Ok(Some(found.id)),
        Err(StoreError::UnknownConversation(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn insert(
    tx: &mut dyn Tx,
    session: &SessionKey,
    new: NewConversation,
) -> Result<Conversation, StoreError> {
    let id = ConversationId::fresh();
    let platform = new.platform.as_deref().unwrap_or(session.platform());
    tx.execute(
        "INSERT INTO conversation (id, session, platform, title, persona, first_position,
                                   last_position, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 1, 0, ?6, ?6)",
        parameters![
            id,
            session.to_string(),
            platform,
            new.title.map(String::into_bytes),
            new.persona.map(String::into_bytes),
            row::now(),
        ],
    )?;
    if !new.messages.is_empty() {
        let messages: Vec<NewMessage> = new.messages.into_iter().map(NewMessage::from).collect();
        append(tx, id, None, &messages)?;
    }
    find(tx, id)?.ok_or(StoreError::UnknownConversation(id))
}

pub(crate) fn set_current(
    tx: &mut dyn Tx,
    session: &SessionKey,
    id: ConversationId,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO current_conversation (session, conversation) VALUES (?1, ?2)
         ON CONFLICT (session) DO UPDATE SET conversation = excluded.conversation",
        parameters![session.to_string(), id],
    )?;
    Ok(())
}

fn read(row: &Row) -> Result<Conversation, StoreError> {
    let text = |column: &'static str| -> Result<Option<String>, StoreError> {
        let bytes: Option<Vec<u8>> = get(row, column)?;
        bytes.map(|bytes| row::read_text(column, bytes)).transpose()
    };
    Ok(Conversation {
        id: get(row, "id")?,
        session: row::read_session(&get::<String>(row, "session")?)?,
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
