//! Timers, of a session and of all.

use axum::{Json as Body, extract::State};
use callgate_contract::SessionKey;
use callgate_store::Timer;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Api, Outcome,
    input::{Params, Path},
    list::{List, Piece},
    problem::Problem,
    route::{Routes, Verb},
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/timers",
            "Timers that wait in all sessions, the next one first",
            all,
        )
        .query::<Piece>()
        .gives::<List<TimerView>>();
    routes
        .add(
            Verb::Get,
            "/api/sessions/{session}/timers",
            "Timers that wait",
            list,
        )
        .gives::<List<TimerView>>();
    routes.add(
        Verb::Delete,
        "/api/sessions/{session}/timers/{id}",
        "Cancel a timer",
        cancel,
    );
}

#[derive(Debug, Serialize, JsonSchema)]
struct TimerView {
    id: String,
    session: SessionKey,
    user: String,
    text: String,
    #[schemars(with = "String")]
    due_at: Timestamp,
}

impl From<Timer> for TimerView {
    fn from(timer: Timer) -> Self {
        TimerView {
            id: timer.id.to_string(),
            session: timer.session,
            user: timer.user,
            text: timer.text,
            due_at: timer.due_at,
        }
    }
}

async fn all(State(api): State<Api>, Params(piece): Params<Piece>) -> Outcome<List<TimerView>> {
    let timers = api.store().timers().all().await?;
    let views = timers.into_iter().map(TimerView::from).collect();
    Ok(Body(piece.of(views, |timer: &TimerView| timer.id.clone())?))
}

async fn list(State(api): State<Api>, Path(session): Path<SessionKey>) -> Outcome<List<TimerView>> {
    let timers = api.store().timers().list(&session).await?;
    Ok(Body(List {
        items: timers.into_iter().map(TimerView::from).collect(),
        next: None,
    }))
}

async fn cancel(
    State(api): State<Api>,
    Path((session, id)): Path<(SessionKey, String)>,
) -> Outcome<()> {
    let missing = || Problem::missing(format!("no timer {id} waits in {session}"));
    let timer = id.parse().map_err(|_| missing())?;
    if api.store().timers().cancel(&session, timer).await? {
        Ok(Body(()))
    } else {
        Err(missing())
    }
}
