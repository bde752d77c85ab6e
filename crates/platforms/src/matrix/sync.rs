//! The long poll: who we are, what happened since we last asked, and how far that is on disk. What was told is
//! read while the next question is already under way; the place moves when everything before it is stored.

use std::{
    convert::Infallible,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use serde_json::{Map, Value as Json, json};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};

use super::{
    Shared,
    api::{ApiError, Ask},
    event, gap,
    taking::Told,
};

/// How long the server waits for news, in milliseconds.
const WAIT: &str = "30000";
/// A server that has not answered by then never will.
const POLL: Duration = Duration::from_secs(75);
/// The first look at an account with many rooms.
const FIRST_LOOK: Duration = Duration::from_secs(300);
/// Before the first attempt after a failure, then twice as long each time up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A connection that held for so long was a good one.
const GOOD: Duration = Duration::from_secs(60);
/// Answers that are read before the first of them is on disk.
const AHEAD: usize = 8;
/// Events of one room in one answer; what is more is asked for.
const TIMELINE: u32 = 100;

/// What one answer of `/sync` told, and where the next question begins.
struct Batch {
    told: Vec<Told>,
    next: String,
}

pub(super) async fn follow(shared: &Arc<Shared>) -> Infallible {
    let mut pause = FIRST_PAUSE;
    loop {
        let began = Instant::now();
        let error = match connect(shared).await {
            Ok(since) => read(shared, since).await,
            Err(error) => error,
        };
        shared.lost(&worded(&error));
        if began.elapsed() >= GOOD {
            pause = FIRST_PAUSE;
        }
        if let ApiError::Limited { after } = error {
            sleep(after).await;
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn worded(error: &ApiError) -> String {
    if error.is_token() {
        return format!("the access token is not valid: give the platform a new one: {error}");
    }
    error.to_string()
}

/// Who we are there, and from where on we have not read.
async fn connect(shared: &Arc<Shared>) -> Result<String, ApiError> {
    let api = &shared.api;
    api.discover().await?;
    let who = api.ask(Ask::get(&["account", "whoami"])).await?;
    let id = who["user_id"].as_str().unwrap_or_default().to_owned();
    if shared
        .settings
        .account
        .as_ref()
        .is_some_and(|own| *own != id)
    {
        return Err(ApiError::Refused {
            status: 403,
            code: "account".to_owned(),
            reason: format!("the token is that of {id}, which is not the account of this platform"),
        });
    }
    let profile = api.ask(Ask::get(&["profile", &id])).await;
    let name = profile
        .ok()
        .and_then(|it| it["displayname"].as_str().map(str::to_owned));
    let version = Ask {
        prefix: "/_matrix/federation/v1",
        ..Ask::get(&["version"])
    };
    let server = api.ask(version).await.unwrap_or_default();
    let word = |name: &str| server["server"][name].as_str().unwrap_or_default();
    // What follows the number is about its build.
    let version = word("version").split(' ').next().unwrap_or_default();
    let program = format!("{} {version}", word("name"));
    shared.rooms.read_direct(api, &id).await?;
    shared.connected_as(id, name.unwrap_or_default(), program.trim().to_owned());
    let since = match stored(shared, || shared.host.cursor()).await {
        Some(since) => {
            if !shared.has_looked.load(Relaxed) {
                first_look(shared).await?;
            }
            since
        }
        // What was said before we were there is not ours to answer.
        None => {
            let here = first_look(shared).await?;
            stored(shared, || shared.host.set_cursor(&here)).await;
            here
        }
    };
    shared.has_looked.store(true, Relaxed);
    tracing::info!(
        platform = shared.settings.id,
        account = shared.bot().id,
        "connected"
    );
    shared.host.connected();
    Ok(since)
}

/// Invitations that wait, of which later answers say nothing more; and where we are.
async fn first_look(shared: &Arc<Shared>) -> Result<String, ApiError> {
    let none = json!({"types": []});
    let room = json!({"timeline": {"limit": 1, "types": []}, "state": none, "ephemeral": none, "account_data": none});
    let filter = json!({"room": room, "presence": none, "account_data": none}).to_string();
    let query = [("filter", filter.as_str()), ("timeout", "0")];
    let look = Ask::get(&["sync"]).query(&query).deadline(FIRST_LOOK);
    let answer = shared.api.ask(look).await?;
    shared.consider_invites(&answer["rooms"]["invite"]);
    next_of(&answer)
}

fn next_of(answer: &Json) -> Result<String, ApiError> {
    let next = answer["next_batch"].as_str().map(str::to_owned);
    next.ok_or_else(|| ApiError::NoAnswer {
        reason: "its answer does not say where the next begins".to_owned(),
    })
}

/// Until it fails; what was told by then is on disk when this returns.
async fn read(shared: &Arc<Shared>, since: String) -> ApiError {
    // A channel, so that a question need not wait until what was told is stored; it ends with the asking.
    let (batches, waiting) = mpsc::channel(AHEAD);
    let (error, ()) = tokio::join!(poll(shared, since, batches), keep_place(shared, waiting));
    error
}

async fn poll(shared: &Arc<Shared>, mut since: String, batches: mpsc::Sender<Batch>) -> ApiError {
    let none = json!({"types": []});
    let room = json!({
        "timeline": {"limit": TIMELINE, "lazy_load_members": true}, "state": {"lazy_load_members": true},
        "ephemeral": none, "account_data": none,
    });
    let filter = json!({"room": room, "presence": none, "account_data": {"types": ["m.direct"]}});
    let filter = filter.to_string();
    loop {
        let query = [
            ("filter", filter.as_str()),
            ("since", &since),
            ("timeout", WAIT),
        ];
        let asked = shared
            .api
            .ask(Ask::get(&["sync"]).query(&query).deadline(POLL))
            .await;
        let batch = match asked {
            Ok(answer) => take_answer(shared, &since, answer).await,
            Err(error) => return error,
        };
        match batch {
            Ok(batch) => {
                since.clone_from(&batch.next);
                // The other end is there for as long as this one.
                let _ = batches.send(batch).await;
            }
            Err(error) => return error,
        }
    }
}

async fn keep_place(shared: &Shared, mut waiting: mpsc::Receiver<Batch>) {
    while let Some(Batch { told, next }) = waiting.recv().await {
        for stored in told {
            // What was refused for good is in the status; telling it again changes nothing.
            let _ = stored.await;
        }
        stored(shared, || shared.host.set_cursor(&next)).await;
    }
}

/// Asked of the store until it answers.
async fn stored<T, F>(shared: &Shared, ask: impl Fn() -> F) -> T
where
    F: Future<Output = Result<T, crate::NotStored>>,
{
    let mut pause = Duration::from_millis(100);
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => shared.arrivals.failed(&error.reason),
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(5));
    }
}

async fn take_answer(
    shared: &Arc<Shared>,
    since: &str,
    mut answer: Json,
) -> Result<Batch, ApiError> {
    let next = next_of(&answer)?;
    let data = answer["account_data"]["events"].as_array();
    for event in data.into_iter().flatten() {
        if event["type"] == "m.direct" {
            shared.rooms.learn_direct(&event["content"]);
        }
    }
    shared.consider_invites(&answer["rooms"]["invite"]);
    let mut told = Vec::new();
    if let Some(left) = answer["rooms"]["leave"].as_object() {
        left.keys().for_each(|room| shared.rooms.forget(room));
    }
    let joined = answer["rooms"]["join"].as_object_mut();
    for (room, news) in joined.into_iter().flat_map(Map::iter_mut) {
        take_room(shared, room, since, news.take(), &mut told).await?;
    }
    if !told.is_empty() {
        shared.arrivals.heard();
    }
    Ok(Batch { told, next })
}

async fn take_room(
    shared: &Arc<Shared>,
    room: &str,
    since: &str,
    mut news: Json,
    told: &mut Vec<Told>,
) -> Result<(), ApiError> {
    let bot = shared.bot().id;
    let state = news["state"]["events"].as_array();
    let mut has_come = false;
    for raw in state.into_iter().flatten() {
        shared.rooms.apply(room, raw);
        has_come |= event::joins(raw, &bot);
    }
    let is_limited = news["timeline"]["limited"] == true;
    let until = news["timeline"]["prev_batch"].as_str().map(str::to_owned);
    let timeline = news["timeline"]["events"].as_array_mut();
    let mut timeline = timeline.map(std::mem::take).unwrap_or_default();
    has_come |= timeline.iter().any(|raw| event::joins(raw, &bot));
    let until = until.filter(|_| is_limited);
    if has_come {
        shared.rooms.forget(room);
        if let Ok(known) = shared.rooms.get(&shared.api, room).await
            && known.is_encrypted
        {
            shared.refuse_encrypted(room, &known).await;
        }
        match (gap::begins_at(&timeline, &bot), until) {
            (Some(begin), _) => drop(timeline.drain(..begin)),
            (None, Some(until)) => {
                let missed = shared.since_invitation(room, &bot, &until).await?;
                timeline.splice(..0, missed);
            }
            (None, None) => {}
        }
    } else if let Some(until) = until {
        let first = timeline.first().and_then(|raw| raw["event_id"].as_str());
        shared.take_missed(room, since, &until, first, told).await?;
    }
    for raw in timeline {
        told.extend(shared.take(room, raw).await?);
    }
    Ok(())
}
