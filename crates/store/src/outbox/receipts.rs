//! What is on record once a piece was delivered: how far its message came, and what the platform calls it.
//! It is written at the front of the next write, as all that the buffer holds.

use callgate_contract::{Receipt, SessionKey};

use super::QueuedMessages;
use crate::{
    StoreError,
    tx::{Tx, parameters},
};

/// Delivered messages that one statement removes.
pub(crate) const FORGOTTEN_AT_ONCE: usize = 8;

/// A piece that was delivered.
pub(crate) struct SentPiece {
    pub(crate) message: i64,
    /// So many of its message were, with it.
    pub(crate) done: u32,
    /// It was the last one.
    pub(crate) ended: bool,
    /// All of them, where they are not on record yet.
    pub(super) pieces: Option<String>,
    pub(super) named: Option<Named>,
}

/// What a platform calls a message that the log has.
pub(super) struct Named {
    session: String,
    message_id: String,
    log: i64,
}

impl Named {
    /// A name that no column can hold is as good as none.
    pub(super) fn new(session: &SessionKey, receipt: Receipt, log: Option<i64>) -> Option<Self> {
        Some(Named {
            session: session.to_string(),
            message_id: receipt.message_id.filter(|id| !id.contains('\0'))?,
            log: log?,
        })
    }
}

impl SentPiece {
    /// The mark of the message says all that there is to say of it.
    pub(crate) fn is_only_a_mark(&self) -> bool {
        self.ended && self.named.is_none()
    }
}

impl QueuedMessages<'_> {
    /// The log's row of a message that we sent, by what the platform calls it, or a piece of it.
    pub async fn sent(
        &self,
        session: &SessionKey,
        message_id: &str,
    ) -> Result<Option<i64>, StoreError> {
        if message_id.contains('\0') {
            return Ok(None);
        }
        let (session, message_id) = (session.to_string(), message_id.to_owned());
        self.0
            .read(move |tx| {
                let select = "SELECT log FROM receipt WHERE session = ?1 AND message_id = ?2";
                tx.scalar(select, parameters![session, message_id])
            })
            .await
    }
}

pub(crate) fn write_sent(tx: &mut dyn Tx, sent: &[SentPiece]) -> Result<(), StoreError> {
    for piece in sent {
        if !piece.ended {
            tx.execute(
                "UPDATE outbox SET done = ?2, intended = 0, pieces = COALESCE(pieces, ?3)
                 WHERE id = ?1 AND done < ?2",
                parameters![piece.message, piece.done, piece.pieces],
            )?;
        }
        if let Some(named) = &piece.named {
            tx.execute(
                "INSERT INTO receipt (session, message_id, log) VALUES (?1, ?2, ?3)
                 ON CONFLICT (session, message_id) DO NOTHING",
                parameters![named.session, named.message_id, named.log],
            )?;
        }
    }
    Ok(())
}

/// They go, since the log has them.
pub(crate) fn forget(tx: &mut dyn Tx, delivered: &[i64]) -> Result<(), StoreError> {
    for some in delivered.chunks(FORGOTTEN_AT_ONCE) {
        // One text for any number of them: the first stands in for those that are missing.
        let id = |place: usize| {
            some.get(place)
                .or(some.first())
                .copied()
                .unwrap_or_default()
        };
        tx.execute(
            "DELETE FROM outbox WHERE id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            parameters![id(0), id(1), id(2), id(3), id(4), id(5), id(6), id(7)],
        )?;
    }
    Ok(())
}
