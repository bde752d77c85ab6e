//! One request and its answer, asked for again where that may help: another key after a refusal,
//! a pause after an overload, the whole answer once more if it was cut off.
//!
//! Invariant: an answer that was cut off after its first words is announced (`ModelEvent::Restarted`)
//! before it is asked for again. A listener that cannot take back what it has shown drops the stream, and
//! nothing is paid for twice.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use callgate_contract::{ModelError, ModelEvent, ModelStream, Price};

use crate::{
    decoder::{self, Decoder},
    failure,
    keys::ApiKey,
    remote::ModelServer,
    transport::{self, OpenResponse, TransportError},
};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// A server that asks for a longer wait gets none: the loop may prefer another model.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// For a key that is wrong or whose account is empty.
const LONG_REST: Duration = Duration::from_secs(600);
/// Usage may follow the finish reason, but an answer that is complete is not held up for it.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) struct Exchange {
    server: Arc<ModelServer>,
    url: Arc<str>,
    body: Vec<u8>,
    open: Option<OpenStream>,
    events: VecDeque<ModelEvent>,
    /// Something of the answer has been told already.
    told: bool,
    /// The answer was cut off and is asked for again after this wait, unless nobody listens by then.
    again_in: Option<Duration>,
    /// Keys that this request has not tried.
    fresh_keys: usize,
    tries: u32,
}

struct OpenStream {
    answer: OpenResponse,
    key: ApiKey,
    decoder: Decoder,
}

impl Exchange {
    pub(crate) fn new(server: Arc<ModelServer>, url: Arc<str>, body: Vec<u8>) -> Self {
        let fresh_keys = server.keys.count().saturating_sub(1);
        Exchange {
            server,
            url,
            body,
            open: None,
            events: VecDeque::new(),
            told: false,
            again_in: None,
            fresh_keys,
            tries: 0,
        }
    }

    pub(crate) async fn begin(mut self) -> Result<ModelStream, ModelError> {
        self.connect().await?;
        Ok(ModelStream::new(self, |mut exchange| async move {
            let event = exchange.next().await?;
            Some((event, exchange))
        }))
    }

    /// The whole body of the answer, where it is no stream.
    pub(crate) async fn whole(mut self) -> Result<Vec<u8>, ModelError> {
        self.connect().await?;
        while let Some(mut open) = self.open.take() {
            let error = match gathered(&mut open, self.server.read_timeout).await {
                Ok(body) => return Ok(body),
                Err(error) => error,
            };
            let key = open.key.clone();
            drop(open);
            let wait = self.retry_in(&key, error)?;
            tokio::time::sleep(wait).await;
            self.connect().await?;
        }
        Err(ModelError::CutStream)
    }

    async fn connect(&mut self) -> Result<(), ModelError> {
        loop {
            let key = self.server.keys.choose();
            let headers = self.server.headers(&key);
            let sent = transport::post(
                &self.url,
                headers,
                self.body.clone(),
                self.server.read_timeout,
            );
            let error = match sent.await {
                Ok(answer) => {
                    let decoder = self.server.decoder();
                    self.open = Some(OpenStream {
                        answer,
                        key,
                        decoder,
                    });
                    return Ok(());
                }
                Err(TransportError::Failed(error)) => error,
                Err(TransportError::Refused(refusal)) => {
                    failure::refused(refusal.status, refusal.retry_after, &refusal.body)
                }
            };
            let wait = self.retry_in(&key, error)?;
            tokio::time::sleep(wait).await;
        }
    }

    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                self.told = true;
                return Some(Ok(event));
            }
            if let Some(wait) = self.again_in.take() {
                tokio::time::sleep(wait).await;
                if let Err(error) = self.connect().await {
                    return Some(Err(error));
                }
            }
            let mut open = self.open.take()?;
            match read(&mut open, self.server.read_timeout).await {
                Ok(EventBatch { events, ended }) => {
                    let price = self.server.price;
                    let priced = events.into_iter().map(|event| priced(price, event));
                    self.events.extend(priced);
                    if !ended {
                        self.open = Some(open);
                    }
                }
                Err(error) => {
                    let key = open.key.clone();
                    // The connection is closed before anything is waited for.
                    drop(open);
                    match self.retry_in(&key, error) {
                        Ok(wait) => self.again_in = Some(wait),
                        Err(error) => return Some(Err(error)),
                    }
                    // Told before it is done: who cannot take back what it heard stops listening,
                    // and a second answer is never paid for.
                    if std::mem::take(&mut self.told) {
                        return Some(Ok(ModelEvent::Restarted));
                    }
                }
            }
        }
    }

    /// How long to wait until another try makes sense; gives the error back if none does. Every
    /// error passes here before it is logged or told, so this is where a key that a server repeats
    /// is hidden.
    fn retry_in(&mut self, key: &ApiKey, mut error: ModelError) -> Result<Duration, ModelError> {
        if let Some(message) = error.message_mut() {
            key.hide(message);
        }
        let wait = error.retry_after();
        let wait = wait.unwrap_or_else(|| pause(self.tries));
        let refused_key = match &error {
            ModelError::Auth { .. } | ModelError::Credits { .. } => Some(LONG_REST),
            ModelError::RateLimited { .. } => Some(wait),
            _ => None,
        };
        if let Some(rest) = refused_key {
            self.server.keys.rest(key, rest);
            if self.fresh_keys > 0 {
                self.fresh_keys -= 1;
                tracing::warn!(model = self.server.id, %error, "model key rejected; trying the next one");
                return Ok(Duration::ZERO);
            }
        }
        // Silent once, a server may have lost the request; silent twice, it would be waited for
        // as long a third time.
        let most = match &error {
            ModelError::Timeout { .. } => self.server.retries.min(1),
            _ => self.server.retries,
        };
        if !error.is_transient() || self.tries >= most || wait > LONGEST_WAIT {
            return Err(error);
        }
        self.tries += 1;
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(model = self.server.id, %error, wait_ms, "model request failed; retrying");
        Ok(wait)
    }
}

/// Some providers say themselves what they charge; a price that is known is believed first.
fn priced(price: Option<Price>, mut event: ModelEvent) -> ModelEvent {
    if let (ModelEvent::Usage(usage), Some(price)) = (&mut event, price) {
        usage.money = Some(price.of(usage));
    }
    event
}

async fn gathered(open: &mut OpenStream, read_timeout: Duration) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    while let Some(bytes) = open.answer.chunk(read_timeout).await? {
        body.extend_from_slice(bytes.as_ref());
        if body.len() > decoder::LONGEST {
            return Err(decoder::too_long());
        }
    }
    Ok(body)
}

struct EventBatch {
    events: Vec<ModelEvent>,
    ended: bool,
}

async fn read(open: &mut OpenStream, read_timeout: Duration) -> Result<EventBatch, ModelError> {
    let complete = open.decoder.is_complete();
    let read_timeout = if complete {
        read_timeout.min(GRACE)
    } else {
        read_timeout
    };
    let bytes = match open.answer.chunk(read_timeout).await {
        Ok(bytes) => bytes,
        Err(_) if complete => None,
        Err(error) => return Err(error),
    };
    let mut events = match &bytes {
        Some(bytes) => open.decoder.push(bytes.as_ref())?,
        None => Vec::new(),
    };
    let ended = bytes.is_none() || open.decoder.is_done();
    if ended {
        events.extend(open.decoder.end()?);
    }
    Ok(EventBatch { events, ended })
}

/// Doubles with each try. Up to a half more at random, lest all who were refused together come
/// back together.
fn pause(tries: u32) -> Duration {
    let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(tries));
    let random = f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX);
    pause.min(LONGEST_PAUSE).mul_f64(1.0 + random / 2.0)
}
