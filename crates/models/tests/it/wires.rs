//! Each wire over a real connection: where the request goes, how the key is shown, what it costs.

use callgate_contract::{Model, ModelError, Price};
use callgate_models::{ModelSettings, Remote, Wire};
use secrecy::SecretString;

use crate::{
    answers::answers,
    server::{Reply, Server},
    streams::hello,
};

/// The case of that name as a server sends it.
fn reply(wire: Wire, name: &str) -> Reply {
    let case = answers(wire).into_iter().find(|case| case.name == name);
    let sent = String::from_utf8(case.unwrap().sent).unwrap();
    Reply::new("200 OK", "", &sent)
}

fn settings(server: &Server, wire: Wire) -> ModelSettings {
    ModelSettings {
        wire: Some(wire),
        model: Some("some-model".to_owned()),
        keys: vec![SecretString::from("sk-1")],
        ..server.settings()
    }
}

#[tokio::test]
async fn each_wire_is_spoken_where_and_as_its_provider_wants() {
    for (wire, path, header, shown) in [
        (
            Wire::Openai,
            "/v1/chat/completions",
            "authorization",
            "Bearer sk-1",
        ),
        (
            Wire::Responses,
            "/v1/responses",
            "authorization",
            "Bearer sk-1",
        ),
        (Wire::Anthropic, "/v1/messages", "x-api-key", "sk-1"),
        (
            Wire::Gemini,
            "/v1/models/some-model:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            "sk-1",
        ),
        (Wire::Ollama, "/api/chat", "authorization", "Bearer sk-1"),
    ] {
        let server = Server::start(vec![reply(wire, "plain")]).await;
        let model = Remote::new(settings(&server, wire)).unwrap();
        let answer = model.complete(hello()).await.unwrap();
        assert!(answer.text.starts_with("Hello"), "{wire} {}", answer.text);
        assert_eq!(model.about().wire, Some(wire.to_string()));

        let request = &server.requests()[0];
        assert_eq!(request.line, format!("POST {path} HTTP/1.1"));
        assert_eq!(request.header(header), Some(shown), "{wire}");
        let version = request.header("anthropic-version");
        assert_eq!(version.is_some(), wire == Wire::Anthropic);
    }
}

#[tokio::test]
async fn a_cut_or_broken_stream_is_asked_for_again_on_every_wire() {
    for (wire, broken) in [
        (Wire::Responses, "cut_before_completed"),
        (Wire::Anthropic, "overloaded_in_stream"),
        (Wire::Gemini, "malformed_function_call"),
        (Wire::Ollama, "cut_in_a_line"),
    ] {
        let server = Server::start(vec![reply(wire, broken), reply(wire, "plain")]).await;
        let model = Remote::new(settings(&server, wire)).unwrap();
        let answer = model.complete(hello()).await.unwrap();
        assert_eq!(answer.text, "Hello 世界", "{wire}");
    }
}

#[tokio::test]
async fn a_known_price_makes_a_cost_and_an_unknown_one_makes_none() {
    let wire = Wire::Anthropic;
    let price = Price {
        input: 3.0,
        output: 15.0,
        cached: Some(0.3),
        written: Some(3.75),
        long: None,
    };
    for (price, expect) in [
        // 10 plain, 100 cached, 20 written, 7 out.
        (Some(price), Some(30 + 30 + 75 + 105)),
        (None, None),
    ] {
        let server = Server::start(vec![reply(wire, "cached_usage")]).await;
        let settings = ModelSettings {
            price,
            ..settings(&server, wire)
        };
        let answer = Remote::new(settings).unwrap().complete(hello()).await;
        assert_eq!(answer.unwrap().usage.unwrap().money, expect);
    }
}

#[tokio::test]
async fn what_a_provider_charges_is_believed_where_no_price_is_known() {
    let server = Server::start(vec![reply(Wire::Openai, "usage_with_its_cost")]).await;
    let model = Remote::new(settings(&server, Wire::Openai)).unwrap();
    let answer = model.complete(hello()).await.unwrap();
    assert_eq!(answer.usage.unwrap().money, Some(15));
}

#[tokio::test]
async fn list_prices_are_known_by_the_address() {
    let about = |base_url: &str, model: &str| {
        let settings = ModelSettings {
            model: Some(model.to_owned()),
            ..ModelSettings::new("m", base_url)
        };
        Remote::new(settings).unwrap().about()
    };
    let haiku = about("https://api.anthropic.com", "claude-haiku-4-5");
    assert_eq!(haiku.price.unwrap().input, 1.0);
    assert_eq!(haiku.wire.as_deref(), Some("anthropic"));
    assert_eq!(about("http://127.0.0.1:1", "claude-haiku-4-5").price, None);
}

#[tokio::test]
async fn a_wrong_key_is_told_apart_on_every_wire() {
    let gemini = r#"{"error":{"code":400,"message":"API key not valid.","status":"X"}}"#;
    let anthropic = r#"{"type":"error","error":{"type":"authentication_error","message":"no"}}"#;
    for (wire, status, body) in [
        (Wire::Gemini, "400 Bad Request", gemini),
        (Wire::Anthropic, "401 Unauthorized", anthropic),
    ] {
        let server = Server::start(vec![Reply::new(status, "", body)]).await;
        let model = Remote::new(settings(&server, wire)).unwrap();
        let error = model.complete(hello()).await.unwrap_err();
        assert!(matches!(error, ModelError::Auth { .. }), "{error:?}");
    }
}
