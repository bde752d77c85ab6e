//! What providers want back unchanged (thoughts they signed or encrypted) and where in a reply it
//! stood. A reply's text and calls are kept apart from it and interleaved together again for the wire.

use callgate_contract::{Part, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::wire::Wire;

/// A block, and how much of the reply came before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpaqueBlock {
    /// In characters.
    pub(crate) text: usize,
    #[serde(default)]
    pub(crate) media: usize,
    #[serde(default)]
    pub(crate) calls: usize,
    pub(crate) block: Json,
}

#[derive(Debug, PartialEq)]
pub(crate) enum ReplyPart<'a> {
    Text(String),
    Media(&'a Part),
    Call(&'a ToolCall),
    Opaque(Json),
}

/// The `extra` of a reply.
pub(crate) fn extra(wire: Wire, model: &str, kept: Vec<OpaqueBlock>) -> Option<Json> {
    if kept.is_empty() {
        return None;
    }
    let mut extra = Map::new();
    extra.insert(wire.to_string(), json!({"model": model, "kept": kept}));
    Some(Json::Object(extra))
}

/// What this very model left in `extra`: no other can read it, and most refuse it.
pub(crate) fn of_model(wire: Wire, model: &str, extra: Option<&Json>) -> Vec<OpaqueBlock> {
    let left = extra.and_then(|extra| extra.get(wire.to_string()));
    let own = left.filter(|left| left.get("model").and_then(Json::as_str) == Some(model));
    let kept = own.and_then(|own| own.get("kept")).cloned();
    kept.and_then(|kept| serde_json::from_value(kept).ok())
        .unwrap_or_default()
}

/// Text, then media, then calls, with each block where it was. A text that was changed since may be
/// shorter than a block's place: then the block comes after it.
pub(crate) fn interleaved<'a>(
    text: &str,
    media: &'a [Part],
    calls: &'a [ToolCall],
    kept: Vec<OpaqueBlock>,
) -> Vec<ReplyPart<'a>> {
    let mut pieces = Vec::new();
    let (mut rest, mut told) = (text, 0);
    let (mut media, mut shown) = (media, 0);
    let (mut calls, mut called) = (calls, 0);
    let end = OpaqueBlock {
        text: usize::MAX,
        media: usize::MAX,
        calls: usize::MAX,
        block: Json::Null,
    };
    for kept in kept.into_iter().chain([end]) {
        let (before, after) = cut(rest, kept.text.saturating_sub(told));
        if !before.is_empty() {
            pieces.push(ReplyPart::Text(before.to_owned()));
        }
        (rest, told) = (after, told.max(kept.text));
        let (before, after) = media.split_at(media.len().min(kept.media.saturating_sub(shown)));
        pieces.extend(before.iter().map(ReplyPart::Media));
        (media, shown) = (after, shown.max(kept.media));
        let (before, after) = calls.split_at(calls.len().min(kept.calls.saturating_sub(called)));
        pieces.extend(before.iter().map(ReplyPart::Call));
        (calls, called) = (after, called.max(kept.calls));
        if !kept.block.is_null() {
            pieces.push(ReplyPart::Opaque(kept.block));
        }
    }
    pieces
}

/// The first `count` characters, and the rest.
fn cut(text: &str, count: usize) -> (&str, &str) {
    let place = text.char_indices().nth(count).map(|(place, _)| place);
    text.split_at(place.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use callgate_contract::CallArguments;

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "f".into(),
            arguments: CallArguments::Object(Map::new()),
            extra: None,
        }
    }

    fn at(text: usize, calls: usize, block: &str) -> OpaqueBlock {
        OpaqueBlock {
            text,
            media: 0,
            calls,
            block: json!(block),
        }
    }

    fn order(text: &str, calls: &[ToolCall], kept: Vec<OpaqueBlock>) -> Vec<String> {
        let pieces = interleaved(text, &[], calls, kept);
        let word = |piece: &ReplyPart| match piece {
            ReplyPart::Text(text) => text.clone(),
            ReplyPart::Call(call) => call.id.clone(),
            ReplyPart::Opaque(block) => block.as_str().unwrap().to_owned(),
            ReplyPart::Media(_) => "media".into(),
        };
        pieces.iter().map(word).collect()
    }

    #[test]
    fn blocks_stand_where_they_stood() {
        let calls = [call("a"), call("b")];
        let kept = vec![at(0, 0, "[1]"), at(2, 0, "[2]"), at(2, 1, "[3]")];
        let expect = ["[1]", "你好", "[2]", "a", "[3]", " there", "b"];
        assert_eq!(order("你好 there", &calls, kept), expect);
    }

    #[test]
    fn nothing_is_lost_when_the_text_was_changed() {
        let calls = [call("a")];
        let kept = vec![at(50, 7, "[1]")];
        assert_eq!(order("short", &calls, kept), ["short", "a", "[1]"]);
        assert_eq!(order("text", &calls, Vec::new()), ["text", "a"]);
    }

    #[test]
    fn only_the_same_model_gets_it_back() {
        let extra = extra(Wire::Anthropic, "opus", vec![at(0, 0, "[1]")]);
        let count = |wire, model| of_model(wire, model, extra.as_ref()).len();
        assert_eq!(count(Wire::Anthropic, "opus"), 1);
        assert_eq!(count(Wire::Anthropic, "haiku"), 0);
        assert_eq!(count(Wire::Gemini, "opus"), 0);
    }
}
