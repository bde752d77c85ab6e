//! [`Repeats`]: calls that are being made or were just made, by the name their client gave them.
//! Who asks again, perhaps over a new connection, waits for the same answer. Compat(newage): the
//! extension uses one constant `requestId` for each kind of call, so a name stands for the last
//! call made under it, and only for the very same call.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use callgate_contract::Effect;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use tokio::sync::watch;

use super::{Peer, function_call::Request, record::WINDOW};

/// Calls remembered.
const MAX: usize = 4096;
/// Bytes of an answer that is remembered; of a longer one only the journal knows.
const MAX_ANSWER: usize = 64 << 10;
/// Setting the same keys again is harmless, and sooner or later what the client wants.
const IDEMPOTENT: Duration = Duration::from_secs(10);

/// A call that could be a repetition.
pub(super) struct Asked {
    /// `None`: it has no name.
    name: Option<(String, String)>,
    call: String,
    window: Duration,
}

impl Asked {
    pub(super) fn new(peer: &Peer, request: &Request, effect: Effect) -> Self {
        let asker = || format!("{}\n{}", peer.user(), peer.client());
        Asked {
            name: (!request.id.is_null()).then(|| (asker(), request.id.to_string())),
            call: json!([request.target, request.function, request.arguments]).to_string(),
            window: match effect {
                Effect::Pure | Effect::Idempotent => IDEMPOTENT,
                Effect::Rows | Effect::Effectful => WINDOW,
            },
        }
    }
}

#[derive(Default)]
pub(super) struct Repeats(Mutex<HashMap<(String, String), Made>>);

struct Made {
    call: String,
    until: Instant,
    /// `None` while the call is being made, and for an answer too long to keep.
    answer: watch::Receiver<Option<Json>>,
}

impl Repeats {
    /// The answer of the call: made now, or as it is or was made under the same name.
    pub(super) async fn answer(
        self: Arc<Self>,
        asked: Asked,
        make: impl Future<Output = Json>,
    ) -> Json {
        let Some(name) = asked.name else {
            return make.await;
        };
        let tell = match self.begin(name, asked.call, asked.window) {
            Ok(tell) => tell,
            Err(mut made) => {
                if let Ok(answer) = made.wait_for(Option::is_some).await
                    && let Some(answer) = &*answer
                {
                    return answer.clone();
                }
                // It was not remembered; the journal decides.
                return make.await;
            }
        };
        let answer = make.await;
        if answer.to_string().len() <= MAX_ANSWER {
            tell.send_replace(Some(answer.clone()));
        }
        answer
    }

    fn begin(
        &self,
        name: (String, String),
        call: String,
        window: Duration,
    ) -> Result<watch::Sender<Option<Json>>, watch::Receiver<Option<Json>>> {
        let now = Instant::now();
        let mut made = self.0.lock();
        if let Some(known) = made.get(&name)
            && known.call == call
            && known.until > now
        {
            return Err(known.answer.clone());
        }
        if made.len() >= MAX {
            made.retain(|_, made| made.until > now);
        }
        if made.len() >= MAX {
            let oldest = made.iter().min_by_key(|(_, made)| made.until);
            if let Some(name) = oldest.map(|(name, _)| name.clone()) {
                made.remove(&name);
            }
        }
        let (tell, answer) = watch::channel(None);
        let until = now + window;
        made.insert(
            name,
            Made {
                call,
                until,
                answer,
            },
        );
        Ok(tell)
    }
}
