//! Histories: what is taken of them, and what stands here of one that came before.

use callgate_contract::{ConversationId, SessionKey};
use callgate_store::{ConversationUpdate, NewConversation, Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::reading::hash_of;

/// Those that a history of ours holds.
const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

pub(super) struct ForeignConversation {
    pub(super) session: SessionKey,
    pub(super) history: History,
    /// It is the one that goes on there.
    pub(super) current: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct History {
    pub(super) title: Option<String>,
    pub(super) persona: Option<String>,
    /// In OpenAI's shape.
    pub(super) messages: Vec<Json>,
}

impl History {
    pub(super) fn hash(&self) -> String {
        hash_of(self)
    }

    pub(super) fn new_conversation(&self) -> NewConversation {
        NewConversation {
            platform: None,
            messages: self.messages.clone(),
            title: self.title.clone(),
            persona: self.persona.clone(),
        }
    }

    pub(super) fn update(self) -> ConversationUpdate {
        ConversationUpdate {
            history: Some(self.messages),
            title: self.title,
            persona: self.persona,
        }
    }

    pub(super) async fn here(store: &Store, id: &str) -> Result<Option<History>, StoreError> {
        let Ok(id) = id.parse::<ConversationId>() else {
            return Ok(None);
        };
        let Some(found) = store.conversations().get(id).await? else {
            return Ok(None);
        };
        let rows = store.conversations().history(id).await?;
        Ok(Some(History {
            title: found.title,
            persona: found.persona,
            messages: rows.into_iter().map(|row| row.message).collect(),
        }))
    }
}

/// The messages of a list, without what is none; how many those were.
pub(super) fn messages(list: Vec<Json>) -> (Vec<Json>, usize) {
    let before = list.len();
    let is_message = |message: &Json| {
        let role = message.get("role").and_then(Json::as_str);
        role.is_some_and(|role| ROLES.contains(&role))
    };
    let messages: Vec<Json> = list.into_iter().filter(is_message).collect();
    let odd = before - messages.len();
    (messages, odd)
}
