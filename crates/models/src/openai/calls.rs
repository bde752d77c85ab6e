//! Tool calls put together from deltas. Servers disagree on what marks a delta's call: an index,
//! an id, both, or nothing but order.

use std::collections::HashSet;

use callgate_contract::{CallArguments, ToolCall};
use serde_json::{Map, Value as Json};

/// In order of appearance. An index is only a label: nothing is ever allocated by it.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Partial>);

#[derive(Debug, Default)]
struct Partial {
    index: Option<u64>,
    id: String,
    name: String,
    text: String,
    object: Option<Map<String, Json>>,
    extra: Option<Json>,
}

impl Calls {
    pub(super) fn add(&mut self, delta: &Json) {
        let function = delta.get("function").unwrap_or(delta);
        let text = |object: &Json, key: &str| {
            let text = object.get(key).and_then(Json::as_str);
            text.unwrap_or_default().to_owned()
        };
        let (id, name) = (text(delta, "id"), text(function, "name"));
        let index = delta.get("index").and_then(Json::as_u64);
        let place = self.place(index, &id, &name);
        let Some(partial) = self.0.get_mut(place) else {
            return;
        };
        if partial.id.is_empty() {
            partial.id = id;
        }
        // Some servers repeat the name in every delta.
        if partial.name.is_empty() {
            partial.name = name;
        }
        match function.get("arguments") {
            None | Some(Json::Null) => {}
            Some(Json::String(piece)) => partial.text.push_str(piece),
            Some(Json::Object(object)) => partial.object = Some(object.clone()),
            Some(other) => partial.text.push_str(&other.to_string()),
        }
        if let Some(extra) = delta.get("extra_content").filter(|extra| !extra.is_null()) {
            partial.extra = Some(extra.clone());
        }
    }

    /// Where the call that a delta belongs to stands; a new place if the delta begins one.
    fn place(&mut self, index: Option<u64>, id: &str, name: &str) -> usize {
        let same_id = |partial: &Partial| !id.is_empty() && partial.id == id;
        let found = match index {
            Some(index) => self
                .0
                .iter()
                .rposition(|partial| partial.index == Some(index))
                .filter(|at| {
                    // Some servers give all parallel calls the index 0.
                    let known = &self.0[*at].id;
                    let other_id = !id.is_empty() && !known.is_empty() && known != id;
                    name.is_empty() || !other_id
                }),
            None if !id.is_empty() => self.0.iter().rposition(same_id),
            None if !name.is_empty() => None,
            None => self.0.len().checked_sub(1),
        };
        found.unwrap_or_else(|| {
            self.0.push(Partial {
                index,
                ..Partial::default()
            });
            self.0.len() - 1
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All calls, whole. An id that is missing or used twice is replaced, since results are
    /// matched to calls by it.
    pub(super) fn take(&mut self) -> Vec<ToolCall> {
        let mut used = HashSet::new();
        let partials = std::mem::take(&mut self.0);
        let named = partials.into_iter().enumerate();
        named
            .map(|(place, mut partial)| {
                if partial.id.is_empty() || used.contains(&partial.id) {
                    partial.id = format!("call_{place}");
                }
                used.insert(partial.id.clone());
                ToolCall {
                    id: partial.id,
                    name: partial.name,
                    arguments: arguments(partial.object, partial.text),
                    extra: partial.extra,
                }
            })
            .collect()
    }
}

/// No text at all is how many models write "no arguments".
fn arguments(object: Option<Map<String, Json>>, text: String) -> CallArguments {
    if let Some(object) = object {
        return CallArguments::Object(object);
    }
    if matches!(text.trim(), "" | "null") {
        return CallArguments::Object(Map::new());
    }
    match serde_json::from_str(&text) {
        Ok(object) => CallArguments::Object(object),
        Err(_) => CallArguments::Malformed(text),
    }
}
