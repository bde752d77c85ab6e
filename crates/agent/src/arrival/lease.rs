//! [`Leased`]: a session that is ours to answer, in this process and among all instances that share the
//! database. Nothing but this decides that turns of a session never overlap.

use std::time::Duration;

use callgate_contract::SessionKey;
use callgate_store::{Lease, Store};
use tokio::sync::MutexGuard;

use super::sessions::Answering;
use crate::{Agent, TurnError};

/// Between two looks whether another instance has given the session up; longer and longer.
const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_millis(200);
/// Between two attempts to give one up that the store refuses.
const LONGEST_REFUSED: Duration = Duration::from_secs(5);

/// Others wait while it lives.
pub(crate) struct Leased<'a> {
    _here: MutexGuard<'a, ()>,
    store: Store,
    /// `None` once it is given up.
    lease: Option<Lease>,
}

impl Agent {
    /// Waits until nobody else runs a turn in the session.
    pub(crate) async fn lease<'a>(
        &self,
        session: &SessionKey,
        answering: &'a Answering,
    ) -> Result<Leased<'a>, TurnError> {
        let here = answering.lock.lock().await;
        let mut pause = SHORTEST;
        loop {
            let lease = self.store().leases().take(session).await?;
            if lease.is_some() {
                return Ok(Leased {
                    _here: here,
                    store: self.store().clone(),
                    lease,
                });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST);
        }
    }
}

impl Leased<'_> {
    /// What a turn must show to begin.
    pub(crate) fn shown(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// Whoever had the session before did not give it up.
    pub(crate) fn was_left(&self) -> bool {
        self.lease.as_ref().is_some_and(Lease::was_left)
    }

    pub(crate) async fn give_up(mut self) {
        if let Some(lease) = self.lease.take() {
            release(&self.store, &lease).await;
        }
    }
}

/// Nobody waited for the end of the turn. As long as this instance lives, nobody else would get the
/// session.
impl Drop for Leased<'_> {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let store = self.store.clone();
            runtime.spawn(async move { release(&store, &lease).await });
        }
    }
}

/// As long as this instance lives, nobody else gets the session: what the store refuses now is tried
/// again, by a task, since nobody need wait for it.
async fn release(store: &Store, lease: &Lease) {
    let Err(error) = store.leases().give_up(lease).await else {
        return;
    };
    tracing::warn!(%error, "could not release a session lease; retrying");
    let (store, lease) = (store.clone(), lease.clone());
    tokio::spawn(async move {
        let mut pause = LONGEST;
        while store.leases().give_up(&lease).await.is_err() {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_REFUSED);
        }
    });
}
