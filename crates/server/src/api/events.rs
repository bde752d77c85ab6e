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
    input::QueryParams,
    problem::Problem,
    route::{Routes, Verb},
};
use callgate_service::{
    Capability, EventEnvelope, EventFilter, StreamEvent, Subscription, Topic, Topics,
};

const ALIVE: Duration = Duration::from_secs(15);

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Get, "/api/events", "What happens, live", events)
        .query::<EventQuery>()
        .gives::<EventEnvelope>()
        .media("text/event-stream")
        .needs(Capability::Read);
}

#[derive(Debug, Deserialize, JsonSchema)]
struct EventQuery {
    /// Only of this session.
    session: Option<SessionKey>,
    /// Some of turns, runs, jobs, approvals, changes, logs, with commas between them; all but logs
    /// where none are named.
    topics: Option<String>,
}

async fn events(
    State(api): State<Api>,
    QueryParams(which): QueryParams<EventQuery>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, Problem> {
    let topics = which.topics.as_deref().map(Topics::read).transpose();
    let topics = topics.map_err(|word| {
        let known: Vec<&str> = Topic::ALL.iter().map(|(_, name)| *name).collect();
        Problem::bad(format!("'{word}' is no topic")).hint(known.join(", "))
    })?;
    let wish = EventFilter {
        session: which.session,
        topics: topics.unwrap_or_default(),
    };
    let last = headers.get("last-event-id");
    let last = last.and_then(|id| id.to_str().ok()).map(str::to_owned);
    let subscription = api.live().subscribe(wish, last.as_deref());
    Ok(Sse::new(Events(subscription)).keep_alive(KeepAlive::new().interval(ALIVE)))
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

fn told(heard: &StreamEvent) -> sse::Event {
    match heard {
        StreamEvent::Reset => sse::Event::default().event("reset").data("{}"),
        StreamEvent::Closing => sse::Event::default().event("closing").data("{}"),
        StreamEvent::Event { id, text } => sse::Event::default().id(id).data(text),
    }
}
