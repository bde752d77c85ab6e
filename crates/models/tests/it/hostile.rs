//! A server that means harm: no bytes may bring the decoder down or make it invent an answer.

use callgate_contract::{ModelError, ModelEvent};
use callgate_models::{Decoder, Wire};
use proptest::prelude::*;
use serde_json::json;

use crate::answers::{answers, decode};

proptest! {
    #[test]
    fn any_bytes_are_survived(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
        for wire in Wire::ALL {
            let _ = decode(wire, pieces.iter().map(Vec::as_slice));
        }
    }

    #[test]
    fn any_json_is_survived(chunk in any_json(), delta in any_json(), call in any_json()) {
        let data = [
            json!({"choices": [{"delta": {"tool_calls": [call], "content": delta}}]}),
            json!({"choices": [{"delta": delta}], "usage": delta}),
            json!({"type": "response.output_item.done", "item": call}),
            json!({"type": "response.completed", "response": delta}),
            json!({"type": "content_block_start", "index": 0, "content_block": call}),
            json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            json!({"type": "message_delta", "delta": delta, "usage": call}),
            json!({"candidates": [{"content": {"parts": [call, delta]}}], "usageMetadata": delta}),
            json!({"message": delta, "done": true}),
            chunk,
        ];
        let stream: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
        for wire in Wire::ALL {
            let _ = decode(wire, [stream.as_bytes()].into_iter());
        }
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        ".{0,8}".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let key = prop_oneof![
            Just("function".to_owned()),
            Just("arguments".to_owned()),
            Just("index".to_owned()),
            Just("text".to_owned()),
            Just("type".to_owned()),
            Just("functionCall".to_owned()),
            Just("inlineData".to_owned()),
            Just("tool_calls".to_owned()),
            "[a-z]{1,4}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|list| json!(list)),
            prop::collection::hash_map(key, inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

#[test]
fn an_endless_answer_is_refused() {
    for wire in Wire::ALL {
        let mut decoder = Decoder::new(wire, "m");
        let megabyte = vec![b'x'; 1 << 20];
        let refused = (0..100).find_map(|_| decoder.push(&megabyte).err());
        assert!(matches!(refused, Some(ModelError::Malformed { .. })));
    }
}

/// However an answer is cut off, it never passes for a shorter one that ended.
#[test]
fn no_cut_makes_an_answer() {
    // Usage may be lost: it comes after the finish reason.
    let said = |events: Vec<ModelEvent>| -> Vec<ModelEvent> {
        let usage = |event: &ModelEvent| !matches!(event, ModelEvent::Usage(_));
        events.into_iter().filter(usage).collect()
    };
    for wire in Wire::ALL {
        for case in answers(wire) {
            let whole = said(decode(wire, [case.sent.as_slice()].into_iter()).unwrap_or_default());
            for cut in 0..case.sent.len() {
                if let Ok(events) = decode(wire, [&case.sent[..cut]].into_iter()) {
                    assert_eq!(said(events), whole, "{wire} {} cut at {cut}", case.name);
                }
            }
        }
    }
}
