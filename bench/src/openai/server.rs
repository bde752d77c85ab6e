//! Our server in a process of its own, as the measurement starts it: the API over an agent whose model
//! answers at once.

use std::sync::Arc;

use axum::serve::ListenerExt;
use callgate_agent::{Agent, AgentSettings, Sessions, Wiring};
use callgate_contract::{
    BoxFuture, DeliveryError, FinishReason, Model, ModelError, ModelEvent, ModelRequest,
    ModelStream, Models, NamedModel, Outbox, Piece, Receipt, Usage,
};
use callgate_server::OpenAi;
use serde_json::json;
use tokio::net::TcpListener;

use crate::scene::Scene;

struct AtOnce;

impl Model for AtOnce {
    fn stream(&self, _: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let words = "Done and said, in a few words.".split_inclusive(' ');
        let mut events: Vec<ModelEvent> = words
            .map(|word| ModelEvent::TextDelta { text: word.into() })
            .collect();
        events.push(ModelEvent::Usage(Usage {
            input: 10,
            output: 7,
            ..Usage::default()
        }));
        let reason = FinishReason::Stop;
        events.push(ModelEvent::Finished { reason });
        Box::pin(std::future::ready(Ok(ModelStream::of(events))))
    }
}

struct NullOutbox;

impl Outbox for NullOutbox {
    fn deliver<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(std::future::ready(Ok(Receipt::default())))
    }
}

/// Says where it listens, and serves until its standard input ends.
pub(crate) async fn serve() -> anyhow::Result<()> {
    let scene = Scene::new().await?;
    let store = scene.coder.store.clone();
    let first = NamedModel {
        id: "bench".into(),
        model: Arc::new(AtOnce),
    };
    let agent = Agent::new(Wiring {
        coder: scene.coder.clone(),
        models: Models::new(first, Vec::new(), None, None),
        settings: AgentSettings::default(),
        listeners: Vec::new(),
        outbox: Arc::new(NullOutbox),
        packages: Vec::new(),
        sessions: Sessions::default(),
    });
    let scopes = ["chat".to_owned(), "models".to_owned()];
    let (_, key) = store.keys().create(&scopes).await?;
    let refused = |_| -> BoxFuture<'static, Result<Vec<u8>, String>> {
        Box::pin(std::future::ready(Err("nothing is fetched here".into())))
    };
    // No plugin asks here.
    let openai = OpenAi::new(
        store,
        Arc::new(refused),
        Arc::default(),
        Arc::new(|_| Box::pin(async {})),
    );
    openai.attach(agent);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    println!("{}", json!({ "address": address, "key": key }));
    // As the product's own entrance does.
    let listener = listener.tap_io(|io| drop(io.set_nodelay(true)));
    let ended =
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    tokio::select! {
        served = axum::serve(listener, openai.routes()).into_future() => served?,
        _ = ended => {}
    }
    Ok(())
}
