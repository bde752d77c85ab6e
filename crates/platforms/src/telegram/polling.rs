//! Asking for updates (long poll). Asking from an offset makes Telegram forget all before it, so the offset
//! moves only when those are on disk. While one of them takes long (a large file), later ones are asked
//! for and taken all the same.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc, time::Duration};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared as SharedFuture},
};
use serde_json::{Map, Value as Json, json};
use tokio::time::{Instant, sleep, timeout};

use super::{
    Shared,
    api::ApiError,
    event::{KINDS, album, update_id},
};

/// How long Telegram holds a request open when there is nothing to tell, in seconds.
const HOLD: u64 = 25;
/// Beyond that a connection is dead that was not closed.
const DEADLINE: Duration = Duration::from_secs(HOLD + 15);
/// The pictures of an album come one by one; it is whole when for so long no other has come.
const ALBUM: Duration = Duration::from_millis(600);
/// Between two looks while something is not on disk yet.
const LOOK: Duration = Duration::from_millis(500);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

type Stored = SharedFuture<BoxFuture<'static, ()>>;

#[derive(Default)]
struct Reader {
    /// Updates that were taken, by their ids, from the first that is not on disk.
    taken: BTreeMap<i64, Stored>,
    /// The album that came last and how much there was of it: maybe there is more.
    open: Option<((i64, String), usize)>,
}

/// Until it is dropped.
pub(super) async fn poll(shared: &Arc<Shared>) -> Infallible {
    let mut reader = Reader::default();
    let mut pause = FIRST_PAUSE;
    loop {
        reader.move_on(shared).await;
        let waits = reader.taken.is_empty() && reader.open.is_none();
        let asked_at = Instant::now();
        match ask(shared, if waits { HOLD } else { 0 }).await {
            Ok(updates) => {
                shared.reached();
                pause = FIRST_PAUSE;
                if waits && updates.is_empty() && asked_at.elapsed() < LOOK {
                    // A server that does not hold requests open.
                    sleep(LOOK).await;
                }
                reader.take(shared, updates).await;
            }
            Err(error) => {
                let limited = shared.lost(&error);
                sleep(limited.unwrap_or(pause)).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

async fn ask(shared: &Shared, hold: u64) -> Result<Vec<Json>, ApiError> {
    let mut asked = Map::from_iter([
        ("timeout".to_owned(), hold.into()),
        ("limit".to_owned(), 100.into()),
        ("allowed_updates".to_owned(), json!(KINDS)),
    ]);
    if let Some(offset) = shared.chats.lock().offset {
        asked.insert("offset".to_owned(), offset.into());
    }
    let answer = shared.api.call("getUpdates", &asked, DEADLINE).await?;
    match answer {
        Json::Array(updates) => Ok(updates),
        _ => Err(ApiError::NoAnswer("its updates are no list".to_owned())),
    }
}

impl Reader {
    async fn take(&mut self, shared: &Arc<Shared>, updates: Vec<Json>) {
        let is_new = |raw: &Json| update_id(raw).is_some_and(|id| !self.taken.contains_key(&id));
        let mut new: Vec<Json> = updates.into_iter().filter(is_new).collect();
        let last = new.last().and_then(album);
        let last = last.map(|(chat, group)| (chat, group.to_owned()));
        let open = last.map(|group| {
            let count = new.iter().filter(|raw| is_of(raw, &group)).count();
            (group, count)
        });
        let is_whole = open.is_none() || open == self.open;
        if let Some((group, _)) = open.as_ref().filter(|_| !is_whole) {
            new.retain(|raw| !is_of(raw, group));
        }
        self.open = open.filter(|_| !is_whole);
        while !new.is_empty() {
            let first = new.remove(0);
            shared.learn(&first);
            let mut together = vec![first];
            let group = together.first().and_then(album);
            if let Some(group) = group.map(|(chat, group)| (chat, group.to_owned())) {
                together.extend(new.extract_if(.., |raw| is_of(raw, &group)));
            }
            let ids: Vec<i64> = together.iter().filter_map(update_id).collect();
            let stored = shared.take(together).await;
            // What can never be stored is said by who tried, and holds nothing up.
            let stored: Stored = stored.map(drop).boxed().shared();
            self.taken
                .extend(ids.into_iter().map(|id| (id, stored.clone())));
        }
        if self.open.is_some() {
            sleep(ALBUM).await;
        }
    }

    /// Past all that is on disk.
    async fn move_on(&mut self, shared: &Shared) {
        if let Some(first) = self.taken.values().next().cloned() {
            let _ = timeout(LOOK, first).await;
        }
        let mut offset = None;
        while let Some(first) = self.taken.first_entry()
            && first.get().peek().is_some()
        {
            offset = Some(first.key() + 1);
            drop(first.remove());
            // A clone that nobody has polled does not know that it is done.
            if let Some(next) = self.taken.values().next().cloned() {
                let _ = next.now_or_never();
            }
        }
        if offset.is_some() {
            shared.chats.lock().offset = offset;
            shared.save().await;
        }
    }
}

fn is_of(raw: &Json, group: &(i64, String)) -> bool {
    album(raw).is_some_and(|(chat, id)| chat == group.0 && id == group.1)
}
