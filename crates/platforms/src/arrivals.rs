//! [`Arrivals`]: events on their way in. They are read side by side, since a picture may take long to come,
//! and handed on in the order of their chat. One that cannot be stored now waits, and those behind it.
//! What the operator sees of the platform is kept here as well.

use std::{collections::HashMap, sync::Arc, time::Duration};

use callgate_contract::SessionKey;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};

use crate::{AccountStatus, Event, EventKind, Host, NotStored, PlatformStatus};

/// Events that are read at once; beyond that the connection is not read from.
const AT_ONCE: usize = 256;
/// Chats whose last event is remembered before those that are done are forgotten.
const MOST_CHATS: usize = 10_000;

pub(crate) struct Arrivals {
    /// The platform's id.
    platform: String,
    host: Arc<dyn Host>,
    room: Arc<Semaphore>,
    /// A mutex, held for one insertion: each event waits for the one before it in its chat.
    last: Mutex<HashMap<SessionKey, oneshot::Receiver<()>>>,
    /// A mutex, held for a change or a copy.
    status: Mutex<PlatformStatus>,
}

impl Arrivals {
    pub(crate) fn new(platform: &str, host: Arc<dyn Host>) -> Arc<Self> {
        Arc::new(Arrivals {
            platform: platform.to_owned(),
            host,
            room: Arc::new(Semaphore::new(AT_ONCE)),
            last: Mutex::default(),
            status: Mutex::default(),
        })
    }

    /// Returns once there is room for the event; what comes back tells when it is on disk. `reading` makes
    /// it of what the platform told, or finds that it is none.
    pub(crate) async fn take(
        self: &Arc<Self>,
        session: &SessionKey,
        reading: impl Future<Output = Option<Event>> + Send + 'static,
    ) -> oneshot::Receiver<Result<(), NotStored>> {
        let (tell, told) = oneshot::channel();
        let room = self.room.clone().acquire_owned().await;
        let (before, done) = self.queue(session);
        let arrivals = self.clone();
        // A task for each event, which holds its place.
        tokio::spawn(async move {
            let event = reading.await;
            if let Some(before) = before {
                // An error says as well that the one before is done.
                let _ = before.await;
            }
            let stored = match event {
                Some(event) => arrivals.store(event).await,
                None => Ok(()),
            };
            let _ = tell.send(stored);
            drop((done, room));
        });
        told
    }

    /// What is to be waited for, and what to drop when it is done.
    fn queue(&self, session: &SessionKey) -> (Option<oneshot::Receiver<()>>, oneshot::Sender<()>) {
        let (done, next) = oneshot::channel();
        let mut last = self.last.lock();
        if last.len() >= MOST_CHATS {
            let is_open = |waits: &mut oneshot::Receiver<()>| {
                waits.try_recv() == Err(oneshot::error::TryRecvError::Empty)
            };
            last.retain(|_, waits| is_open(waits));
        }
        (last.insert(session.clone(), next), done)
    }

    async fn store(&self, event: Event) -> Result<(), NotStored> {
        let is_message = matches!(event.kind, EventKind::Message { .. });
        let mut pause = Duration::from_millis(100);
        loop {
            match self.host.receive(event.clone()).await {
                Ok(()) => break,
                Err(error) if error.is_temporary => self.failed(&error.reason),
                Err(error) => {
                    self.failed(&error.reason);
                    return Err(error);
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
        self.status.lock().received += u64::from(is_message);
        Ok(())
    }

    /// Something was told, whatever it is.
    pub(crate) fn heard(&self) {
        self.status.lock().last_event_at = Some(Timestamp::now().as_millisecond());
    }

    /// A message went out.
    pub(crate) fn sent(&self) {
        self.status.lock().sent += 1;
    }

    pub(crate) fn failed(&self, reason: &str) {
        let mut status = self.status.lock();
        if status.last_error.as_deref() != Some(reason) {
            tracing::warn!(platform = self.platform, "{reason}");
        }
        status.last_error = Some(reason.to_owned());
        status.last_error_at = Some(Timestamp::now().as_millisecond());
    }

    pub(crate) fn listening(&self, address: Option<String>) {
        self.status.lock().listening = address;
    }

    /// As it stands, with the bots that can be reached.
    pub(crate) fn status(&self, accounts: Vec<AccountStatus>) -> PlatformStatus {
        PlatformStatus {
            accounts,
            ..self.status.lock().clone()
        }
    }
}
