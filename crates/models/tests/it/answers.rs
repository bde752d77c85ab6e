//! What servers send, decoded: each case whole and cut at every kind of place.

use callgate_contract::{ModelError, ModelEvent};
use callgate_models::openai::Decoder;
use serde_json::{Value as Json, json};

use crate::fixtures::{Case, cases};

pub fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<Vec<ModelEvent>, ModelError> {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(decoder.push(piece)?);
    }
    events.extend(decoder.end()?);
    Ok(joined(events))
}

/// Where a text is cut into deltas is the server's affair.
fn joined(events: Vec<ModelEvent>) -> Vec<ModelEvent> {
    use ModelEvent::{ReasoningDelta, TextDelta};
    let mut joined: Vec<ModelEvent> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (Some(TextDelta { text }), TextDelta { text: more })
            | (Some(ReasoningDelta { text }), ReasoningDelta { text: more }) => {
                text.push_str(&more);
            }
            (_, event) => joined.push(event),
        }
    }
    joined
}

fn check(case: &Case, size: usize) {
    let found = match decode(case.sent.chunks(size)) {
        Ok(events) => json!({ "events": events }),
        Err(error) => json!({ "error": error }),
    };
    assert_eq!(found, case.expect, "{} in pieces of {size}", case.name);
}

#[test]
fn every_answer_is_decoded_whatever_the_chunks() {
    for case in cases("answers") {
        for size in [usize::MAX, 1, 2, 3, 7, 64, 1000] {
            check(&case, size);
        }
    }
}

#[test]
fn every_deviation_of_servers_has_its_case() {
    let names: Vec<String> = cases("answers").into_iter().map(|case| case.name).collect();
    for needed in [
        "tool_calls_without_index",
        "arguments_as_object",
        "arguments_malformed",
        "cut_before_finish",
        "no_done",
        "empty_content",
        "tool_call_index_200000",
        "page",
    ] {
        assert!(names.iter().any(|name| name == needed), "{needed}");
    }
}

#[test]
fn text_is_told_before_the_answer_ends() {
    let mut decoder = Decoder::default();
    let chunk = json!({"choices": [{"delta": {"content": "early"}}]});
    let events = decoder.push(format!("data: {chunk}\n").as_bytes()).unwrap();
    let text = "early".to_owned();
    assert_eq!(events, [ModelEvent::TextDelta { text }]);
    assert!(!decoder.is_complete());
}

#[test]
fn events_survive_the_journal() {
    for case in cases("answers") {
        let Some(events) = case.expect.get("events") else {
            continue;
        };
        let read: Vec<ModelEvent> = serde_json::from_value(events.clone()).unwrap();
        let written: Json = serde_json::to_value(read).unwrap();
        assert_eq!(&written, events, "{}", case.name);
    }
}
