//! Tool calls put together from pieces. Servers disagree on what marks a piece's call: an index,
//! an id, both, or nothing but order.

use std::collections::HashSet;

use callgate_contract::{CallArguments, ToolCall};
use serde_json::{Map, Value as Json};

use crate::surrogates;

/// In order of appearance. An index is only a label: nothing is ever allocated by it.
#[derive(Debug, Default)]
pub(crate) struct CallDrafts(Vec<Partial>);

/// What one message of a server says of a call.
#[derive(Debug, Default)]
pub(crate) struct CallPiece<'a> {
    pub(crate) index: Option<u64>,
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: Option<&'a Json>,
    pub(crate) extra: Option<Json>,
}

#[derive(Debug, Default)]
struct Partial {
    index: Option<u64>,
    id: String,
    name: String,
    text: String,
    object: Option<Map<String, Json>>,
    extra: Option<Json>,
}

impl CallDrafts {
    pub(crate) fn add(&mut self, piece: CallPiece<'_>) {
        let place = self.place(piece.index, piece.id, piece.name);
        let Some(partial) = self.0.get_mut(place) else {
            return;
        };
        if partial.id.is_empty() {
            partial.id = piece.id.to_owned();
        }
        // Some servers repeat the name in every delta.
        if partial.name.is_empty() {
            partial.name = piece.name.to_owned();
        }
        match piece.arguments {
            None | Some(Json::Null) => {}
            Some(Json::String(text)) => partial.text.push_str(text),
            Some(Json::Object(object)) => partial.object = Some(object.clone()),
            Some(other) => partial.text.push_str(&other.to_string()),
        }
        if piece.extra.is_some() {
            partial.extra = piece.extra;
        }
    }

    /// Where the call that a piece belongs to stands; a new place if the piece begins one.
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

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// All calls, whole. An id that is missing or used twice is replaced, since results are
    /// matched to calls by it.
    pub(crate) fn take(&mut self) -> Vec<ToolCall> {
        let mut used = HashSet::new();
        let partials = std::mem::take(&mut self.0);
        let named = partials.into_iter().enumerate();
        named
            .map(|(place, mut partial)| {
                if partial.id.is_empty() || used.contains(&partial.id) {
                    partial.id = format!("{MADE_UP}{place}");
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

const MADE_UP: &str = "call_";

/// Did the server give no id of its own?
pub(crate) fn is_made_up(id: &str) -> bool {
    id.strip_prefix(MADE_UP)
        .is_some_and(|place| place.len() < 4 && place.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Servers that parse the history refuse all of it for one broken text.
pub(crate) fn object(arguments: &CallArguments) -> Json {
    match arguments {
        CallArguments::Object(object) => Json::Object(object.clone()),
        CallArguments::Malformed(text) => serde_json::json!({ "malformed": text }),
    }
}

/// No text at all is how many models write "no arguments".
fn arguments(object: Option<Map<String, Json>>, text: String) -> CallArguments {
    // A call may begin with an empty object and go on in pieces of text.
    if let Some(object) = object
        && (text.is_empty() || !object.is_empty())
    {
        return CallArguments::Object(object);
    }
    if matches!(text.trim(), "" | "null") {
        return CallArguments::Object(Map::new());
    }
    match surrogates::parse_whole(&text) {
        Ok(Json::Object(object)) => CallArguments::Object(object),
        Ok(_) | Err(_) => CallArguments::Malformed(text),
    }
}
