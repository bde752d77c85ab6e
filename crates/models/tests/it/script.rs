//! The scripted model: answers in order, and an error once they are used up.

use callgate_contract::{CallArguments, FinishReason, Model, ModelError};
use callgate_models::{InvalidModel, Script};
use serde_json::json;

use crate::streams::hello;

#[tokio::test]
async fn answers_are_given_in_order_and_then_run_out() {
    let script = r#"
{"role":"assistant","content":"One"}

{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"function":{"name":"g","arguments":{"y":2}}}]}
{"content":"","tool_calls":[{"id":"b","function":{"name":"f","arguments":"{oops"}}]}
"#;
    let model = Script::parse("s", script).unwrap();
    let first = model.complete(hello()).await.unwrap();
    assert_eq!(
        (first.text.as_str(), first.finish),
        ("One", FinishReason::Stop)
    );

    let second = model.complete(hello()).await.unwrap();
    assert_eq!(second.finish, FinishReason::ToolCalls);
    let arguments: Vec<_> = second.tool_calls.iter().map(|call| json!(call)).collect();
    assert_eq!(
        arguments[0],
        json!({"id": "a", "name": "f", "arguments": {"x": 1}})
    );
    assert_eq!(
        arguments[1],
        json!({"id": "call_1", "name": "g", "arguments": {"y": 2}})
    );

    let third = model.complete(hello()).await.unwrap();
    let malformed = CallArguments::Malformed("{oops".to_owned());
    assert_eq!(third.tool_calls[0].arguments, malformed);

    let error = model.complete(hello()).await.unwrap_err();
    assert!(matches!(&error, ModelError::Exhausted { .. }), "{error:?}");
    assert!(!error.is_transient());
}

#[test]
fn a_line_that_is_no_answer_is_named() {
    for (line, reason) in [
        (
            "{\"content\":\"a\"}\n{",
            "line 2: EOF while parsing an object",
        ),
        (
            "{\"role\":\"user\",\"content\":\"a\"}",
            "line 1: the role is 'user', not 'assistant'",
        ),
        (
            "{\"text\":\"a\"}",
            "line 1: neither 'content' nor 'tool_calls'",
        ),
        ("\"a\"", "line 1: neither 'content' nor 'tool_calls'"),
    ] {
        let Err(InvalidModel::Script { reason: found, .. }) = Script::parse("s", line) else {
            panic!("{line}");
        };
        assert!(found.starts_with(reason), "{found}");
    }
}
