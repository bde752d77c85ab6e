//! [`Ears`]: who listens to which session at this moment. A message goes out where somebody hears
//! it; without anybody it stays in the outbox for whoever comes next.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use callgate_contract::{BoxFuture, Message, Outbox, SessionKey};

use crate::request::Event;

/// Told what happens; false once nobody hears it any more. Called from the turn itself: quick.
pub type Hear = Arc<dyn Fn(Event) -> bool + Send + Sync>;

/// A mutex, since turns deliver from any thread; held while ears are told, so that one that has
/// left is told nothing.
#[derive(Default)]
pub(super) struct Ears {
    ears: Mutex<Vec<Ear>>,
    next: AtomicU64,
}

struct Ear {
    number: u64,
    session: SessionKey,
    hear: Hear,
}

/// While it lives, its ear hears.
pub(super) struct Listening {
    number: u64,
    ears: Arc<Ears>,
}

impl Ears {
    pub(super) fn listen(self: &Arc<Self>, session: &SessionKey, hear: Hear) -> Listening {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().push(Ear {
            number,
            session: session.clone(),
            hear,
        });
        let ears = Arc::clone(self);
        Listening { number, ears }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Ear>> {
        self.ears.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.ears.lock().retain(|ear| ear.number != self.number);
    }
}

impl Outbox for Ears {
    fn deliver<'a>(&'a self, _id: i64, message: &'a Message) -> BoxFuture<'a, Result<(), String>> {
        let mut heard = false;
        for ear in self.lock().iter() {
            if ear.session == message.session {
                heard |= (ear.hear)(Event::Message(message.clone()));
            }
        }
        let delivered = match heard {
            true => Ok(()),
            false => Err("nobody listens".to_owned()),
        };
        Box::pin(std::future::ready(delivered))
    }
}
