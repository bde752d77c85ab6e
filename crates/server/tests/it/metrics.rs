//! What is counted of calls and models, and how it is shown.

use std::sync::Arc;

use callgate_contract::{
    Arguments, BoxFuture, Caller, Effect, Grant, JournalId, Kind, Listener, MethodError, Mode,
    Model, ModelError, ModelEvent, ModelReply, ModelRequest, ModelStream, NamedModel, Role,
    Surface, TurnFacts, Usage,
};
use callgate_gate::{Call, Gate, method};
use callgate_service::{Gauges, Metrics};
use callgate_testkit::Home;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

fn shown(metrics: &Metrics, lines: &[&str]) {
    let text = metrics.text(&Gauges {
        waiting: 0,
        clients: 2,
        sockets: 3,
        workers: vec![("nekro".into(), true, 0), ("own \"x\"".into(), false, 2)],
    });
    for line in lines {
        assert!(text.contains(&format!("{line}\n")), "{line} in {text}");
    }
}

#[tokio::test]
async fn calls_are_counted_by_method_and_outcome() {
    let home = Home::sqlite();
    let store = home.open().await;
    let gate = Gate::new(store.clone(), Default::default());
    let say = |_call: Call, arguments: Text| async move {
        match arguments.text.as_str() {
            "fail" => Err(MethodError::new("it failed")),
            text => Ok(text.to_owned()),
        }
    };
    let say = method("say", Kind::Tool, say).effect(Effect::Pure);
    gate.register(Arc::new(say)).unwrap();
    let metrics = Arc::new(Metrics::new(store));
    metrics.watch(&gate);
    let caller = |surface| Caller {
        session: "cli:FriendMessage:ann".parse().unwrap(),
        principal: "cli:ann".parse().unwrap(),
        role: Role::Member,
        surface,
        journal: JournalId::fresh(),
        depth: 0,
        grant: Arc::new(Grant::everything()),
    };
    for (surface, name, text) in [
        (Surface::Code, "say", "one"),
        (Surface::Code, "say", "two"),
        (Surface::ToolCall, "say", "fail"),
        (Surface::Remote, "say", "not exposed"),
        (Surface::Code, "made up", "three"),
    ] {
        let arguments = Arguments {
            positional: vec![text.into()],
            named: Vec::new(),
        };
        let _ = gate.call(&caller(surface), 1, name, arguments).await;
    }
    shown(
        &metrics,
        &[
            "callgate_calls_total{from=\"code\",method=\"builtin/say\",outcome=\"done\"} 2",
            "callgate_calls_total{from=\"tools\",method=\"builtin/say\",outcome=\"failed\"} 1",
            "callgate_calls_total{from=\"remote\",method=\"builtin/say\",outcome=\"refused\"} 1",
            "callgate_calls_total{from=\"code\",method=\"unknown\",outcome=\"refused\"} 1",
            "callgate_worker_up{worker=\"nekro\"} 1",
            "callgate_worker_ends_total{worker=\"own \\\"x\\\"\"} 2",
            "callgate_clients 2",
            "callgate_sockets 3",
        ],
    );
}

/// Answers, or does not.
struct Fickle;

impl Model for Fickle {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let answer = match request.messages.len() {
            0 => Err(ModelError::CutStream),
            _ => Ok(ModelStream::of(vec![
                ModelEvent::TextDelta { text: "a".into() },
                ModelEvent::TextDelta { text: "b".into() },
            ])),
        };
        Box::pin(std::future::ready(answer))
    }
}

#[tokio::test]
async fn models_are_timed_and_what_they_use_is_summed_up() {
    let home = Home::sqlite();
    let metrics = Arc::new(Metrics::new(home.open().await));
    let named = metrics.metered(NamedModel {
        id: "fickle".into(),
        model: Arc::new(Fickle),
    });
    let question = || ModelRequest::new(vec![callgate_contract::ModelMessage::user("hi")]);
    assert_eq!(named.model.complete(question()).await.unwrap().text, "ab");
    assert!(named.model.complete(ModelRequest::default()).await.is_err());
    let mut left = named.model.stream(question()).await.unwrap();
    left.next().await;
    drop(left);

    let facts = TurnFacts {
        turn: JournalId::fresh(),
        session: "cli:FriendMessage:ann".parse().unwrap(),
        conversation: None,
        user: "ann".into(),
        principal: "cli:ann".parse().unwrap(),
        mode: Mode::Code,
        model: "fickle".into(),
        depth: 0,
    };
    for money in [Some(1_500_000), Some(250_000), None] {
        let mut reply = ModelReply {
            usage: Some(Usage {
                input: 100,
                cached: 40,
                output: 7,
                money,
                ..Usage::default()
            }),
            ..ModelReply::default()
        };
        metrics.after_model(&facts, &mut reply).await;
    }
    shown(
        &metrics,
        &[
            "callgate_model_seconds_count{model=\"fickle\",outcome=\"answered\"} 1",
            "callgate_model_seconds_count{model=\"fickle\",outcome=\"failed\"} 1",
            "callgate_model_seconds_count{model=\"fickle\",outcome=\"cancelled\"} 1",
            "callgate_model_seconds_bucket{model=\"fickle\",outcome=\"answered\",le=\"+Inf\"} 1",
            "callgate_model_tokens_total{model=\"fickle\",kind=\"input\"} 300",
            "callgate_model_tokens_total{model=\"fickle\",kind=\"cached\"} 120",
            "callgate_model_tokens_total{model=\"fickle\",kind=\"output\"} 21",
            "callgate_model_money_total{model=\"fickle\"} 1.75",
            "callgate_rounds_total 3",
        ],
    );
}
