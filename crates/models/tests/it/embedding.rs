//! Texts to vectors: what is asked, what is read, and how many texts go at once.

use callgate_contract::{Model, ModelError, Price};
use callgate_models::{ModelSettings, Remote, Wire};
use serde_json::{Value as Json, json};

use crate::server::{Reply, Server};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn model(server: &Server, wire: Wire) -> Remote {
    let settings = ModelSettings {
        wire: Some(wire),
        model: Some("small".to_owned()),
        retries: 0,
        price: Some(Price {
            input: 2.0,
            output: 0.0,
            cached: None,
            written: None,
            long: None,
        }),
        ..server.settings()
    };
    Remote::new(settings).unwrap()
}

#[tokio::test]
async fn each_wire_that_has_embeddings_gives_them() {
    let openai = json!({
        "data": [
            {"index": 1, "embedding": [0.5, -1.0]},
            {"index": 0, "embedding": [1.0, 0.25]},
        ],
        "usage": {"prompt_tokens": 7, "total_tokens": 7},
    });
    let gemini = json!({"embeddings": [{"values": [1.0, 0.25]}, {"values": [0.5, -1.0]}]});
    let ollama = json!({"embeddings": [[1.0, 0.25], [0.5, -1.0]], "prompt_eval_count": 7});
    let asked = json!({"model": "small", "input": ["a", "b"], "encoding_format": "float"});
    let part =
        |text: &str| json!({"model": "models/small", "content": {"parts": [{"text": text}]}});
    for (wire, answer, path, body, money) in [
        (
            Wire::Openai,
            &openai,
            "/v1/embeddings",
            asked.clone(),
            Some(14),
        ),
        (Wire::Responses, &openai, "/v1/embeddings", asked, Some(14)),
        (
            Wire::Gemini,
            &gemini,
            "/v1/models/small:batchEmbedContents",
            json!({"requests": [part("a"), part("b")]}),
            None,
        ),
        (
            Wire::Ollama,
            &ollama,
            "/api/embed",
            json!({"model": "small", "input": ["a", "b"]}),
            Some(14),
        ),
    ] {
        let server = Server::start(vec![Reply::new("200 OK", "", &answer.to_string())]).await;
        let found = model(&server, wire)
            .embed(texts(&["a", "b"]))
            .await
            .unwrap();
        assert_eq!(found.vectors, [[1.0, 0.25], [0.5, -1.0]], "{wire}");
        assert_eq!(found.usage.and_then(|usage| usage.money), money, "{wire}");
        let request = &server.requests()[0];
        assert_eq!(request.line, format!("POST {path} HTTP/1.1"));
        assert_eq!(request.body, body);
    }
}

#[tokio::test]
async fn many_texts_go_in_several_requests() {
    let some = |count: usize| {
        let data: Vec<Json> = (0..count).map(|at| json!({"embedding": [at, 1]})).collect();
        let usage = json!({"prompt_tokens": count});
        let body = json!({"data": data, "usage": usage}).to_string();
        Reply::new("200 OK", "", &body)
    };
    let server = Server::start(vec![some(100), some(30)]).await;
    let many = vec!["x".to_owned(); 130];
    let found = model(&server, Wire::Openai).embed(many).await.unwrap();
    assert_eq!(found.vectors.len(), 130);
    assert_eq!(found.vectors[129], [29.0, 1.0]);
    let usage = found.usage.unwrap();
    assert_eq!((usage.input, usage.money), (130, Some(260)));
}

#[tokio::test]
async fn what_is_no_vector_for_each_text_is_an_error() {
    for body in [
        json!({"data": [{"embedding": [1.0]}]}),
        json!({"data": [{"embedding": [1.0]}, {"embedding": ["x"]}]}),
        json!({"data": [{"embedding": [1.0]}, {"embedding": []}]}),
        json!({"data": 3}),
    ] {
        let server = Server::start(vec![Reply::new("200 OK", "", &body.to_string())]).await;
        let found = model(&server, Wire::Openai).embed(texts(&["a", "b"])).await;
        assert!(matches!(found, Err(ModelError::Malformed { .. })), "{body}");
    }
    let server = Server::start(vec![Reply::new("200 OK", "", "{\"data\": [")]).await;
    let found = model(&server, Wire::Openai).embed(texts(&["a"])).await;
    assert!(matches!(found, Err(ModelError::Malformed { .. })));
}

#[tokio::test]
async fn a_wire_without_embeddings_says_so() {
    let server = Server::start(Vec::new()).await;
    let found = model(&server, Wire::Anthropic).embed(texts(&["a"])).await;
    let Err(ModelError::BadRequest { message }) = found else {
        panic!("{found:?}");
    };
    assert_eq!(message, "the wire 'anthropic' has no embeddings");
}
