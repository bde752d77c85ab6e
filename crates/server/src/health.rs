//! [`Health`]: whether the server can do its work now, as `/healthz` says. A message is accepted once it
//! is stored, so the server is ready while its store takes something in; that it runs at all, `/livez`
//! says.
//! `/healthz` writes a row before it says ok.

use std::time::{Duration, Instant};

use callgate_store::Store;
use tokio::sync::Mutex;

use crate::api::Problem;

/// For the store to answer.
const DEADLINE: Duration = Duration::from_secs(2);
/// An answer holds so long: anybody may ask, and each look writes.
const FRESH: Duration = Duration::from_secs(1);

pub(crate) struct Health {
    store: Store,
    /// When somebody last looked, and whether it was ready. Held during a look, so that those who
    /// ask meanwhile share it.
    last: Mutex<Option<(Instant, bool)>>,
}

impl Health {
    pub(crate) fn new(store: Store) -> Self {
        Health {
            store,
            last: Mutex::default(),
        }
    }

    pub(crate) async fn ready(&self) -> Result<&'static str, Problem> {
        let mut last = self.last.lock().await;
        let ready = match *last {
            Some((at, ready)) if at.elapsed() < FRESH => ready,
            _ => {
                let before = last.take().is_none_or(|(_, ready)| ready);
                let ready = self.look(before).await;
                *last = Some((Instant::now(), ready));
                ready
            }
        };
        if ready {
            Ok("ok\n")
        } else {
            Err(Problem::not_ready())
        }
    }

    /// Logged when it changes, not each time somebody asks.
    async fn look(&self, before: bool) -> bool {
        let checked = tokio::time::timeout(DEADLINE, self.store.check()).await;
        let reason = match checked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the database does not answer".to_owned()),
        };
        match &reason {
            Some(reason) if before => tracing::error!(reason, "not ready"),
            None if !before => tracing::info!("ready again"),
            _ => {}
        }
        reason.is_none()
    }
}
