//! The connection over which a server tells events, opened again whenever it ends. Each begins with the number of
//! the last event that is on disk, so that the server tells what came meanwhile. One that is silent for too
//! long, or takes nothing more, is closed: it would only be half there.

use std::{convert::Infallible, sync::Arc, time::Duration};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Map, Value as Json, json};
use tokio::{
    net::TcpStream,
    time::{interval, sleep, timeout},
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{
        Error, Message as Frame,
        protocol::{CloseFrame, WebSocketConfig},
    },
};

use super::{Shared, cursor::Step, event::sequence};

const CONNECT: Duration = Duration::from_secs(10);
/// Between two pings; servers close what is silent for twelve seconds.
const PING: Duration = Duration::from_secs(8);
/// A server answers pings: nothing for so long means that it is gone.
const SILENCE: Duration = Duration::from_secs(30);
/// How long one frame may take to leave.
const WRITE: Duration = Duration::from_secs(10);
/// Before the first attempt after a failure, then twice as long each time up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const LARGEST_FRAME: usize = 64 << 20;
/// By which servers say that the token is wrong.
const UNAUTHORIZED: [u16; 4] = [3000, 4001, 4003, 4004];

const EVENT: u64 = 0;
const IDENTIFY: u64 = 3;
const READY: u64 = 4;
const META: u64 = 5;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// How a connection ended.
enum Ended {
    /// There was none.
    Never(String),
    Lost(String),
    /// It is to be opened again at once: the server knows what we have not heard.
    Again,
}

pub(super) async fn connect(shared: &Arc<Shared>) -> Infallible {
    while let Err(error) = shared.cursor.load().await {
        shared.arrivals.failed(&error.reason);
        sleep(FIRST_PAUSE).await;
    }
    let mut pause = FIRST_PAUSE;
    loop {
        let ended = attempt(shared).await;
        shared.logins.clear();
        match ended {
            Ended::Again => continue,
            Ended::Lost(reason) => {
                pause = FIRST_PAUSE;
                shared.arrivals.failed(&format!("disconnected: {reason}"));
            }
            Ended::Never(reason) => {
                let url = &shared.settings.url;
                let reason = format!("cannot connect to {url}: {reason}");
                shared.arrivals.failed(&reason);
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn attempt(shared: &Arc<Shared>) -> Ended {
    let asked = shared.cursor.base();
    let opened = timeout(CONNECT, open(shared, asked)).await;
    let opened = opened.unwrap_or_else(|_| Err(format!("no answer in {} s", CONNECT.as_secs())));
    let (socket, ready) = match opened {
        Ok(opened) => opened,
        Err(reason) => return Ended::Never(reason),
    };
    shared.ready(&ready);
    shared.cursor.connected();
    serve(shared, socket, asked).await
}

/// Until the server has said that it knows us.
async fn open(shared: &Shared, asked: Option<i64>) -> Result<(Socket, Json), String> {
    // The scheme is http or https, as the settings have it.
    let address = format!(
        "ws{}/v1/events",
        shared.settings.url.trim_start_matches("http")
    );
    let frames = WebSocketConfig::default()
        .max_message_size(Some(LARGEST_FRAME))
        .max_frame_size(Some(LARGEST_FRAME));
    let opened = connect_async_with_config(address, Some(frames), true).await;
    let (mut socket, _) = opened.map_err(|error| match error {
        Error::Http(response) if matches!(response.status().as_u16(), 401 | 403) => {
            "the token was refused".to_owned()
        }
        Error::Http(response) => format!(
            "it answered with status {}: is there a Satori server at this address?",
            response.status().as_u16()
        ),
        error => error.to_string(),
    })?;
    let mut body = Map::new();
    if let Some(token) = &shared.settings.token {
        body.insert("token".to_owned(), token.as_str().into());
    }
    // Below zero it would mean that nothing is asked for.
    if let Some(asked) = asked.map(|asked| asked.max(0)) {
        body.insert("sn".to_owned(), asked.into());
        // As servers before version 1.2 read it, and some after.
        body.insert("sequence".to_owned(), asked.into());
    }
    let identify = json!({"op": IDENTIFY, "body": body}).to_string();
    let sent = socket.send(Frame::text(identify)).await;
    sent.map_err(|error| error.to_string())?;
    loop {
        let frame = match socket.next().await {
            Some(Ok(Frame::Text(text))) => text,
            Some(Ok(Frame::Close(Some(close)))) => return Err(refusal(&close)),
            Some(Ok(Frame::Close(None))) | None => return Err("it closed the connection".into()),
            Some(Ok(_)) => continue,
            Some(Err(error)) => return Err(error.to_string()),
        };
        let mut frame: Json = serde_json::from_str(&frame).unwrap_or_default();
        if frame.get("op").and_then(Json::as_u64) == Some(READY) {
            let body = frame.get_mut("body").map(Json::take);
            return Ok((socket, body.unwrap_or_default()));
        }
    }
}

fn refusal(close: &CloseFrame) -> String {
    match u16::from(close.code) {
        code if UNAUTHORIZED.contains(&code) => "the token was refused".to_owned(),
        code => format!("it closed the connection ({code} {})", close.reason),
    }
}

async fn serve(shared: &Arc<Shared>, socket: Socket, mut asked: Option<i64>) -> Ended {
    let (mut sink, mut stream) = socket.split();
    let write = async {
        let mut pings = interval(PING);
        loop {
            pings.tick().await;
            // To the server's program, and to what lies between.
            let ping = Frame::text(r#"{"op":1}"#);
            match timeout(WRITE, sink.send(ping)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Ended::Lost(error.to_string()),
                Err(_) => return Ended::Lost(format!("it took nothing for {} s", WRITE.as_secs())),
            }
        }
    };
    let read = async {
        loop {
            let frame = match timeout(SILENCE, stream.next()).await {
                Ok(Some(Ok(Frame::Text(text)))) => text,
                Ok(Some(Ok(Frame::Close(Some(close))))) => return Ended::Lost(refusal(&close)),
                Ok(Some(Ok(_))) => continue,
                Ok(Some(Err(error))) => return Ended::Lost(error.to_string()),
                Ok(None) => return Ended::Lost("the other side closed it".to_owned()),
                Err(_) => return Ended::Lost(format!("it was silent for {} s", SILENCE.as_secs())),
            };
            let Ok(mut frame) = serde_json::from_str::<Json>(&frame) else {
                tracing::warn!("Satori frame is not JSON; ignored");
                continue;
            };
            let operation = frame.get("op").and_then(Json::as_u64);
            let body = frame.get_mut("body").map(Json::take).unwrap_or_default();
            match operation {
                Some(EVENT) => {
                    let step = told(shared, body, asked.take()).await;
                    if step == Step::Anew {
                        return Ended::Again;
                    }
                }
                Some(META) => shared.meta(&body),
                _ => {}
            }
        }
    };
    tokio::select! { why = write => why, why = read => why }
}

/// Returns once there is room for the event.
async fn told(shared: &Arc<Shared>, event: Json, asked: Option<i64>) -> Step {
    shared.arrivals.heard();
    let Some(number) = sequence(&event) else {
        shared.take(event, None).await;
        return Step::Take;
    };
    let step = loop {
        match shared.cursor.begin(number, asked).await {
            Ok(step) => break step,
            Err(error) => shared.arrivals.failed(&error.reason),
        }
        sleep(FIRST_PAUSE).await;
    };
    if step == Step::Take {
        shared.take(event, Some(number)).await;
    }
    step
}
