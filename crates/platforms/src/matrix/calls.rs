//! Matrix's interface for those who know it: the actions by name, and everything else by method and path
//! (`GET /_matrix/client/v3/joined_rooms`).

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Map, Value as Json, json};

use super::api::{Api, ApiError, Ask};
use crate::ActionError;

const DEADLINE: Duration = Duration::from_secs(60);
/// A longer rate limit is told to whoever asked.
const LONGEST_WAIT: Duration = Duration::from_secs(20);
const ATTEMPTS: u32 = 3;

/// Numbers of transactions, besides the time.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// A request that may be made again under the same transaction.
#[derive(Debug)]
struct Request {
    method: Method,
    prefix: String,
    segments: Vec<String>,
    query: Vec<(String, String)>,
    body: Option<Json>,
}

pub(super) async fn call(
    api: &Api,
    action: &str,
    parameters: Map<String, Json>,
) -> Result<Json, ActionError> {
    if action == "pin" {
        return pin(api, &parameters).await;
    }
    let request = read(action, parameters)?;
    let answer = perform(api, &request).await?;
    Ok(match action {
        "joined_members" => members(&answer),
        "messages" => answer["chunk"].clone(),
        _ => answer,
    })
}

fn read(action: &str, parameters: Map<String, Json>) -> Result<Request, ActionError> {
    if let Some((method, path)) = action.split_once(' ') {
        return raw(method, path, parameters);
    }
    let number = CALLS.fetch_add(1, Ordering::Relaxed);
    let transaction = format!("call{:x}-{number}", Timestamp::now().as_millisecond());
    let word = |name: &str| needed(&parameters, name);
    let room = word("room_id")?;
    let reason = parameters
        .get("reason")
        .and_then(Json::as_str)
        .unwrap_or_default();
    let (method, path, body): (_, Vec<String>, _) = match action {
        "react" => {
            let relation = json!({"rel_type": "m.annotation", "event_id": word("event_id")?, "key": word("key")?});
            let path = vec!["send".to_owned(), "m.reaction".to_owned(), transaction];
            (Method::PUT, path, Some(json!({"m.relates_to": relation})))
        }
        "redact" => {
            let path = vec!["redact".to_owned(), word("event_id")?, transaction];
            (Method::PUT, path, Some(json!({"reason": reason})))
        }
        "kick" | "ban" | "unban" | "invite" => {
            let body = json!({"user_id": word("user_id")?, "reason": reason});
            (Method::POST, vec![action.to_owned()], Some(body))
        }
        "set_topic" => {
            let path = vec!["state".to_owned(), "m.room.topic".to_owned()];
            (Method::PUT, path, Some(json!({"topic": word("topic")?})))
        }
        "set_name" => {
            let path = vec!["state".to_owned(), "m.room.name".to_owned()];
            (Method::PUT, path, Some(json!({"name": word("name")?})))
        }
        "joined_members" | "messages" => (Method::GET, vec![action.to_owned()], None),
        _ => return Err(refused(format!("there is no action '{action}'"), 404)),
    };
    let limit = parameters.get("limit").and_then(Json::as_u64).unwrap_or(20);
    let query = [
        ("dir", "b".to_owned()),
        ("limit", limit.min(100).to_string()),
    ];
    let query = query.into_iter().filter(|_| action == "messages");
    Ok(Request {
        method,
        prefix: super::api::V3.to_owned(),
        segments: [vec!["rooms".to_owned(), room], path].concat(),
        query: query
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        body,
    })
}

/// Parameters are the query of what is read and deleted, and the body of all else.
fn raw(method: &str, path: &str, parameters: Map<String, Json>) -> Result<Request, ActionError> {
    let wrong = || {
        refused(
            format!("'{method} {path}' is no request: write GET /_matrix/…"),
            400,
        )
    };
    let method = match method {
        "GET" => Method::GET,
        "PUT" => Method::PUT,
        "POST" => Method::POST,
        "DELETE" => Method::DELETE,
        _ => return Err(wrong()),
    };
    let words: Vec<&str> = path.split('/').skip(1).collect();
    let is_path = path.starts_with("/_matrix/") && !path.contains(['?', '#', '\\']);
    let leads_elsewhere = |word: &&str| matches!(decoded(word).as_str(), "." | "..");
    if !is_path || words.iter().any(leads_elsewhere) {
        return Err(wrong());
    }
    let has_body = method == Method::PUT || method == Method::POST;
    let as_text = |value: &Json| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let query = parameters.iter().filter(|_| !has_body);
    Ok(Request {
        query: query
            .map(|(name, value)| (name.clone(), as_text(value)))
            .collect(),
        method,
        prefix: String::new(),
        segments: words.iter().map(|word| decoded(word)).collect(),
        body: has_body.then_some(Json::Object(parameters)),
    })
}

/// A word of a path, which is encoded again when the request is made.
fn decoded(word: &str) -> String {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = after
            .get(if code.is_some() { 2 } else { 0 }..)
            .unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn perform(api: &Api, request: &Request) -> Result<Json, ActionError> {
    let segments: Vec<&str> = request.segments.iter().map(String::as_str).collect();
    let query = request.query.iter();
    let query: Vec<(&str, &str)> = query
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let mut attempt = 1;
    loop {
        let asked = api.ask(Ask {
            method: request.method.clone(),
            prefix: &request.prefix,
            segments: &segments,
            query: &query,
            body: request.body.as_ref(),
            deadline: DEADLINE,
        });
        match asked.await {
            Err(ApiError::Limited { after }) if attempt < ATTEMPTS && after <= LONGEST_WAIT => {
                tokio::time::sleep(after).await;
            }
            answer => return answer.map_err(worded),
        }
        attempt += 1;
    }
}

fn worded(error: ApiError) -> ActionError {
    let reason = error.to_string();
    match error {
        ApiError::Unreachable { .. } => ActionError::Unreachable { reason },
        ApiError::NoAnswer { .. } => ActionError::NoAnswer { reason },
        ApiError::Limited { .. } => refused(reason, 429),
        ApiError::Refused { status, .. } => refused(reason, status.into()),
    }
}

fn refused(reason: String, code: i64) -> ActionError {
    ActionError::Refused { reason, code }
}

fn needed(parameters: &Map<String, Json>, name: &str) -> Result<String, ActionError> {
    let word = parameters.get(name).and_then(Json::as_str);
    let word = word.filter(|word| !word.is_empty()).map(str::to_owned);
    word.ok_or_else(|| refused(format!("it needs {name}"), 400))
}

/// A list of people, rather than of what the server knows of them.
fn members(answer: &Json) -> Json {
    let joined = answer["joined"].as_object().into_iter().flatten();
    let members = joined.map(|(id, it)| json!({"user_id": id, "display_name": it["display_name"]}));
    members.collect()
}

/// What is pinned is one list, which is written as a whole.
async fn pin(api: &Api, parameters: &Map<String, Json>) -> Result<Json, ActionError> {
    let (room, event) = (
        needed(parameters, "room_id")?,
        needed(parameters, "event_id")?,
    );
    let path = ["rooms", room.as_str(), "state", "m.room.pinned_events"];
    let pinned = match api.ask(Ask::get(&path)).await {
        Err(error) if error.is_absent() => Json::Null,
        pinned => pinned.map_err(worded)?,
    };
    let mut pinned = pinned["pinned"].as_array().cloned().unwrap_or_default();
    if !pinned.iter().any(|it| *it == event) {
        pinned.push(event.into());
    }
    let body = json!({"pinned": pinned});
    api.ask(Ask::put(&path, &body)).await.map_err(worded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(action: &str, parameters: Json) -> Result<Request, String> {
        let Json::Object(parameters) = parameters else {
            panic!("no object");
        };
        read(action, parameters).map_err(|error| error.to_string())
    }

    #[test]
    fn actions_are_requests() {
        let ban = json!({"room_id": "!r:x", "user_id": "@eve:x", "reason": "spam"});
        let made = request("ban", ban).unwrap();
        assert_eq!(
            (made.method, made.segments.join("/")),
            (Method::POST, "rooms/!r:x/ban".to_owned())
        );
        assert_eq!(
            made.body,
            Some(json!({"user_id": "@eve:x", "reason": "spam"}))
        );
        let react = || json!({"room_id": "!r:x", "event_id": "$1", "key": "\u{1f44d}"});
        let (one, other) = (
            request("react", react()).unwrap(),
            request("react", react()).unwrap(),
        );
        assert_ne!(
            one.segments.last(),
            other.segments.last(),
            "each is one of its own"
        );
        assert_eq!(
            request("react", json!({"room_id": "!r:x"})).unwrap_err(),
            "it needs event_id"
        );
        assert!(
            request("dance", json!({"room_id": "!r:x"}))
                .unwrap_err()
                .contains("no action")
        );
    }

    #[test]
    fn all_else_is_a_method_and_a_path() {
        let made = request(
            "GET /_matrix/client/v3/rooms/!r%2F:x/state",
            json!({"limit": 3}),
        )
        .unwrap();
        assert_eq!(made.segments.last().unwrap(), "state");
        assert_eq!(made.segments[4], "!r/:x");
        assert_eq!(made.query, [("limit".to_owned(), "3".to_owned())]);
        let made = request("PUT /_matrix/client/v3/x", json!({"a": [1]})).unwrap();
        assert_eq!(made.body, Some(json!({"a": [1]})));
        for wrong in [
            "GET /admin",
            "GET /_matrix/../x",
            "GET /_matrix/%2e%2E/x",
            "GET /_matrix/x?a",
            "TRACE /_matrix/x",
        ] {
            assert!(
                request(wrong, json!({}))
                    .unwrap_err()
                    .contains("is no request"),
                "{wrong}"
            );
        }
    }
}
