//! What happens, as it happens: server-sent events. Whoever was cut off comes back with the number
//! of the last event it saw and gets what it missed; where that is forgotten, `reset` tells it to
//! read anew.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::State,
    http::HeaderMap,
    response::sse::{self, KeepAlive, Sse},
};
use callgate_contract::SessionKey;
use futures_core::Stream;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Api,
    input::Params,
    route::{Routes, Verb},
};
use crate::live::{Heard, Subscription};

const ALIVE: Duration = Duration::from_secs(15);

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Get, "/api/events", "What happens, live", events)
        .query::<Which>()
        .media("text/event-stream");
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Which {
    /// Only of this session.
    session: Option<SessionKey>,
}

async fn events(
    State(api): State<Api>,
    Params(which): Params<Which>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<sse::Event, Infallible>>> {
    let last = headers.get("last-event-id");
    let last = last.and_then(|id| id.to_str().ok()).map(str::to_owned);
    let subscription = api.live().subscribe(which.session, last.as_deref());
    Sse::new(Events(subscription)).keep_alive(KeepAlive::new().interval(ALIVE))
}

struct Events(Subscription);

impl Stream for Events {
    type Item = Result<sse::Event, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0
            .poll_next(context)
            .map(|heard| heard.map(|heard| Ok(told(&heard))))
    }
}

fn told(heard: &Heard) -> sse::Event {
    match heard {
        Heard::Reset => sse::Event::default().event("reset").data("{}"),
        Heard::Told { id, text } => sse::Event::default().id(id).data(text),
    }
}
