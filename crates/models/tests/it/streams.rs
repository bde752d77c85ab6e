//! Answers that succeed, over real connections.

use callgate_contract::{
    FinishReason, Model, ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream,
};
use callgate_models::{ModelSettings, Remote};
use secrecy::SecretString;
use serde_json::json;

use crate::server::{FINISH, Reply, Server, delta};

pub fn hello() -> ModelRequest {
    ModelRequest::new(vec![ModelMessage::user("Hello")])
}

async fn next(stream: &mut ModelStream) -> ModelEvent {
    stream.next().await.unwrap().unwrap()
}

fn said(text: &str) -> ModelEvent {
    ModelEvent::TextDelta {
        text: text.to_owned(),
    }
}

#[tokio::test]
async fn everything_configured_is_on_the_wire() {
    let server = Server::start(vec![Reply::saying("Hi")]).await;
    let mut settings = ModelSettings {
        model: Some("gpt-x".to_owned()),
        keys: vec![SecretString::from("sk-1")],
        ..server.settings()
    };
    settings
        .headers
        .insert("X-Title".to_owned(), SecretString::from("Callgate"));
    settings.options.temperature = Some(0.5);
    settings.options.top_p = Some(0.9);
    settings.options.extra.insert("top_k".to_owned(), json!(4));
    let model = Remote::new(settings).unwrap();

    let mut request = hello();
    request.options.temperature = Some(0.1);
    request.options.extra.insert("min_p".to_owned(), json!(0.2));
    model.complete(request).await.unwrap();

    let request = &server.requests()[0];
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer sk-1"));
    assert_eq!(request.header("x-title"), Some("Callgate"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let expect = json!({
        "model": "gpt-x",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": true,
        "stream_options": {"include_usage": true},
        "temperature": 0.1,
        "top_p": 0.9,
        "top_k": 4,
        "min_p": 0.2,
    });
    assert_eq!(request.body, expect);
}

#[tokio::test]
async fn a_limit_that_the_model_cannot_reach_is_left_out_from_then_on() {
    let refusal = json!({"error": {"message": "max_tokens is too large: 90000. This model \
        supports at most 16384 completion tokens, whereas you provided 90000."}});
    let refused = Reply::new("400 Bad Request", "", &refusal.to_string());
    let answers = [(); 3].map(|()| Reply::saying("Hi"));
    let server = Server::start([refused].into_iter().chain(answers).collect()).await;
    let model = server.model();
    for limit in [90_000, 100_000, 5_000] {
        let mut request = hello();
        request.output_limit = Some(limit);
        assert_eq!(model.complete(request).await.unwrap().text, "Hi");
    }
    let limits = server.requests().into_iter();
    let limits: Vec<_> = limits.map(|it| it.body["max_tokens"].as_u64()).collect();
    assert_eq!(limits, [Some(90_000), None, None, Some(5_000)]);
}

#[tokio::test]
async fn a_header_of_ones_own_replaces_the_key() {
    let server = Server::start(vec![Reply::saying("Hi")]).await;
    let mut settings = server.settings();
    settings.base_url = format!("{}/?api-version=2", server.base_url);
    settings.keys = vec![SecretString::from("sk-1")];
    let own = SecretString::from("Basic x");
    settings.headers.insert("Authorization".to_owned(), own);
    Remote::new(settings)
        .unwrap()
        .complete(hello())
        .await
        .unwrap();
    let request = &server.requests()[0];
    assert_eq!(
        request.line,
        "POST /v1/chat/completions?api-version=2 HTTP/1.1"
    );
    assert_eq!(request.header("authorization"), Some("Basic x"));
}

#[tokio::test]
async fn events_arrive_while_the_server_still_speaks() {
    let mut server = Server::start(vec![Reply::stream(&delta("first")).held_open()]).await;
    let mut stream = server.model().stream(hello()).await.unwrap();
    assert_eq!(next(&mut stream).await, said("first"));
    drop(stream);
    server.client_closes().await;
}

#[tokio::test]
async fn giving_up_before_the_answer_begins_closes_the_connection() {
    let mut server = Server::start(vec![Reply::silence()]).await;
    let model = server.model();
    let asked = tokio::spawn(async move { model.complete(hello()).await });
    while server.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    asked.abort();
    server.client_closes().await;
}

#[tokio::test]
async fn an_answer_cut_off_is_asked_for_again() {
    let replies = vec![
        Reply::stream(&delta("The ans")),
        Reply::saying("The answer."),
    ];
    let server = Server::start(replies).await;
    let mut stream = server.model().stream(hello()).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.unwrap());
    }
    let reason = FinishReason::Stop;
    let expect = [
        said("The ans"),
        ModelEvent::Restarted,
        said("The answer."),
        ModelEvent::Finished { reason },
    ];
    assert_eq!(events, expect);
}

#[tokio::test]
async fn whoever_stops_listening_when_an_answer_is_cut_off_causes_no_second_request() {
    let replies = vec![
        Reply::stream(&delta("The ans")),
        Reply::saying("The answer."),
    ];
    let server = Server::start(replies).await;
    let mut stream = server.model().stream(hello()).await.unwrap();
    assert_eq!(next(&mut stream).await, said("The ans"));
    assert_eq!(next(&mut stream).await, ModelEvent::Restarted);
    drop(stream);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_whole_answer_holds_nothing_of_the_one_cut_off() {
    let broken = Reply::new("200 OK", "content-length: 5000\r\n", &delta("The ans"));
    let server = Server::start(vec![broken, Reply::saying("The answer.")]).await;
    let reply = server.model().complete(hello()).await.unwrap();
    assert_eq!(reply.text, "The answer.");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_answer_always_cut_off_is_an_error() {
    let cut = || Reply::stream(&delta("The ans"));
    let server = Server::start(vec![cut(), cut()]).await;
    let settings = ModelSettings {
        retries: 1,
        ..server.settings()
    };
    let error = Remote::new(settings).unwrap().complete(hello()).await;
    assert_eq!(error, Err(ModelError::CutStream));
}

#[tokio::test]
async fn a_complete_answer_does_not_wait_for_the_server_to_hang_up() {
    let reply = Reply::stream(&format!("{}{FINISH}", delta("Hi"))).held_open();
    let server = Server::start(vec![reply]).await;
    let reply = server.model().complete(hello()).await.unwrap();
    assert_eq!(reply.text, "Hi");
}

#[tokio::test]
async fn a_server_that_cannot_stream_is_understood() {
    let body = json!({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]});
    let reply = Reply::new(
        "200 OK",
        "content-type: application/json\r\n",
        &body.to_string(),
    );
    let server = Server::start(vec![reply]).await;
    let reply = server.model().complete(hello()).await.unwrap();
    assert_eq!(reply.text, "Hi");
}

#[tokio::test]
async fn a_dropped_wait_loses_no_event() {
    let server = Server::start(vec![Reply::saying("Hi")]).await;
    let mut stream = server.model().stream(hello()).await.unwrap();
    let mut reply = callgate_contract::ModelReply::default();
    loop {
        // Polls once and gives up, as a `select!` with another branch ready does.
        let waited = tokio::select! {
            biased;
            event = stream.next() => Some(event),
            () = tokio::task::yield_now() => None,
        };
        match waited {
            None => {}
            Some(None) => break,
            Some(Some(event)) => reply.absorb(event.unwrap()),
        }
    }
    assert_eq!(reply.text, "Hi");
    assert_eq!(server.requests().len(), 1);
}
