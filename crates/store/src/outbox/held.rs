//! [`HeldSessions`]: why messages of a session wait, and until when nobody tries again. Only this process
//! knows; the next one tries at once.

use std::{collections::HashMap, time::Duration};

use callgate_contract::{DeliveryError, SessionKey};
use parking_lot::Mutex;
use tokio::time::Instant;

/// Sessions that are remembered before those that hold nobody up are forgotten.
const MANY: usize = 1_024;

/// A plain mutex: it is held for a look.
#[derive(Default)]
pub(crate) struct HeldSessions(Mutex<HashMap<SessionKey, Hold>>);

struct Hold {
    reason: String,
    until: Option<Instant>,
}

impl Hold {
    fn left(&self) -> Option<Duration> {
        let left = self.until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

impl HeldSessions {
    pub(super) fn hold(&self, session: &SessionKey, reason: &str, after: Option<Duration>) {
        let mut held = self.0.lock();
        if held.len() >= MANY {
            held.retain(|_, hold| hold.left().is_some());
        }
        let hold = Hold {
            reason: reason.to_owned(),
            until: after.and_then(|after| Instant::now().checked_add(after)),
        };
        held.insert(session.clone(), hold);
    }

    pub(super) fn release(&self, session: &SessionKey) {
        self.0.lock().remove(session);
    }

    /// The platform's own word, as long as that holds.
    pub(super) fn limit(&self, session: &SessionKey) -> Option<DeliveryError> {
        let held = self.0.lock();
        let hold = held.get(session)?;
        Some(DeliveryError::Later {
            after: hold.left()?,
            reason: hold.reason.clone(),
        })
    }

    /// Why the session's messages wait, where that is known.
    pub(super) fn reason(&self, session: &SessionKey) -> Option<String> {
        self.0.lock().get(session).map(|hold| hold.reason.clone())
    }
}
