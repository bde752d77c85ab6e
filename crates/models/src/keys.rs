//! The keys of one model. A key that was refused rests while others are tried. Keys are never
//! shown: `Debug` hides them and [`ApiKey::hide`] takes them out of what a server echoes.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use secrecy::{ExposeSecret, SecretString};

#[derive(Debug)]
pub(crate) struct Keys {
    keys: Vec<SecretString>,
    /// Requests of all sessions choose and refuse keys concurrently; held for a few reads only.
    state: Mutex<Rotation>,
}

#[derive(Debug)]
struct Rotation {
    next: usize,
    /// When each key may be used again.
    rests: Vec<Option<Instant>>,
}

/// One of the keys, or none where a server wants none.
#[derive(Clone, Debug)]
pub(crate) struct ApiKey {
    place: usize,
    secret: Option<SecretString>,
}

impl Keys {
    pub(crate) fn new(keys: Vec<SecretString>) -> Self {
        let rests = vec![None; keys.len()];
        Keys {
            keys,
            state: Mutex::new(Rotation { next: 0, rests }),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.keys.len()
    }

    /// The next key in turn that does not rest; if all rest, the one that wakes first.
    pub(crate) fn choose(&self) -> ApiKey {
        let now = Instant::now();
        let mut state = self.state.lock();
        let start = state.next;
        let count = self.keys.len().max(1);
        let place = (0..count)
            .map(|step| (start + step) % count)
            .min_by_key(|place| {
                let rest = state.rests.get(*place).copied().flatten();
                rest.filter(|until| *until > now)
            });
        let place = place.unwrap_or(0);
        state.next = (place + 1) % count;
        ApiKey {
            place,
            secret: self.keys.get(place).cloned(),
        }
    }

    pub(crate) fn rest(&self, key: &ApiKey, time: Duration) {
        let mut state = self.state.lock();
        if let Some(rest) = state.rests.get_mut(key.place) {
            *rest = Instant::now().checked_add(time);
        }
    }
}

impl ApiKey {
    /// As a header shows it, with what stands before it there.
    pub(crate) fn shown(&self, before: &str) -> Option<String> {
        let secret = self.secret.as_ref()?.expose_secret();
        Some(format!("{before}{secret}"))
    }

    pub(crate) fn hide(&self, text: &mut String) {
        let Some(secret) = &self.secret else {
            return;
        };
        let secret = secret.expose_secret();
        if !secret.is_empty() && text.contains(secret) {
            *text = text.replace(secret, "[key]");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        Keys::new(["a", "b", "c"].map(SecretString::from).into())
    }

    #[test]
    fn keys_take_turns() {
        let keys = keys();
        let places: Vec<_> = (0..4).map(|_| keys.choose().place).collect();
        assert_eq!(places, [0, 1, 2, 0]);
    }

    #[test]
    fn a_refused_key_rests() {
        let keys = keys();
        let first = keys.choose();
        keys.rest(&first, Duration::from_secs(600));
        let places: Vec<_> = (0..4).map(|_| keys.choose().place).collect();
        assert_eq!(places, [1, 2, 1, 2]);
    }

    #[test]
    fn when_all_rest_the_first_to_wake_is_used() {
        let keys = keys();
        for seconds in [300, 100, 200] {
            let key = keys.choose();
            keys.rest(&key, Duration::from_secs(seconds));
        }
        assert_eq!(keys.choose().place, 1);
    }

    #[test]
    fn no_keys_is_one_way_to_ask() {
        let keys = Keys::new(Vec::new());
        assert!(keys.choose().shown("Bearer ").is_none());
    }

    #[test]
    fn a_key_is_never_shown() {
        let keys = Keys::new(vec![SecretString::from("sk-hidden")]);
        let key = keys.choose();
        assert!(!format!("{keys:?} {key:?}").contains("sk-hidden"));
        let mut text = "bad sk-hidden!".to_owned();
        key.hide(&mut text);
        assert_eq!(text, "bad [key]!");
    }
}
