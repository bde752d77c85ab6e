//! [`Tickets`]: ways to one plugin's pages that need no cookie. Such a page runs as nobody, so a
//! browser sends nothing of ours along with what it loads; its address says instead who looks on.
//! A ticket opens the routes of its plugin and nothing else; it ends with the key that it was made
//! with, and is forgotten when we end.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use callgate_store::{StoreError, new_key_text};
use parking_lot::Mutex;

use crate::api::Access;

const VALID: Duration = Duration::from_secs(12 * 3600);
/// Pages that can be open at once; the oldest closes first.
const MOST: usize = 1024;

/// A mutex, since requests come on any thread; held for a map operation.
#[derive(Default)]
pub(crate) struct Tickets(Mutex<HashMap<String, Ticket>>);

struct Ticket {
    plugin: String,
    access: Access,
    made: Instant,
}

impl Ticket {
    fn is_valid(&self) -> bool {
        self.made.elapsed() < VALID && !self.access.handle.is_revoked()
    }
}

impl Tickets {
    pub(crate) fn make(&self, plugin: &str, access: &Access) -> Result<String, StoreError> {
        let text = new_key_text()?;
        let mut tickets = self.0.lock();
        tickets.retain(|_, ticket| ticket.is_valid());
        if tickets.len() >= MOST {
            let oldest = tickets.iter().min_by_key(|(_, ticket)| ticket.made);
            if let Some(oldest) = oldest.map(|(text, _)| text.clone()) {
                tickets.remove(&oldest);
            }
        }
        let ticket = Ticket {
            plugin: plugin.to_owned(),
            access: access.clone(),
            made: Instant::now(),
        };
        tickets.insert(text.clone(), ticket);
        Ok(text)
    }

    /// Who looks on, if the ticket is for this plugin.
    pub(super) fn find(&self, text: &str, plugin: &str) -> Option<Access> {
        let tickets = self.0.lock();
        let ticket = tickets.get(text)?;
        let fits = ticket.plugin == plugin && ticket.is_valid();
        fits.then(|| ticket.access.clone())
    }
}
