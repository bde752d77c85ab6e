//! Sending. A piece has a transaction id of its own, under which the server takes it once. Servers forget
//! those after a day or so: an old piece is looked for in the room by the same id, which its event carries too.

use std::{collections::HashMap, time::Duration};

use callgate_contract::{DeliveryError, Part, Piece, Receipt};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};

use super::{
    Shared,
    api::{ApiError, Ask},
    media::MediaError,
    outgoing,
    seen::Said,
};

const SEND: Duration = Duration::from_secs(60);
/// Before a piece is sent again of which nobody said whether it was taken.
const AGAIN: Duration = Duration::from_secs(2);
/// From then on a server may have forgotten a transaction, in milliseconds.
const OLD: i64 = 6 * 60 * 60 * 1_000;
/// Pages of our own messages that are looked through for an old one.
const MOST_PAGES: usize = 50;
const MOST_UPLOADS: usize = 256;
/// The field of an event that says which piece it is.
const PIECE: &str = "callgate.piece";

/// Media that were uploaded for pieces that are not sent yet, so that a rate limit does not upload them again.
#[derive(Default)]
pub(super) struct Uploads {
    /// By transaction. A mutex, held for a look or a change.
    contents: Mutex<HashMap<String, Json>>,
}

/// The same for a piece whenever it is sent, and no other's: ids begin anew with a new data directory.
fn transaction(piece: &Piece<'_>) -> String {
    format!("cg{:x}-{}-{}", piece.queued_at, piece.id, piece.number)
}

impl Shared {
    pub(super) async fn deliver(&self, piece: Piece<'_>) -> Result<Receipt, DeliveryError> {
        if !self.is_connected() {
            let reason = "not connected to the homeserver".to_owned();
            return Err(DeliveryError::Unreachable { reason });
        }
        let room = piece.session.id();
        let known = self.rooms.get(&self.api, room).await.map_err(not_sent)?;
        if known.is_encrypted {
            let reason = "the room is encrypted: nothing is sent there in the clear".to_owned();
            return Err(DeliveryError::Refused { reason });
        }
        let transaction = transaction(&piece);
        let id = match self
            .sent_long_ago(&piece, &transaction)
            .await
            .map_err(not_sent)?
        {
            Some(id) => id,
            None => self.send(&piece, &transaction).await?,
        };
        self.uploads.contents.lock().remove(&transaction);
        self.arrivals.sent();
        let words = piece
            .parts
            .iter()
            .filter(|part| !matches!(part, Part::Reply { .. }));
        let said = Said {
            sender: self.bot().id,
            text: words.filter_map(Part::words).collect(),
            thread: self.thread_of(&piece).await,
        };
        self.seen.remember(&id, said);
        Ok(Receipt {
            message_id: Some(id),
        })
    }

    async fn send(&self, piece: &Piece<'_>, transaction: &str) -> Result<String, DeliveryError> {
        let mut content = self.content(piece, transaction).await?;
        if let Some(to) = outgoing::answered(piece.parts) {
            let thread = self.thread_of(piece).await;
            outgoing::relate(&mut content, to, thread.as_deref());
        }
        content[PIECE] = transaction.into();
        let path = [
            "rooms",
            piece.session.id(),
            "send",
            "m.room.message",
            transaction,
        ];
        let sending = self.api.ask(Ask::put(&path, &content).deadline(SEND));
        let answer = sending.await.map_err(not_sent)?;
        Ok(answer["event_id"].as_str().unwrap_or_default().to_owned())
    }

    async fn content(&self, piece: &Piece<'_>, transaction: &str) -> Result<Json, DeliveryError> {
        let Some(media) = piece.parts.iter().find(|part| part.media().is_some()) else {
            return Ok(outgoing::content(piece.parts));
        };
        if let Some(content) = self.uploads.contents.lock().get(transaction) {
            return Ok(content.clone());
        }
        let content = self.media_content(piece.session, media).await;
        let content = content.map_err(|error| match error {
            MediaError::Unreadable(reason) => DeliveryError::Refused { reason },
            MediaError::Server(error) => not_sent(error),
        })?;
        let mut contents = self.uploads.contents.lock();
        if contents.len() >= MOST_UPLOADS {
            contents.clear();
        }
        contents.insert(transaction.to_owned(), content.clone());
        Ok(content)
    }

    async fn thread_of(&self, piece: &Piece<'_>) -> Option<String> {
        let to = outgoing::answered(piece.parts)?;
        let said = self.seen.get(&self.api, piece.session.id(), to).await;
        said.and_then(|said| said.thread)
    }

    /// The event that an old piece became, if it did.
    async fn sent_long_ago(
        &self,
        piece: &Piece<'_>,
        transaction: &str,
    ) -> Result<Option<String>, ApiError> {
        if Timestamp::now().as_millisecond() - piece.queued_at < OLD {
            return Ok(None);
        }
        let filter = json!({"senders": [self.bot().id], "types": ["m.room.message"]}).to_string();
        let path = ["rooms", piece.session.id(), "messages"];
        let mut from: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let mut query = vec![("dir", "b"), ("limit", "100"), ("filter", &filter)];
            query.extend(from.as_deref().map(|from| ("from", from)));
            let page = self.api.ask(Ask::get(&path).query(&query)).await?;
            for raw in page["chunk"].as_array().into_iter().flatten() {
                if raw["content"][PIECE] == transaction {
                    return Ok(raw["event_id"].as_str().map(str::to_owned));
                }
                // A minute for clocks that differ.
                if raw["origin_server_ts"]
                    .as_i64()
                    .is_some_and(|at| at < piece.queued_at - 60_000)
                {
                    return Ok(None);
                }
            }
            match page["end"].as_str() {
                Some(end) => from = Some(end.to_owned()),
                None => break,
            }
        }
        Ok(None)
    }
}

/// Whatever came of it may be tried again under the same id, unless the server will never take it.
fn not_sent(error: ApiError) -> DeliveryError {
    let reason = error.to_string();
    match error {
        ApiError::Limited { after } => DeliveryError::Later { after, reason },
        ApiError::Refused { status, .. } if status != 401 => DeliveryError::Refused { reason },
        _ => DeliveryError::Later {
            after: AGAIN,
            reason,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_never_taken_is_given_up() {
        let refused = |status| ApiError::Refused {
            status,
            code: "M_X".to_owned(),
            reason: "no".to_owned(),
        };
        assert!(matches!(
            not_sent(refused(403)),
            DeliveryError::Refused { .. }
        ));
        // The operator gives it another token.
        assert!(matches!(
            not_sent(refused(401)),
            DeliveryError::Later { .. }
        ));
        let silent = ApiError::NoAnswer {
            reason: String::new(),
        };
        assert!(matches!(
            not_sent(silent),
            DeliveryError::Later { after: AGAIN, .. }
        ));
        let after = Duration::from_millis(1_500);
        let limited = not_sent(ApiError::Limited { after });
        assert!(matches!(limited, DeliveryError::Later { after: told, .. } if told == after));
    }
}
