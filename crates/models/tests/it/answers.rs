//! What servers send, decoded: each case whole and cut at every kind of place.

use callgate_contract::{ModelError, ModelEvent};
use callgate_models::{Decoder, Wire};
use serde_json::{Value as Json, json};

use crate::fixtures::{Case, cases};

pub fn answers(wire: Wire) -> Vec<Case> {
    cases(&format!("{wire}/answers"))
}

pub fn decode<'a>(
    wire: Wire,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<ModelEvent>, ModelError> {
    let mut decoder = Decoder::new(wire, "m");
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

fn check(wire: Wire, case: &Case, size: usize) {
    let found = match decode(wire, case.sent.chunks(size)) {
        Ok(events) => json!({ "events": events }),
        Err(error) => json!({ "error": error }),
    };
    let name = &case.name;
    assert_eq!(found, case.expect, "{wire} {name} in pieces of {size}");
}

#[test]
fn every_answer_is_decoded_whatever_the_chunks() {
    for wire in Wire::ALL {
        for case in answers(wire) {
            for size in [usize::MAX, 1, 2, 3, 7, 64, 1000] {
                check(wire, &case, size);
            }
        }
    }
}

#[test]
fn every_deviation_of_servers_has_its_case() {
    for (wire, needed) in [
        (Wire::Openai, "tool_calls_without_index"),
        (Wire::Openai, "arguments_as_object"),
        (Wire::Openai, "arguments_malformed"),
        (Wire::Openai, "cut_before_finish"),
        (Wire::Openai, "no_done"),
        (Wire::Openai, "empty_content"),
        (Wire::Openai, "tool_call_index_200000"),
        (Wire::Openai, "page"),
        (Wire::Responses, "reasoning_and_parallel_tool_calls"),
        (Wire::Responses, "image_out"),
        (Wire::Responses, "cut_before_completed"),
        (Wire::Anthropic, "thinking_with_tools"),
        (Wire::Anthropic, "cached_usage"),
        (Wire::Anthropic, "cut_before_stop_reason"),
        (Wire::Gemini, "parallel_tool_calls"),
        (Wire::Gemini, "image_out"),
        (Wire::Gemini, "cut_before_finish"),
        (Wire::Ollama, "parallel_tool_calls"),
        (Wire::Ollama, "cut_in_a_line"),
        (Wire::Openai, "half_characters"),
        (Wire::Openai, "half_characters_in_a_tool_call"),
        (Wire::Responses, "half_characters"),
        (Wire::Anthropic, "half_characters"),
        (Wire::Gemini, "half_characters"),
        (Wire::Ollama, "half_characters"),
    ] {
        let found = answers(wire).iter().any(|case| case.name == needed);
        assert!(found, "{wire} {needed}");
    }
}

#[test]
fn text_is_told_before_the_answer_ends() {
    let text = |text: &str| json!({"type": "text_delta", "text": text});
    for (wire, first) in [
        (
            Wire::Openai,
            json!({"choices": [{"delta": {"content": "early"}}]}),
        ),
        (
            Wire::Responses,
            json!({"type": "response.output_text.delta", "delta": "early"}),
        ),
        (
            Wire::Anthropic,
            json!({"type": "content_block_delta", "index": 0, "delta": text("early")}),
        ),
        (
            Wire::Gemini,
            json!({"candidates": [{"content": {"parts": [{"text": "early"}]}}]}),
        ),
        (
            Wire::Ollama,
            json!({"message": {"content": "early"}, "done": false}),
        ),
    ] {
        let mut decoder = Decoder::new(wire, "m");
        let line = match wire {
            Wire::Ollama => format!("{first}\n"),
            _ => format!("data: {first}\n"),
        };
        let events = decoder.push(line.as_bytes()).unwrap();
        let text = "early".to_owned();
        assert_eq!(events, [ModelEvent::TextDelta { text }], "{wire}");
        assert!(!decoder.is_complete());
    }
}

#[test]
fn events_survive_the_journal() {
    for case in Wire::ALL.into_iter().flat_map(answers) {
        let Some(events) = case.expect.get("events") else {
            continue;
        };
        let read: Vec<ModelEvent> = serde_json::from_value(events.clone()).unwrap();
        let written: Json = serde_json::to_value(read).unwrap();
        assert_eq!(&written, events, "{}", case.name);
    }
}
