//! How messages are handed over. Where a repetition is harmful, that a piece is sent is on record before
//! (its *intent*) and that it was after (its *receipt*); a piece with an intent and no receipt is looked
//! for, and where the platform cannot tell it is the operator's. Elsewhere a crash between a delivery and
//! its mark repeats it under the same id and number.

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    DeliveryError, Found, Outbox, Part, Piece, Receipt, Repetition, SessionKey,
};

use super::{
    BATCH, DeliveryState, Pending, QueuedMessages,
    receipts::{Named, SentPiece},
};
use crate::{StoreError, crash_point, journal::WaitingMarks, row, tx::parameters};

/// What [`QueuedMessages::deliver_pending`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deliveries {
    pub delivered: u64,
    /// The messages that stay queued, and why.
    pub failed: Vec<(i64, String)>,
    /// Those that only the operator can send now, and why.
    pub given_up: Vec<(i64, String)>,
    /// A rate limit ends then: after that it is to be tried again.
    pub again_after: Option<Duration>,
}

/// What became of a message.
enum HandedOver {
    Delivered,
    /// It is another instance's, or nobody's, by now.
    NotOurs,
    Waits {
        reason: String,
        after: Option<Duration>,
    },
    GivenUp {
        reason: String,
    },
}

/// How often it is looked whether marks wait, which any write takes along that comes.
const SOON: Duration = Duration::from_millis(100);
/// Before a piece is sent again that was sent once and is known not to have arrived.
const AGAIN: Duration = Duration::from_secs(2);
const NOBODY_KNOWS: &str =
    "the process ended while this was being sent, and the platform cannot tell whether it arrived";

impl QueuedMessages<'_> {
    /// Hands over every pending message that no other instance is handing over. After a failure the
    /// session's later messages wait, so that nobody reads an answer before its question. In this
    /// process one at a time may do so for a session.
    pub async fn deliver_pending(
        &self,
        session: Option<&SessionKey>,
        outbox: &dyn Outbox,
    ) -> Result<Deliveries, StoreError> {
        let mut done = Deliveries::default();
        let mut stuck: Vec<SessionKey> = Vec::new();
        // Where nobody is, few are looked at, however many wait.
        let mut seen = 0;
        loop {
            // Looked for first: what is marked meanwhile is not among the pending ones.
            let (known, progress) = (self.0.buffer.delivered(), self.0.buffer.progress());
            let mut claimed = self.next(session, seen).await?;
            let are_all = claimed.len() < BATCH;
            if let Some(last) = claimed.last()
                && self.0.is_shared()
            {
                claimed = self.claim(session, last.id).await?;
            }
            let Some(last) = claimed.last() else {
                break;
            };
            seen = last.id;
            claimed.retain(|pending| {
                !known.contains(&pending.id) && !stuck.contains(&pending.message.session)
            });
            if claimed.is_empty() && self.0.is_shared() {
                break;
            }
            for mut pending in claimed {
                if stuck.contains(&pending.message.session) {
                    continue;
                }
                pending.take_along(&progress);
                match self.hand_over(&pending, outbox).await? {
                    HandedOver::Delivered => done.delivered += 1,
                    HandedOver::NotOurs => {}
                    HandedOver::GivenUp { reason } => done.given_up.push((pending.id, reason)),
                    HandedOver::Waits { reason, after } => {
                        done.failed.push((pending.id, reason));
                        done.again_after = done.again_after.into_iter().chain(after).min();
                        stuck.push(pending.message.session);
                    }
                }
            }
            if session.is_some_and(|session| stuck.contains(session)) {
                break;
            }
            if self.0.is_shared() {
                // Another instance may leave us what it wrote meanwhile.
                seen = 0;
            } else if are_all {
                // Whoever else of this process queues a message delivers it.
                break;
            }
        }
        if !stuck.is_empty() && self.0.is_shared() {
            self.unclaim(session).await?;
        }
        Ok(done)
    }

    async fn hand_over(
        &self,
        pending: &Pending,
        outbox: &dyn Outbox,
    ) -> Result<HandedOver, StoreError> {
        let message = &pending.message;
        if let Some(limited) = self.0.held.limit(&message.session) {
            return self.not_delivered(pending, limited, false).await;
        }
        let repetition = outbox.repetition(&message.session);
        let is_harmful = repetition == Repetition::Harmful;
        let pieces = match &pending.pieces {
            Some(pieces) => pieces.clone(),
            None => match outbox.pieces(message) {
                none if none.is_empty() => vec![message.parts.clone()],
                pieces => pieces,
            },
        };
        let is_new = pieces.len() > 1 && pending.pieces.is_none();
        let mut split = is_new.then(|| row::json("pieces", &pieces)).transpose()?;
        let mut looks = pending.intended && is_harmful;
        for (number, parts) in (1..).zip(&pieces).skip(pending.done as usize) {
            let piece = pending.piece(number, parts);
            let found = if std::mem::take(&mut looks) {
                outbox.look_for(piece).await
            } else {
                Found::Missing
            };
            let answer = match found {
                Found::Delivered(receipt) => Ok(receipt),
                Found::Unknown => Err(DeliveryError::Unknown {
                    reason: NOBODY_KNOWS.to_owned(),
                }),
                Found::Missing => {
                    let is_ours = if is_harmful {
                        self.intend(pending.id, split.take()).await?
                    } else {
                        self.is_ours(pending.id).await?
                    };
                    if !is_ours {
                        return Ok(HandedOver::NotOurs);
                    }
                    match outbox.deliver(piece).await {
                        Err(DeliveryError::Unknown { reason }) if is_harmful => {
                            looked_for(outbox.look_for(piece).await, reason)
                        }
                        answer => answer,
                    }
                }
            };
            let receipt: Receipt = match answer {
                Ok(receipt) => receipt,
                Err(error) => return self.not_delivered(pending, error, is_harmful).await,
            };
            crash_point("outbox.after_delivery");
            let sent = SentPiece {
                message: pending.id,
                done: number,
                ended: number as usize == pieces.len(),
                pieces: split.take(),
                named: Named::new(&message.session, receipt, pending.log),
            };
            self.record(sent, repetition == Repetition::Harmless)
                .await?;
        }
        self.0.held.release(&message.session);
        Ok(HandedOver::Delivered)
    }

    async fn not_delivered(
        &self,
        pending: &Pending,
        error: DeliveryError,
        is_intended: bool,
    ) -> Result<HandedOver, StoreError> {
        let session = &pending.message.session;
        let (state, reason) = match error {
            DeliveryError::Refused { reason } => (DeliveryState::Failed, reason),
            DeliveryError::Unknown { reason } => (DeliveryState::Unknown, reason),
            DeliveryError::Unreachable { ref reason } | DeliveryError::Later { ref reason, .. } => {
                let after = match error {
                    DeliveryError::Later { after, .. } => Some(after),
                    _ => None,
                };
                if is_intended {
                    self.withdraw(pending.id).await?;
                }
                self.0.held.hold(session, reason, after);
                return Ok(HandedOver::Waits {
                    reason: reason.clone(),
                    after,
                });
            }
        };
        self.give_up(pending.id, state, &reason).await?;
        self.0.held.release(session);
        Ok(HandedOver::GivenUp { reason })
    }

    /// False if it is not ours any more: then it may not be sent.
    async fn intend(&self, id: i64, pieces: Option<String>) -> Result<bool, StoreError> {
        let life = self.0.holder();
        let is_ours = self
            .0
            .write(move |tx| {
                let update = "UPDATE outbox SET intended = 1, pieces = COALESCE(pieces, ?3)
                     WHERE id = ?1 AND state = 'queued' AND claimed_by IS NOT DISTINCT FROM ?2";
                Ok(tx.writes_one(update, parameters![id, life, pieces])?)
            })
            .await?;
        crash_point("outbox.after_intent");
        Ok(is_ours)
    }

    /// Nothing was sent.
    async fn withdraw(&self, id: i64) -> Result<(), StoreError> {
        let life = self.0.holder();
        self.0
            .write(move |tx| {
                let update = "UPDATE outbox SET intended = 0
                     WHERE id = ?1 AND claimed_by IS NOT DISTINCT FROM ?2";
                tx.execute(update, parameters![id, life])?;
                Ok(())
            })
            .await
    }

    async fn give_up(&self, id: i64, state: DeliveryState, why: &str) -> Result<(), StoreError> {
        let (life, state) = (self.0.holder(), row::word(state)?);
        let reason = why.as_bytes().to_vec();
        self.0
            .write(move |tx| {
                let update = "UPDATE outbox
                     SET state = ?3, reason = ?4, intended = 0, claimed_by = NULL
                     WHERE id = ?1 AND claimed_by IS NOT DISTINCT FROM ?2";
                tx.execute(update, parameters![id, life, state, reason])?;
                Ok(())
            })
            .await
    }

    /// It was delivered. Where a repetition does no harm the mark waits for others, and not for long.
    async fn record(&self, sent: SentPiece, soon: bool) -> Result<(), StoreError> {
        // From here on it is known as delivered, also where the write fails.
        self.0.buffer.push_sent(sent);
        if soon && !self.0.is_shared() {
            if self.0.buffer.schedules_flush() {
                // A task of its own, since nobody else may write for long.
                let database = Arc::clone(self.0);
                tokio::spawn(async move {
                    loop {
                        tokio::time::sleep(SOON).await;
                        match database.buffer.look_at_marks() {
                            WaitingMarks::None => return,
                            WaitingMarks::Due => {}
                            WaitingMarks::Overdue => break,
                        }
                    }
                    if let Err(error) = database.flush_scheduled().await {
                        tracing::warn!(%error, "could not mark delivered messages; retrying with the next write");
                    }
                });
            }
            return Ok(());
        }
        self.0.buffer.write_marks();
        self.0.write(|_| Ok(())).await?;
        crash_point("outbox.after_receipt");
        Ok(())
    }
}

/// A piece that was sent, or not: its platform did not say. What did not arrive is sent again.
fn looked_for(found: Found, reason: String) -> Result<Receipt, DeliveryError> {
    match found {
        Found::Delivered(receipt) => Ok(receipt),
        Found::Missing => Err(DeliveryError::Later {
            after: AGAIN,
            reason,
        }),
        Found::Unknown => Err(DeliveryError::Unknown { reason }),
    }
}

impl Pending {
    fn piece<'a>(&'a self, number: u32, parts: &'a [Part]) -> Piece<'a> {
        Piece {
            id: self.id,
            number,
            session: &self.message.session,
            parts,
            queued_at: self.queued_at,
        }
    }

    /// What is known of it, and not on record yet.
    fn take_along(&mut self, progress: &[(i64, u32)]) {
        let ours = progress.iter().filter(|(id, _)| *id == self.id);
        let done = ours.map(|(_, done)| *done).max().unwrap_or_default();
        if done > self.done {
            self.done = done;
            self.intended = false;
        }
    }
}
