//! What a model is asked, in the space of what is new in it. Requests of one conversation have most of their
//! text in common: instructions, tools, what was said before. A row of `model_request` shares its new words,
//! where they are many; a later one has parts of them between words of its own. What a request says is not
//! looked at: also what plugins made of it is shared as far as it is the same.
//!
//! Invariant: only requests of the same conversation refer to what a row shares, and that is erased with the
//! conversation. It never changes. A row that is forgotten goes on sharing until nothing refers to it, and
//! nobody may refer to it anew.

mod cut;
mod known;
mod layout;

use std::collections::{HashMap, HashSet, hash_map::Entry};

use callgate_contract::{ConversationId, JournalId};

pub(crate) use self::known::KnownPlaces;
use self::{
    cut::{Chunk, Digest, cut},
    known::{Place, REFERRED},
    layout::{Layout, Splice, THIS, join},
};
use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

/// Bytes that a request keeps to itself at most; more are shared.
const OWN: usize = 1_280;
/// Of a conversation that nothing is remembered of: in so many of its newest turns is looked for rows that
/// share, and so many of those are read.
const TURNS: u32 = 200;
const ROWS: u32 = 32;
/// Milliseconds after which a row that nothing refers to shares no longer: a day after the last moment at
/// which an instance may have referred to it.
const UNUSED: i64 = REFERRED + 24 * 60 * 60 * 1_000;

/// What a round is asked, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRequest {
    /// JSON, in the agent's own shape.
    pub text: String,
    /// The conversation whose other requests have much of the text too; `None` for what is said only here.
    pub shared_in: Option<ConversationId>,
}

/// A request on its way to its row.
#[derive(Default)]
pub(crate) struct Draft {
    text: Option<String>,
    /// `None` where it is written whole.
    shared: Option<SharedDraft>,
}

struct SharedDraft {
    conversation: ConversationId,
    chunks: Vec<Chunk>,
    /// Where each chunk is on disk, or will be.
    places: Vec<Option<Place>>,
    /// What the row shares from now on.
    new: Option<String>,
}

/// The columns of `model_request` that hold a request.
pub(crate) struct RequestColumns {
    pub(crate) request: Option<String>,
    pub(crate) splices: Option<String>,
    pub(crate) shared: Option<String>,
}

/// What is remembered of a request once it is committed.
pub(crate) type Learned = Option<(ConversationId, Vec<(Digest, Place)>)>;

impl Database {
    /// Finds out what of the request is on disk.
    pub(crate) async fn draft(&self, request: Option<KeptRequest>) -> Result<Draft, StoreError> {
        let Some(KeptRequest { text, shared_in }) = request else {
            return Ok(Draft::default());
        };
        let mut draft = Draft {
            text: Some(text),
            shared: None,
        };
        let text = draft.text.as_deref().unwrap_or_default();
        let Some(conversation) = shared_in.filter(|_| text.len() > OWN) else {
            return Ok(draft);
        };
        let (chunks, now) = (cut(text), row::now());
        let mut places = self.shared.find(conversation, &chunks, now);
        if places.is_none() {
            let newest = self.read(move |tx| newest(tx, conversation, now - REFERRED));
            self.shared.learn(conversation, newest.await?);
            places = self.shared.find(conversation, &chunks, now);
        }
        let mut shared = SharedDraft {
            conversation,
            places: places.unwrap_or_else(|| vec![None; chunks.len()]),
            chunks,
            new: None,
        };
        shared.share(text, now);
        draft.shared = Some(shared);
        Ok(draft)
    }

    /// After the commit.
    pub(crate) fn learn(&self, learned: Learned) {
        if let Some((conversation, places)) = learned {
            self.shared.learn(conversation, places);
        }
    }
}

impl SharedDraft {
    /// Where much is nowhere yet, it is in this row.
    fn share(&mut self, text: &str, now: i64) {
        let chunks = self.chunks.iter().zip(&mut self.places);
        let (mut new, mut theirs) = (String::new(), Vec::new());
        for (chunk, place) in chunks.filter(|(_, place)| place.is_none()) {
            let from = new.len();
            new.push_str(chunk.of(text));
            theirs.push((place, from..new.len()));
        }
        if new.len() <= OWN {
            return;
        }
        for (place, range) in theirs {
            *place = Some(Place {
                row: THIS,
                range,
                shared_at: now,
            });
        }
        self.new = Some(new);
    }
}

impl Draft {
    pub(crate) fn whole(&self) -> RequestColumns {
        RequestColumns {
            request: self.text.clone(),
            splices: None,
            shared: None,
        }
    }

    pub(crate) fn columns(&self) -> Result<RequestColumns, StoreError> {
        let (Some(text), Some(shared)) = (&self.text, &self.shared) else {
            return Ok(self.whole());
        };
        let mut layout = Layout::default();
        for (chunk, place) in shared.chunks.iter().zip(&shared.places) {
            match place {
                Some(place) => layout.push_shared(place),
                None => layout.push_own(chunk.of(text)),
            }
        }
        Ok(RequestColumns {
            splices: Some(row::json("splices", &layout.splices)?),
            request: Some(layout.own),
            shared: shared.new.clone(),
        })
    }

    /// Once it is in this row.
    pub(crate) fn learned(self, row: i64) -> Learned {
        let SharedDraft {
            conversation,
            chunks,
            places,
            ..
        } = self.shared?;
        let places = chunks.into_iter().zip(places);
        let places = places.filter_map(|(chunk, place)| {
            let mut place = place?;
            if place.row == THIS {
                place.row = row;
            }
            Some((chunk.digest, place))
        });
        Some((conversation, places.collect()))
    }
}

fn newest(
    tx: &mut dyn Tx,
    conversation: ConversationId,
    since: i64,
) -> Result<Vec<(Digest, Place)>, StoreError> {
    let rows = tx.query(
        "SELECT id, asked_at, shared FROM model_request
         WHERE shared IS NOT NULL AND asked_at > ?2 AND turn IN
             (SELECT id FROM turn WHERE conversation = ?1 ORDER BY id DESC LIMIT ?3)
         ORDER BY id DESC LIMIT ?4",
        parameters![conversation, since, TURNS, ROWS],
    )?;
    let mut places = Vec::new();
    for found in &rows {
        let (row, shared_at, text): (i64, i64, String) = (found.at(0)?, found.at(1)?, found.at(2)?);
        places.extend(cut(&text).into_iter().map(|chunk| {
            let range = chunk.range;
            let place = Place {
                row,
                range,
                shared_at,
            };
            (chunk.digest, place)
        }));
    }
    Ok(places)
}

/// Puts requests back together. What a row shares is read once, however many requests have it.
#[derive(Default)]
pub(crate) struct Joiner(HashMap<i64, Option<String>>);

impl Joiner {
    /// The request of a row of `model_request` as it was; `None` where it was not kept, or is erased.
    pub(crate) fn request(
        &mut self,
        tx: &mut dyn Tx,
        row: &Row,
    ) -> Result<Option<String>, StoreError> {
        let own: Option<String> = get(row, "request")?;
        let splices: Option<String> = get(row, "splices")?;
        let (Some(own), Some(splices)) = (&own, splices) else {
            return Ok(own);
        };
        self.0.insert(THIS, get(row, "shared")?);
        let parsed: Vec<Splice> = row::read_json("splices", &splices)?;
        for splice in &parsed {
            if let Entry::Vacant(unread) = self.0.entry(splice.row) {
                let select = "SELECT shared FROM model_request WHERE id = ?1";
                let text: Option<Option<String>> = tx.scalar(select, parameters![splice.row])?;
                unread.insert(text.flatten());
            }
        }
        let shared = |row| self.0.get(&row).and_then(Option::as_deref);
        if parsed.iter().any(|splice| shared(splice.row).is_none()) {
            return Ok(None);
        }
        let joined = join(own, &parsed, shared);
        joined
            .map(Some)
            .ok_or_else(|| StoreError::damaged("splices", splices))
    }
}

/// Of the rounds that are forgotten, those of ended turns up to `newest`: what nothing refers to is shared
/// no longer.
pub(crate) fn forget_unused(tx: &mut dyn Tx, newest: JournalId) -> Result<(), StoreError> {
    let rows = tx.query(
        "SELECT model_request.id, turn.conversation FROM model_request
         JOIN turn ON turn.id = model_request.turn
         WHERE model_request.turn <= ?1 AND shared IS NOT NULL AND round IS NULL AND asked_at < ?2
           AND turn.conversation IS NOT NULL",
        parameters![newest, row::now() - UNUSED],
    )?;
    let mut referred: HashMap<ConversationId, HashSet<i64>> = HashMap::new();
    for found in &rows {
        let (row, conversation): (i64, ConversationId) = (found.at(0)?, found.at(1)?);
        let referred = match referred.entry(conversation) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(referred_to(tx, conversation, newest)?),
        };
        if !referred.contains(&row) {
            let forget = "UPDATE model_request SET shared = NULL WHERE id = ?1";
            tx.execute(forget, parameters![row])?;
        }
    }
    Ok(())
}

/// The rows that rounds of the conversation refer to which are not forgotten.
fn referred_to(
    tx: &mut dyn Tx,
    conversation: ConversationId,
    newest: JournalId,
) -> Result<HashSet<i64>, StoreError> {
    let referring: Vec<String> = tx.scalars(
        "SELECT splices FROM model_request WHERE round IS NOT NULL AND splices IS NOT NULL
           AND turn IN
             (SELECT id FROM turn WHERE conversation = ?1 AND (id > ?2 OR stop IS NULL))",
        parameters![conversation, newest],
    )?;
    let mut rows = HashSet::new();
    for splices in referring {
        let splices: Vec<Splice> = row::read_json("splices", &splices)?;
        rows.extend(splices.iter().map(|splice| splice.row));
    }
    Ok(rows)
}
