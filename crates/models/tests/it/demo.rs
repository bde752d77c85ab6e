//! The offline demo: always labelled, the same each time, and able to show both modes.

use callgate_contract::{CallArguments, Model, ModelMessage, ModelReply, ModelRequest, ToolSpec};
use callgate_models::Demo;
use serde_json::json;

const PROMPT: &str = "now(zone=None)\nremember(name, text)\nsend_message(text)\nsend_file(path)";

async fn ask(prompt: &str, said: &str, tools: &[&str]) -> ModelReply {
    let mut request =
        ModelRequest::new(vec![ModelMessage::system(prompt), ModelMessage::user(said)]);
    request.tools = tools
        .iter()
        .map(|name| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            parameters: json!({"type": "object"}),
        })
        .collect();
    Demo.complete(request).await.unwrap()
}

#[tokio::test]
async fn code_mode_answers_with_python() {
    for (said, line) in [
        ("What time is it?", "moment = now()"),
        ("现在几点了", "moment = now()"),
        (
            "Remember: I like \"tea\"",
            "remember(\"from the demo\", \"I like \\\"tea\\\"\")",
        ),
        (
            "What time is it in Tokyo and in Lima, and how far apart are they?",
            "PLACES = {\"Tokyo\":\"Asia/Tokyo\",\"Lima\":\"America/Lima\"}",
        ),
        (
            "利马和东京现在几点？",
            "PLACES = {\"利马\":\"America/Lima\",\"东京\":\"Asia/Tokyo\"}",
        ),
        (
            "Remember that my favourite colour is blue, then tell me what you know of me.",
            "remember(\"from the demo\", \"my favourite colour is blue\")",
        ),
        (
            "私の好きな色は青だと覚えて、私について知っていることを教えて。",
            "remember(\"from the demo\", \"私の好きな色は青だ\")",
        ),
        (
            "What time is it? No, send good news!",
            "send_message(\"[offline demo] good news\")",
        ),
        (
            "Draw the first squares and send them",
            "send_file(\"/app/shared/squares.png\")",
        ),
    ] {
        let reply = ask(PROMPT, said, &[]).await;
        let code = reply.text.split_once("```python\n").unwrap().1;
        assert!(code.lines().any(|found| found == line), "{said}: {code}");
        assert!(reply.text.contains("[offline demo]"));
    }
}

#[tokio::test]
async fn what_was_remembered_is_looked_up_where_that_is_offered() {
    let prompt = format!("{PROMPT}\nrecall(query=None)");
    for (prompt, recalls) in [(PROMPT, false), (prompt.as_str(), true)] {
        let reply = ask(prompt, "Remember that I like tea.", &[]).await;
        assert_eq!(reply.text.contains("recall()"), recalls, "{}", reply.text);
    }
}

#[tokio::test]
async fn tool_mode_calls_and_then_answers() {
    let reply = ask("", "Remember that I like tea.", &["now", "remember"]).await;
    let call = &reply.tool_calls[0];
    assert_eq!(call.name, "remember");
    let expect = json!({"name": "from the demo", "text": "I like tea"});
    assert_eq!(json!(call.arguments), expect);
    assert!(matches!(call.arguments, CallArguments::Object(_)));

    let id = call.id.clone();
    let messages = vec![reply.into(), ModelMessage::tool(id, "Remembered.")];
    let reply = Demo.complete(ModelRequest::new(messages)).await.unwrap();
    assert_eq!(reply.text, "[offline demo] Done: Remembered.");
}

#[tokio::test]
async fn what_it_cannot_do_it_says() {
    let asked = [
        ask(PROMPT, "Write a poem", &[]).await,
        // No such method is offered.
        ask("", "What time is it?", &[]).await,
        ask("", "What time is it?", &["remember"]).await,
        // There is nothing to send before code has drawn it.
        ask("", "Draw a chart", &["send_file"]).await,
    ];
    for reply in asked {
        assert!(
            reply.text.starts_with("[offline demo] No model"),
            "{}",
            reply.text
        );
        assert!(reply.tool_calls.is_empty());
    }
}
