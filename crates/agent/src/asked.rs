//! What each round was asked, as the journal keeps it: in full; or, where a round was asked what the
//! round before was and something more, by what was added; and a conversation's history by where it
//! lies. A turn of a thousand rounds would otherwise keep its beginning a thousand times, and a
//! conversation of a thousand turns its history.

use callgate_contract::{ConversationId, JournalId, ModelMessage, ModelRequest, Shared, ToolSpec};
use callgate_store::{Round, Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::history::from_json;

/// Where a request's history lies. Rows of a conversation never change, so that this is enough.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Past {
    pub(crate) conversation: ConversationId,
    /// From which position to which it lay then.
    pub(crate) extent: (u64, u64),
    /// The place of its first message in the request, and how many there are.
    pub(crate) at: usize,
    pub(crate) count: usize,
}

impl Past {
    /// The request as the journal keeps it.
    pub(crate) fn left_out(&self, request: &ModelRequest) -> Option<Json> {
        let (before, rest) = request.messages.split_at_checked(self.at)?;
        let after = rest.get(self.count..)?;
        let messages: Vec<&ModelMessage> = before.iter().chain(after).collect();
        Some(json!({
            "messages": messages,
            "tools": request.tools,
            "options": request.options,
            "history": self,
        }))
    }

    /// Puts the history back; says so where it is gone.
    async fn put_back(&self, store: &Store, request: &mut Json) -> Result<(), StoreError> {
        let conversations = store.conversations();
        let rows = conversations
            .context_at(self.conversation, self.extent)
            .await?;
        let history: Vec<Json> = rows
            .iter()
            .filter_map(|row| from_json(&row.message))
            .map(|message| json!(message))
            .collect();
        let messages = request.get_mut("messages").and_then(Json::as_array_mut);
        match messages.filter(|messages| messages.len() >= self.at) {
            Some(messages) if history.len() == self.count => {
                messages.splice(self.at..self.at, history);
            }
            _ => {
                let (count, conversation) = (self.count, self.conversation);
                request["missing"] = json!(format!(
                    "{count} messages of conversation {conversation}, which was erased since"
                ));
            }
        }
        Ok(())
    }
}

/// A turn's rounds with what each was asked, as far as that was kept: in full with its history, or, where
/// there is `after`, the first so many messages of the request before it, then these `messages`, and the
/// same `tools` unless there are others. Given in full, a thousand rounds would be a million messages.
pub async fn rounds(store: &Store, turn: JournalId) -> Result<Vec<Round>, StoreError> {
    let mut rounds = store.turns().rounds(turn).await?;
    for request in rounds.iter_mut().filter_map(|round| round.request.as_mut()) {
        let past = request.as_object_mut().and_then(|it| it.remove("history"));
        let past = past.and_then(|past| serde_json::from_value::<Past>(past).ok());
        if let Some(past) = past {
            past.put_back(store, request).await?;
        }
    }
    Ok(rounds)
}

/// The round before, as far as it matters for the next one's record.
pub(crate) struct Asked {
    model: String,
    messages: usize,
    tools: Shared<ToolSpec>,
}

impl Asked {
    pub(crate) fn of(model: &str, request: &ModelRequest) -> Self {
        Asked {
            model: model.to_owned(),
            messages: request.messages.len(),
            tools: request.tools.clone(),
        }
    }

    /// Of a request that begins with what this one was; `None` where another model is asked, which
    /// may be shown its parts in another way.
    pub(crate) fn grown(&self, model: &str, request: &ModelRequest) -> Option<Json> {
        let added = request.messages.get(self.messages..)?;
        if self.model != model {
            return None;
        }
        let mut kept = json!({ "after": self.messages, "messages": added });
        if self.tools != request.tools {
            kept["tools"] = json!(request.tools);
        }
        Some(kept)
    }
}
