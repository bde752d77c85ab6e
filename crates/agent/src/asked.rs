//! What each round was asked, as the journal keeps it: in full, or, where a round was asked what the
//! round before was and something more, by what was added. A turn of a thousand rounds would
//! otherwise keep its beginning a thousand times.

use callgate_contract::{ModelRequest, Shared, ToolSpec};
use callgate_store::Round;
use serde_json::{Value as Json, json};

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

/// What each of a turn's rounds was asked, in full; `None` where it was not kept.
pub fn requests(rounds: &[Round]) -> Vec<Option<Json>> {
    let mut before: Option<Json> = None;
    let mut all = Vec::with_capacity(rounds.len());
    for round in rounds {
        before = round.request.clone().and_then(|kept| whole(kept, before));
        all.push(before.clone());
    }
    all
}

fn whole(mut kept: Json, before: Option<Json>) -> Option<Json> {
    let Some(after) = kept.get("after").and_then(Json::as_u64) else {
        return Some(kept);
    };
    let mut whole = before?;
    let messages = whole.get_mut("messages")?.as_array_mut()?;
    messages.truncate(usize::try_from(after).ok()?);
    messages.append(kept.get_mut("messages")?.as_array_mut()?);
    if let Some(tools) = kept.get_mut("tools") {
        whole["tools"] = tools.take();
    }
    Some(whole)
}
