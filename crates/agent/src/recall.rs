//! [`Histories`]: conversations as models read them, kept since the last turn that was asked with
//! them. The store says what is true: what it has added since is read, and anything else that
//! changed a history makes it be read anew.

use std::collections::HashMap;

use callgate_contract::{ConversationId, Messages};
use callgate_store::{Conversation, NewMessage};
use parking_lot::Mutex;
use serde_json::Value as Json;

use crate::{Agent, TurnError, history::from_json, tokens};

/// Estimated tokens of all histories kept; beyond it, those used longest ago are forgotten.
const KEPT: usize = 2_000_000;

/// What a model is to be shown of a conversation.
#[derive(Clone, Default)]
pub(crate) struct History {
    pub(crate) messages: Messages,
    /// Where it lies; `None` for what somebody brought along.
    pub(crate) lies: Option<(ConversationId, (u64, u64))>,
    /// By estimate.
    pub(crate) tokens: usize,
}

impl From<Messages> for History {
    fn from(messages: Messages) -> Self {
        History {
            messages,
            ..History::default()
        }
    }
}

/// A mutex held to look up or put back one entry, never across an await.
#[derive(Default)]
pub(crate) struct Histories(Mutex<StoredNote>);

#[derive(Default)]
struct StoredNote {
    entries: HashMap<ConversationId, CachedHistory>,
    tokens: usize,
    uses: u64,
}

struct CachedHistory {
    extent: (u64, u64),
    history: History,
    used: u64,
}

impl Histories {
    fn take(&self, id: ConversationId) -> Option<CachedHistory> {
        let mut kept = self.0.lock();
        let entry = kept.entries.remove(&id)?;
        kept.tokens -= entry.history.tokens;
        Some(entry)
    }

    /// A turn has added these messages, up to the position `last`. What is known of a history that has
    /// grown otherwise as well is read on when it is next asked for.
    pub(crate) fn appended(&self, id: ConversationId, last: u64, messages: &[NewMessage]) {
        let Some(mut entry) = self.take(id) else {
            return;
        };
        if entry.extent.1 + messages.len() as u64 == last {
            entry.extent.1 = last;
            let new = messages.iter().map(|new| &new.message);
            add(&mut entry.history, new);
        }
        self.put(id, entry.extent, entry.history);
    }

    fn put(&self, id: ConversationId, extent: (u64, u64), history: History) {
        let mut kept = self.0.lock();
        kept.uses += 1;
        kept.tokens += history.tokens;
        let entry = CachedHistory {
            extent,
            history,
            used: kept.uses,
        };
        if let Some(other) = kept.entries.insert(id, entry) {
            kept.tokens -= other.history.tokens;
        }
        while kept.tokens > KEPT {
            let oldest = kept.entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(id, _)| *id) else {
                break;
            };
            if let Some(entry) = kept.entries.remove(&oldest) {
                kept.tokens -= entry.history.tokens;
            }
        }
    }
}

impl Agent {
    /// The history as it was when `conversation` was read, or newer.
    pub(crate) async fn history(&self, conversation: &Conversation) -> Result<History, TurnError> {
        let (id, extent) = (conversation.id, conversation.extent);
        let known = self.sessions().histories.take(id);
        let known = known.filter(|entry| entry.extent.0 == extent.0 && entry.extent.1 <= extent.1);
        let (extent, mut history) = match known {
            Some(entry) if entry.extent == extent => (extent, entry.history),
            Some(entry) => self.read_on(conversation, entry).await?,
            None => self.read_anew(conversation).await?,
        };
        history.lies = Some((id, extent));
        self.sessions().histories.put(id, extent, history.clone());
        Ok(history)
    }

    async fn read_on(
        &self,
        conversation: &Conversation,
        entry: CachedHistory,
    ) -> Result<((u64, u64), History), TurnError> {
        let conversations = self.store().conversations();
        let (first, last) = entry.extent;
        let new = conversations.since(conversation.id, last).await?;
        if new.iter().any(|row| row.covers.is_some()) {
            return self.read_anew(conversation).await;
        }
        let last = new.last().map_or(last, |row| row.position);
        let mut history = entry.history;
        add(&mut history, new.iter().map(|row| &row.message));
        Ok(((first, last), history))
    }

    async fn read_anew(
        &self,
        conversation: &Conversation,
    ) -> Result<((u64, u64), History), TurnError> {
        let rows = self
            .store()
            .conversations()
            .context(conversation.id)
            .await?;
        let newest = rows.iter().map(|row| row.position).max().unwrap_or(0);
        let (first, last) = conversation.extent;
        let mut history = History::default();
        add(&mut history, rows.iter().map(|row| &row.message));
        Ok(((first, last.max(newest)), history))
    }
}

fn add<'a>(history: &mut History, messages: impl Iterator<Item = &'a Json>) {
    for message in messages {
        history.messages.extend(from_json(message));
        history.tokens += tokens::estimate(&message.to_string());
    }
}
