//! What each round was asked, as the journal keeps it: in full; or, where a round begins with what the
//! round before was asked, by what comes after; and a conversation's history by where it lies. A turn of
//! a thousand rounds would otherwise keep its beginning a thousand times, and a conversation of a
//! thousand turns its history. What else requests have in common is the store's to find.

use callgate_contract::{
    ConversationId, JournalId, Messages, ModelMessage, ModelOptions, ModelRequest, Shared, ToolSpec,
};
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

/// A request in full. What seldom changes comes first and what always does last, so that requests have
/// long parts in common.
#[derive(Serialize)]
struct Whole<'a> {
    tools: &'a [ToolSpec],
    options: &'a ModelOptions,
    messages: Vec<&'a ModelMessage>,
    /// The place of the history, which is left out of the messages then.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<&'a Past>,
}

/// The request as JSON, without its history where that is the turn's `own` still: listeners or the needs
/// of a model may have changed it.
pub(crate) fn whole(request: &ModelRequest, own: &Messages, past: Option<&Past>) -> Option<String> {
    let messages = &request.messages;
    let unchanged = |past: &&Past| {
        let place = past.at..past.at + past.count;
        let shown = messages.get(place.clone());
        shown.is_some() && (messages.is_same(own) || shown == own.get(place))
    };
    let history = past.filter(unchanged);
    let (at, count) = history.map_or((0, 0), |past| (past.at, past.count));
    let (before, after) = (messages.get(..at)?, messages.get(at + count..)?);
    let whole = Whole {
        tools: &request.tools,
        options: &request.options,
        messages: before.iter().chain(after).collect(),
        history,
    };
    serde_json::to_string(&whole).ok()
}

impl Past {
    /// In a request that was changed: at the old distance from its beginning or its end; `None` where it
    /// may be another history.
    pub(crate) fn found_in(self, before: &[ModelMessage], now: &[ModelMessage]) -> Option<Self> {
        let history = before.get(self.at..self.at + self.count)?;
        let to_end = before.len() - self.at;
        let places = [Some(self.at), now.len().checked_sub(to_end)];
        let mut places = places.into_iter().flatten();
        let at = places.find(|at| now.get(*at..at + self.count) == Some(history))?;
        Some(Past { at, ..self })
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
    messages: Before,
    tools: Shared<ToolSpec>,
    options: ModelOptions,
}

/// What the round before was asked.
enum Before {
    /// So many of the turn's own messages, which only grow.
    Own(usize),
    /// What listeners made of them.
    Altered(Messages),
}

/// A request that begins with so many messages of the one before.
#[derive(Serialize)]
struct Added<'a> {
    after: usize,
    messages: &'a [ModelMessage],
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a [ToolSpec]>,
}

impl Asked {
    pub(crate) fn of(model: &str, request: &ModelRequest, altered: bool) -> Self {
        Asked {
            model: model.to_owned(),
            messages: if altered {
                Before::Altered(request.messages.clone())
            } else {
                Before::Own(request.messages.len())
            },
            tools: request.tools.clone(),
            options: request.options.clone(),
        }
    }

    /// Of a request that begins as this one did, what is new, as JSON; `None` where another model is
    /// asked, which may be shown its parts in another way, or in another manner.
    pub(crate) fn added(
        &self,
        own: &[ModelMessage],
        model: &str,
        request: &ModelRequest,
        altered: bool,
    ) -> Option<String> {
        if self.model != model || self.options != request.options {
            return None;
        }
        let same = |before: &[ModelMessage]| {
            let both = before.iter().zip(&request.messages);
            both.take_while(|(one, other)| one == other).count()
        };
        let after = match &self.messages {
            Before::Own(count) if !altered => *count,
            Before::Own(count) => same(own.get(..*count)?),
            Before::Altered(messages) => same(messages),
        };
        let added = Added {
            after,
            messages: request.messages.get(after..).filter(|_| after > 0)?,
            tools: (self.tools != request.tools).then_some(&request.tools),
        };
        serde_json::to_string(&added).ok()
    }
}
