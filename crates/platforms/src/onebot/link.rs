//! [`Link`]: one WebSocket to a OneBot program, whoever opened it. Actions go out and their answers come
//! back by `echo`; everything else that comes is an event. A link that is silent for too long, or takes
//! nothing more, is closed: a connection that is only half there would lose what is sent over it.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use serde_json::{Map, Value as Json, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{mpsc, oneshot},
    time::{interval, timeout},
};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message as Frame};

use super::answer;
use crate::ActionError;

/// Between two pings.
const PING: Duration = Duration::from_secs(15);
/// A peer answers pings: nothing for so long means that it is gone.
const SILENCE: Duration = Duration::from_secs(40);
/// How long one frame may take to leave.
const WRITE: Duration = Duration::from_secs(10);
/// Frames that may wait to leave.
const QUEUE: usize = 64;

/// A frame on its way out.
pub(super) struct Outgoing {
    text: String,
    /// From here on the other side may have read it.
    begun: Arc<AtomicBool>,
}

pub(super) struct Link {
    /// Whose it is, once that is known.
    account: OnceLock<String>,
    /// False for a connection that tells events and takes no actions.
    pub(super) acts: bool,
    outgoing: mpsc::Sender<Outgoing>,
    /// A mutex: held for one insertion or removal.
    waiting: Mutex<HashMap<u64, oneshot::Sender<Json>>>,
    numbers: AtomicU64,
}

impl Link {
    pub(super) fn new(acts: bool) -> (Arc<Link>, mpsc::Receiver<Outgoing>) {
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let link = Link {
            account: OnceLock::new(),
            acts,
            outgoing,
            waiting: Mutex::default(),
            numbers: AtomicU64::new(1),
        };
        (Arc::new(link), queue)
    }

    /// Empty until it is known.
    pub(super) fn account(&self) -> &str {
        self.account.get().map_or("", String::as_str)
    }

    pub(super) fn belongs_to(&self, account: String) {
        // The first word counts.
        let _ = self.account.set(account);
    }

    pub(super) fn is_open(&self) -> bool {
        !self.outgoing.is_closed()
    }

    pub(super) async fn call(
        &self,
        action: &str,
        parameters: &Map<String, Json>,
        deadline: Duration,
    ) -> Result<Json, ActionError> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (tell, told) = oneshot::channel();
        self.waiting.lock().insert(number, tell);
        let begun = Arc::new(AtomicBool::new(false));
        let answered = async {
            let text = json!({"action": action, "params": parameters, "echo": number}).to_string();
            let frame = Outgoing {
                text,
                begun: begun.clone(),
            };
            self.outgoing.send(frame).await.map_err(|_| ())?;
            told.await.map_err(|_| ())
        };
        let answered = timeout(deadline, answered).await;
        self.waiting.lock().remove(&number);
        match answered {
            Ok(Ok(answer)) => answer::read(answer),
            Ok(Err(())) if !begun.load(Ordering::Acquire) => Err(ActionError::Unreachable {
                reason: "the connection was closed".to_owned(),
            }),
            Ok(Err(())) => Err(ActionError::NoAnswer {
                reason: format!("the connection was closed after {action} was sent"),
            }),
            Err(_) if !begun.load(Ordering::Acquire) => Err(ActionError::Unreachable {
                reason: "the connection takes nothing more".to_owned(),
            }),
            Err(_) => Err(ActionError::NoAnswer {
                reason: format!("{action} was not answered in {} s", deadline.as_secs()),
            }),
        }
    }

    /// The frame, unless it is the answer to an action.
    fn sort(&self, frame: Json) -> Option<Json> {
        if frame.get("post_type").is_some() {
            return Some(frame);
        }
        let echo = frame.get("echo")?;
        let number = echo.as_u64().or_else(|| echo.as_str()?.parse().ok())?;
        if let Some(waits) = self.waiting.lock().remove(&number) {
            // Whoever asked may have given up.
            let _ = waits.send(frame);
        }
        None
    }

    /// Until either side closes it; returns why.
    pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        socket: WebSocketStream<S>,
        mut queue: mpsc::Receiver<Outgoing>,
        events: &mpsc::Sender<Json>,
    ) -> String {
        let (mut sink, mut stream) = socket.split();
        let write = async {
            let mut pings = interval(PING);
            loop {
                let frame = tokio::select! {
                    frame = queue.recv() => match frame {
                        Some(frame) => {
                            frame.begun.store(true, Ordering::Release);
                            Frame::text(frame.text)
                        }
                        None => return "it was replaced".to_owned(),
                    },
                    _ = pings.tick() => Frame::Ping(Default::default()),
                };
                match timeout(WRITE, sink.send(frame)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => return error.to_string(),
                    Err(_) => return format!("it took nothing for {} s", WRITE.as_secs()),
                }
            }
        };
        let read = async {
            loop {
                let frame = match timeout(SILENCE, stream.next()).await {
                    Ok(Some(Ok(frame))) => frame,
                    Ok(Some(Err(error))) => return error.to_string(),
                    Ok(None) => return "the other side closed it".to_owned(),
                    Err(_) => return format!("it was silent for {} s", SILENCE.as_secs()),
                };
                let Frame::Text(text) = frame else { continue };
                let Ok(frame) = serde_json::from_str(&text) else {
                    tracing::warn!(
                        account = self.account(),
                        "OneBot frame is not JSON; ignored"
                    );
                    continue;
                };
                if let Some(event) = self.sort(frame)
                    && events.send(event).await.is_err()
                {
                    return "the platform was switched off".to_owned();
                }
            }
        };
        let why = tokio::select! { why = write => why, why = read => why };
        queue.close();
        // Nobody answers what is still waited for.
        self.waiting.lock().clear();
        why
    }
}
