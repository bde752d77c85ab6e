//! [`Health`]: whether the server can do its work now, as `/healthz` says. A message is accepted once it
//! is stored, so the server is ready while its store takes something in; that it runs at all, `/livez`
//! says.
//! `/healthz` writes a row before it says ok.

use std::time::{Duration, Instant};

use callgate_store::{Store, StoreError};
use tokio::sync::Mutex;

use crate::api::Problem;

/// For the store to answer.
const DEADLINE: Duration = Duration::from_secs(2);
/// An answer holds so long: anybody may ask, and each look writes.
const FRESH: Duration = Duration::from_secs(1);

/// As much of why it is not ready as anybody may know.
#[derive(Clone, Copy)]
enum Obstacle {
    Store,
    Damage,
    Descriptors,
}

impl Obstacle {
    fn of(error: &StoreError) -> Self {
        if error.is_out_of_descriptors() {
            Obstacle::Descriptors
        } else if error.is_damage() {
            Obstacle::Damage
        } else {
            Obstacle::Store
        }
    }
}

pub(crate) struct Health {
    store: Store,
    /// When somebody last looked, and why it was not ready. Held during a look, so that those who
    /// ask meanwhile share it.
    last: Mutex<Option<(Instant, Option<Obstacle>)>>,
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
        let obstacle = match *last {
            Some((at, obstacle)) if at.elapsed() < FRESH => obstacle,
            _ => {
                let before = last.take().is_none_or(|(_, obstacle)| obstacle.is_none());
                let obstacle = self.look(before).await;
                *last = Some((Instant::now(), obstacle));
                obstacle
            }
        };
        match obstacle {
            None => Ok("ok\n"),
            Some(Obstacle::Store) => {
                Err(Problem::not_ready("the server cannot store anything now"))
            }
            Some(Obstacle::Damage) => Err(Problem::not_ready("the server's database is damaged")),
            Some(Obstacle::Descriptors) => Err(Problem::not_ready(
                "the server has no file descriptors left",
            )),
        }
    }

    /// Logged when it changes, not each time somebody asks.
    async fn look(&self, before: bool) -> Option<Obstacle> {
        let checked = tokio::time::timeout(DEADLINE, self.store.check()).await;
        let (obstacle, reason) = match checked {
            Ok(Ok(())) => {
                if !before {
                    tracing::info!("ready again");
                }
                return None;
            }
            Ok(Err(error)) => (Obstacle::of(&error), error.to_string()),
            Err(_) => (Obstacle::Store, "the database does not answer".to_owned()),
        };
        if before {
            tracing::error!(reason, "not ready");
        }
        Some(obstacle)
    }
}
