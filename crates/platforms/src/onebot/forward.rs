//! Connecting to a OneBot program that listens itself, and again whenever that ends.

use std::{convert::Infallible, sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};
use tokio_tungstenite::{
    connect_async_with_config,
    tungstenite::{Error, client::IntoClientRequest, http::HeaderValue},
};

use super::Shared;

const CONNECT: Duration = Duration::from_secs(10);
/// Before the first attempt after a failure, then twice as long each time up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

pub(super) async fn connect(shared: &Arc<Shared>, url: &str) -> Infallible {
    let mut pause = FIRST_PAUSE;
    loop {
        match attempt(shared, url).await {
            Ok(()) => pause = FIRST_PAUSE,
            Err(reason) => shared
                .arrivals
                .failed(&format!("cannot connect to {}: {reason}", shown(url))),
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn attempt(shared: &Arc<Shared>, url: &str) -> Result<(), String> {
    let mut request = url
        .into_client_request()
        .map_err(|error| error.to_string())?;
    if let Some(token) = &shared.settings.token {
        let bearer = HeaderValue::from_str(&format!("Bearer {token}"));
        let bearer = bearer.map_err(|_| "the token has characters that no header takes")?;
        request.headers_mut().insert("Authorization", bearer);
    }
    let opened = connect_async_with_config(request, Some(shared.frames()), true);
    let opened = timeout(CONNECT, opened).await;
    let opened = opened.map_err(|_| format!("no answer in {} s", CONNECT.as_secs()))?;
    let (socket, _) = opened.map_err(|error| match error {
        Error::Http(response) if matches!(response.status().as_u16(), 401 | 403) => {
            "the token was refused".to_owned()
        }
        Error::Io(error) => error.to_string(),
        error => error.to_string(),
    })?;
    shared.connected(socket, "", true).await;
    Ok(())
}

/// Some write the token into the address.
fn shown(url: &str) -> &str {
    url.split_once('?').map_or(url, |(url, _)| url)
}
