//! [`Seen`]: what the last messages said, and who said them, so that replies and edits need not be asked
//! about.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use serde_json::Value as Json;

use super::{
    api::{Api, Ask},
    event,
};

const MOST: usize = 4_096;
/// Characters of a message that are remembered.
const LONGEST: usize = 1_000;

#[derive(Default)]
pub(super) struct Seen {
    /// A mutex, held for a look or an insertion.
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    by_id: HashMap<String, Said>,
    order: VecDeque<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) sender: String,
    pub(super) text: String,
    /// The first message of the thread that it is in.
    pub(super) thread: Option<String>,
}

impl Said {
    pub(super) fn read(raw: &Json) -> Self {
        let content = &raw["content"];
        let text = event::body(content);
        Said {
            sender: raw["sender"].as_str().unwrap_or_default().to_owned(),
            text: text.chars().take(LONGEST).collect(),
            thread: event::thread(content).map(str::to_owned),
        }
    }
}

impl Seen {
    pub(super) fn remember(&self, id: &str, said: Said) {
        let mut last = self.last.lock();
        if last.by_id.insert(id.to_owned(), said).is_none() {
            last.order.push_back(id.to_owned());
        }
        if last.order.len() > MOST
            && let Some(oldest) = last.order.pop_front()
        {
            last.by_id.remove(&oldest);
        }
    }

    pub(super) fn known(&self, id: &str) -> Option<Said> {
        self.last.lock().by_id.get(id).cloned()
    }

    /// The server is asked about what is not remembered.
    pub(super) async fn get(&self, api: &Api, room: &str, id: &str) -> Option<Said> {
        if let Some(said) = self.known(id) {
            return Some(said);
        }
        let raw = api.ask(Ask::get(&["rooms", room, "event", id])).await;
        let raw = raw.inspect_err(|error| tracing::debug!(room, id, %error, "event not found"));
        let said = Said::read(&raw.ok()?);
        self.remember(id, said.clone());
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let seen = Seen::default();
        for number in 0..=MOST {
            seen.remember(&number.to_string(), Said::default());
            seen.remember(&number.to_string(), Said::default());
        }
        assert!(seen.known("0").is_none() && seen.known("1").is_some());
        assert_eq!(seen.last.lock().by_id.len(), MOST);
    }
}
