//! Requests in the shape that programs of others send them, with all that they add to OpenAI's.

use callgate_contract::{ModelMessage, ModelReply, Part};
use serde_json::{Value as Json, json};

use super::scene::{Scene, calls, says};

const DOT: &str = "data:image/png;base64,iVBORw0KGgo=";

/// As SillyTavern's server asks a custom source: instructions between messages, names, a picture,
/// settings of other sources, and an answer to go on with at the end.
fn tavern(stream: bool) -> Json {
    json!({
        "model": "bare",
        "messages": [
            {"role": "system", "content": "Write Seraphina's next reply."},
            {"role": "system", "content": "[Start a new Chat]"},
            {"role": "assistant", "content": "*She smiles.* You are awake!"},
            {"role": "user", "name": "Ann", "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": DOT, "detail": "auto"}},
            ]},
            {"role": "system", "content": ""},
            {"role": "assistant", "content": "Seraphina:"},
        ],
        "temperature": 1, "max_tokens": 300, "stream": stream, "presence_penalty": 0,
        "frequency_penalty": 0, "top_p": 1, "top_k": 0, "stop": ["\nAnn:"], "logit_bias": {},
        "seed": 7, "n": 1, "logprobs": true, "top_logprobs": 10,
    })
}

#[tokio::test]
async fn sillytavern_is_answered() {
    let scene = Scene::new(vec![says("A dot."), says("A dot."), says("A dot.")]).await;
    let path = "/v1/chat/completions";
    let whole = scene.post(path, tavern(false)).await.json();
    assert_eq!(whole["choices"][0]["message"]["content"], "A dot.");
    assert_eq!(whole["choices"][0]["logprobs"], Json::Null);
    let request = scene.model.requests().remove(0);
    assert_eq!(request.messages.len(), 6, "each in its place");
    let ModelMessage::User { parts } = &request.messages[3] else {
        panic!("{request:?}")
    };
    assert_eq!(parts[1], Part::Image { url: DOT.into() });
    let options = request.options;
    assert_eq!((options.max_tokens, options.seed), (Some(300), Some(7)));
    assert_eq!(options.stop, ["\nAnn:"]);
    assert!(options.extra.is_empty(), "{options:?}");

    let streamed = scene.post(path, tavern(true)).await;
    assert!(streamed.text.ends_with("data: [DONE]\n\n"));
    let chunks = streamed.events();
    let deltas = chunks.iter().map(|it| &it["choices"][0]["delta"]);
    let words = deltas.filter_map(|it| it["content"].as_str());
    assert_eq!(words.collect::<String>(), "A dot.");

    // Several swipes at once: the reason is told, and nothing is asked.
    let mut swipes = tavern(false);
    swipes["n"] = json!(3);
    assert_eq!(scene.post(path, swipes).await.error().2, json!("n"));
    assert_eq!(scene.model.requests().len(), 2);
}

#[tokio::test]
async fn open_webui_is_answered() {
    let thinking = ModelReply {
        reasoning: "Hm.".into(),
        ..says("Hello there, Ann.")
    };
    let titled = says("{\"title\": \"A greeting\"}");
    let mine = calls(&[("get_weather", "Oslo")]);
    let scene = Scene::new(vec![thinking, titled, mine, says("Rain.")]).await;
    let models = scene.get("/v1/models").await.json();
    for model in models["data"].as_array().unwrap() {
        assert!(model["id"].is_string() && model["owned_by"].is_string());
    }
    let path = "/v1/chat/completions";
    let chat = json!({
        "model": "default", "stream": true, "stream_options": {"include_usage": true},
        "messages": [
            {"role": "system", "content": "User's name: Ann"},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        ],
        "params": {}, "files": [], "features": {"web_search": false}, "variables": {},
        "session_id": "s", "chat_id": "c", "id": "m", "background_tasks": {"title_generation": true},
        "min_p": 0.1, "repeat_penalty": 1.1, "num_ctx": 4096,
    });
    let streamed = scene.post(path, chat).await.events();
    let deltas = streamed.iter().map(|it| &it["choices"][0]["delta"]);
    let thoughts: Vec<&str> = deltas
        .filter_map(|it| it["reasoning_content"].as_str())
        .collect();
    assert_eq!(thoughts, ["Hm."]);
    assert_eq!(streamed.last().unwrap()["usage"]["total_tokens"], 15);

    let task = json!({
        "model": "default", "stream": false, "max_completion_tokens": 1000,
        "messages": [{"role": "user", "content": "### Task:\nGenerate a concise title as JSON."}],
    });
    let titled = scene.post(path, task).await.json();
    let title = titled["choices"][0]["message"]["content"].as_str().unwrap();
    assert_eq!(title, "{\"title\": \"A greeting\"}");

    let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let function = json!({"name": "get_weather", "description": "", "parameters": parameters});
    let tools = json!([{"type": "function", "function": function}]);
    let mut messages = vec![json!({"role": "user", "content": "weather?"})];
    let asked = json!({"model": "default", "messages": messages, "tools": tools, "stream": true});
    let chunks = scene.post(path, asked).await.events();
    let calls = chunks
        .iter()
        .filter_map(|it| it["choices"][0]["delta"]["tool_calls"][0].as_object());
    let calls: Vec<_> = calls.collect();
    let id = &calls[0]["id"];
    let arguments = &calls[1]["function"]["arguments"];
    let made = json!({
        "index": 0, "id": id, "type": "function",
        "function": {"name": "get_weather", "arguments": arguments},
    });
    messages.push(json!({"role": "assistant", "content": "", "tool_calls": [made]}));
    messages.push(json!({"role": "tool", "tool_call_id": id, "content": "rain"}));
    let asked = json!({"model": "default", "messages": messages, "tools": tools, "stream": false});
    let answer = scene.post(path, asked).await.json();
    assert_eq!(answer["choices"][0]["message"]["content"], "Rain.");
}
