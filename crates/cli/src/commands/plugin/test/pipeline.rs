//! A message of a scenario through the whole pipeline: arrival, handlers, turn, answer.

use std::{sync::Arc, time::Duration};

use callgate_agent::{Override, Watch};
use callgate_contract::{Mode, Part, SessionKey};
use callgate_store::{Incoming, Sender};
use parking_lot::Mutex;
use serde_json::{Map, Value as Json};
use tokio::time::{Instant, sleep};

use callgate_service::{EventListener, Service, request::Event};

/// Beyond it a step has hung.
const LONGEST: Duration = Duration::from_secs(120);
/// How long a handler that goes on waiting may take to say its first word.
const FIRST_WORD: Duration = Duration::from_secs(20);
const OFTEN: Duration = Duration::from_millis(20);

/// The chat of a message.
pub fn session(step: &Map<String, Json>) -> Result<SessionKey, String> {
    let text = |key: &str| step.get(key).and_then(Json::as_str);
    let session = match text("group") {
        Some(group) => format!("test:GroupMessage:{group}"),
        None => format!("test:FriendMessage:{}", text("user").unwrap_or("u1")),
    };
    session.parse().map_err(|_| "no such chat".to_owned())
}

/// Sends it; what went out to the chat meanwhile.
pub async fn send(service: &Service, step: &Map<String, Json>) -> Result<Vec<Vec<Part>>, String> {
    let text = |key: &str| step.get(key).and_then(Json::as_str);
    let user = text("user").unwrap_or("u1");
    let session = session(step)?;
    let incoming = Incoming {
        session: session.clone(),
        sender: Sender {
            id: user.to_owned(),
            name: text("nick")
                .unwrap_or(if user == "u1" { "Alice" } else { user })
                .to_owned(),
        },
        parts: vec![Part::text(text("msg").unwrap_or_default())],
        message_id: None,
        hidden: false,
        mentioned: text("group").is_none(),
        sent_at: None,
    };
    let overrule = Override {
        mode: Some(Mode::Tools),
        model: None,
        principal: None,
        role: None,
        key: None,
        debounce: Some(Duration::ZERO),
        platform: None,
    };
    // A mutex, since messages leave from any task.
    let sent: Arc<Mutex<Vec<Vec<Part>>>> = Arc::default();
    let hear: EventListener = {
        let sent = sent.clone();
        Arc::new(move |event| {
            if let Event::Message(message) = event {
                sent.lock().push(message.parts.to_vec());
            }
            true
        })
    };
    let _listening = service.live().listen(&session, hear);
    let agent = service.agent().await.map_err(|failure| failure.message)?;
    let arriving =
        tokio::spawn(async move { agent.arrive(incoming, overrule, Watch::default()).await });
    let settle = step.get("settle").and_then(Json::as_f64);
    let patience = if settle.is_some() {
        FIRST_WORD
    } else {
        LONGEST
    };
    let until = Instant::now() + patience;
    // A handler that waits for the next message has not ended when this step has.
    let has_spoken = || !sent.lock().is_empty();
    while !arriving.is_finished() && Instant::now() < until && !(settle.is_some() && has_spoken()) {
        sleep(OFTEN).await;
    }
    sleep(Duration::from_secs_f64(
        settle.unwrap_or(0.0).clamp(0.0, 60.0),
    ))
    .await;
    if arriving.is_finished() {
        let arrived = arriving.await.map_err(|error| error.to_string())?;
        arrived.map_err(|error| error.to_string())?;
    } else if settle.is_none() {
        return Err(format!(
            "the message was not dealt with in {} s",
            LONGEST.as_secs()
        ));
    }
    Ok(sent.lock().clone())
}
