//! [`KnownPlaces`]: which chunks of a conversation's recent requests are on disk, and where. A memory of
//! this process: what it has forgotten is looked for in the newest rows, or stored once more.

use std::{collections::HashMap, ops::Range};

use callgate_contract::ConversationId;
use parking_lot::Mutex;

use super::cut::{Chunk, Digest};

/// For how many milliseconds new requests may refer to what a row shares. It goes on sharing for longer:
/// nobody need ask whether it still does.
pub(super) const REFERRED: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Conversations remembered; beyond it all are looked up anew.
const CONVERSATIONS: usize = 500;
/// A chunk that so many requests had no use for is forgotten.
const REQUESTS: u64 = 4;

/// A part of what a row shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(super) row: i64,
    pub(super) range: Range<usize>,
    /// In milliseconds.
    pub(super) shared_at: i64,
}

/// A mutex held for as long as it takes to look up one request.
#[derive(Default)]
pub(crate) struct KnownPlaces(Mutex<HashMap<ConversationId, Known>>);

#[derive(Default)]
struct Known {
    /// With the request that last had it, by number.
    chunks: HashMap<Digest, (Place, u64)>,
    requests: u64,
}

impl KnownPlaces {
    /// Where each of these chunks is on disk; `None` where the conversation is not remembered.
    pub(super) fn find(
        &self,
        conversation: ConversationId,
        chunks: &[Chunk],
        now: i64,
    ) -> Option<Vec<Option<Place>>> {
        let known = self.0.lock();
        let known = known.get(&conversation)?;
        let place = |chunk: &Chunk| {
            let (place, _) = known.chunks.get(&chunk.digest)?;
            (now < place.shared_at + REFERRED).then(|| place.clone())
        };
        Some(chunks.iter().map(place).collect())
    }

    /// A request is on disk, with its chunks in these places.
    pub(super) fn learn(
        &self,
        conversation: ConversationId,
        places: impl IntoIterator<Item = (Digest, Place)>,
    ) {
        let mut known = self.0.lock();
        if known.len() >= CONVERSATIONS && !known.contains_key(&conversation) {
            known.clear();
        }
        let known = known.entry(conversation).or_default();
        known.requests += 1;
        let request = known.requests;
        let places = places.into_iter();
        let places = places.map(|(digest, place)| (digest, (place, request)));
        known.chunks.extend(places);
        known
            .chunks
            .retain(|_, (_, last)| request - *last < REQUESTS);
    }
}
