//! Updates that Telegram posts to us. Only it knows the secret that each carries; the answer says that the
//! update is on disk, and any other answer makes Telegram tell it again.

use std::{collections::HashMap, convert::Infallible, sync::Arc, time::Duration};

use hmac::{Hmac, KeyInit, Mac};
use http_body_util::{BodyExt, Limited};
use hyper::{Method, Request, StatusCode, body::Incoming, header::ORIGIN};
use parking_lot::Mutex;
use serde_json::{Map, Value as Json, json};
use sha1::Sha1;
use subtle::ConstantTimeEq;
use tokio::{sync::watch, time::sleep};

use super::{
    ASK, Shared, TelegramSettings,
    api::ApiError,
    event::{KINDS, album, text},
};
use crate::listening::{self, Answer, says};

const SECRET: &str = "x-telegram-bot-api-secret-token";
const LARGEST_UPDATE: usize = 4 << 20;
/// Between two looks at what Telegram says of the webhook.
const LOOK: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// As for a long poll: an album is whole when for so long no other picture has come.
const ALBUM: Duration = Duration::from_millis(600);

/// Albums that are coming in, by chat and group. A mutex, held for an insertion.
#[derive(Default)]
pub(super) struct Albums(Mutex<HashMap<(i64, String), OpenAlbum>>);

struct OpenAlbum {
    updates: Vec<Json>,
    /// Whether all of it is on disk, for each request that brought a part of it.
    stored: watch::Receiver<Option<bool>>,
}

/// Until it is dropped.
pub(super) async fn listen(shared: &Arc<Shared>, address: &str) -> Infallible {
    let own = shared.clone();
    let answering = move |request, _| {
        let shared = own.clone();
        async move { answer(&shared, request).await }
    };
    listening::listen(&shared.arrivals, address, answering).await
}

/// Tells Telegram where we are, again where somebody told it otherwise, and us what it says of it.
pub(super) async fn announce(shared: &Arc<Shared>, url: &str) -> Infallible {
    let mut known_error = None;
    loop {
        match look(shared, url, &mut known_error).await {
            Ok(()) => {
                shared.reached();
                sleep(LOOK).await;
            }
            Err(error) => {
                let limited = shared.lost(&error);
                sleep(limited.unwrap_or(FIRST_PAUSE * 5)).await;
            }
        }
    }
}

async fn look(shared: &Shared, url: &str, known_error: &mut Option<i64>) -> Result<(), ApiError> {
    let info = shared.api.call("getWebhookInfo", &Map::new(), ASK).await?;
    if text(&info, "url").as_deref() != Some(url) || known_error.is_none() {
        let asked = json!({"url": url, "secret_token": secret(&shared.settings),
            "allowed_updates": KINDS});
        let asked = asked.as_object().cloned().unwrap_or_default();
        shared.api.call("setWebhook", &asked, ASK).await?;
    }
    let at = info.get("last_error_date").and_then(Json::as_i64);
    let at = at.unwrap_or_default();
    // What went wrong before we began is no news.
    if known_error.is_some_and(|known| known != at) {
        let why = text(&info, "last_error_message").unwrap_or_default();
        shared
            .arrivals
            .failed(&format!("Telegram could not post to {url}: {why}"));
    }
    *known_error = Some(at);
    Ok(())
}

/// Made of the token, of which it tells nothing, where the operator has chosen none.
fn secret(settings: &TelegramSettings) -> String {
    if let Some(secret) = &settings.secret {
        return secret.clone();
    }
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(settings.token.as_bytes()) else {
        return String::new();
    };
    mac.update(b"callgate webhook");
    let made = mac.finalize().into_bytes();
    made.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn answer(shared: &Arc<Shared>, request: Request<Incoming>) -> Answer {
    let headers = request.headers();
    let shown = headers.get(SECRET).map(|it| it.as_bytes());
    let expected = secret(&shared.settings);
    let is_right = shown.is_some_and(|shown| bool::from(shown.ct_eq(expected.as_bytes())));
    if !is_right || expected.is_empty() || headers.contains_key(ORIGIN) {
        shared
            .arrivals
            .failed("refused an update: it does not show the secret that Telegram was given");
        return says(StatusCode::FORBIDDEN, "this is for Telegram\n");
    }
    if request.method() != Method::POST {
        return says(StatusCode::METHOD_NOT_ALLOWED, "updates are posted\n");
    }
    let body = Limited::new(request.into_body(), LARGEST_UPDATE);
    let Ok(body) = body.collect().await else {
        return says(StatusCode::PAYLOAD_TOO_LARGE, "the update is too large\n");
    };
    let Ok(update) = serde_json::from_slice::<Json>(&body.to_bytes()) else {
        return says(StatusCode::BAD_REQUEST, "the update is not JSON\n");
    };
    if shared.me().is_none() {
        return says(StatusCode::SERVICE_UNAVAILABLE, "not ready yet\n");
    }
    if shared.learn(&update) {
        shared.save().await;
    }
    if take(shared, update).await {
        says(StatusCode::OK, "")
    } else {
        let why = "the update was not stored\n";
        says(StatusCode::SERVICE_UNAVAILABLE, why)
    }
}

/// True when it is on disk.
async fn take(shared: &Arc<Shared>, update: Json) -> bool {
    let group = album(&update).map(|(chat, group)| (chat, group.to_owned()));
    let Some(group) = group else {
        return matches!(shared.take(vec![update]).await.await, Ok(Ok(())));
    };
    let mut stored = {
        let mut albums = shared.albums.0.lock();
        if let Some(open) = albums.get_mut(&group) {
            open.updates.push(update);
            open.stored.clone()
        } else {
            let (tell, stored) = watch::channel(None);
            let open = OpenAlbum {
                updates: vec![update],
                stored: stored.clone(),
            };
            albums.insert(group.clone(), open);
            // A task, since the request that brought the first picture may be gone before the last comes.
            tokio::spawn(collect(shared.clone(), group, tell));
            stored
        }
    };
    let stored = stored.wait_for(Option::is_some).await;
    stored.is_ok_and(|stored| *stored == Some(true))
}

async fn collect(shared: Arc<Shared>, group: (i64, String), tell: watch::Sender<Option<bool>>) {
    let mut count = 1;
    let updates = loop {
        sleep(ALBUM).await;
        let mut albums = shared.albums.0.lock();
        let now = albums.get(&group).map_or(0, |open| open.updates.len());
        if now == count {
            break albums.remove(&group).map(|open| open.updates);
        }
        count = now;
    };
    let stored = shared.take(updates.unwrap_or_default()).await.await;
    tell.send_replace(Some(matches!(stored, Ok(Ok(())))));
}
