//! Turns: each from the messages it answers to its delivered answer, one row per round, so that
//! after a crash it goes on from its record. A recorded reply is never overwritten; the end, the
//! history and the answer on its way out are one transaction.

mod altered;
mod read;
mod spent;
mod spoken;
mod sums;
mod types;

use callgate_contract::{ConversationId, JournalId};
use serde_json::Value as Json;
use uuid::Uuid;

pub use self::{
    spent::{Scope, Spent},
    spoken::Spoken,
    sums::TurnCounts,
    types::{Answer, Round, Turn, TurnEnd, TurnFinish, TurnStart},
};
use crate::{
    Charge, Journal, KeptRequest, Lease, StoreError, approvals, changes, conversations,
    costs::UsageColumns,
    crash_point,
    journal::PendingReply,
    log, row,
    shared::{Draft, Learned, RequestColumns},
    tx::{Tx, parameters},
};

pub struct Turns<'a>(pub(crate) &'a Journal);

impl Turns<'_> {
    /// Durable when it returns, together with the taking of the log rows it answers. On an error
    /// there is no turn and nothing was taken.
    pub async fn begin(&self, turn: &TurnStart, answers: &[i64]) -> Result<(), StoreError> {
        self.begin_under(None, turn, answers).await
    }

    /// The same under the session's lease: refused where another instance has that by now.
    pub async fn begin_under(
        &self,
        lease: Option<&Lease>,
        turn: &TurnStart,
        answers: &[i64],
    ) -> Result<(), StoreError> {
        let database = &self.0.database;
        let lease = lease.cloned();
        let (turn, answers, holder) = (turn.clone(), answers.to_vec(), database.holder());
        database
            .write(move |tx| {
                begin(tx, lease.as_ref(), &turn, &answers, holder)?;
                crash_point("turn.before_begin_commit");
                Ok(())
            })
            .await?;
        crash_point("turn.after_begin");
        Ok(())
    }

    /// The turn begins with its first round, in one transaction: [`Turns::begin_under`] and
    /// [`Turns::asked`].
    pub async fn begin_asking(
        &self,
        lease: Option<&Lease>,
        turn: &TurnStart,
        answers: &[i64],
        request: Option<KeptRequest>,
    ) -> Result<(), StoreError> {
        let (database, id) = (&self.0.database, turn.id);
        let lease = lease.cloned();
        let (turn, answers, holder) = (turn.clone(), answers.to_vec(), database.holder());
        let request = database.draft(request).await?;
        let learned = database
            .write(move |tx| {
                begin(tx, lease.as_ref(), &turn, &answers, holder)?;
                let learned = ask(tx, id, 1, request)?;
                crash_point("turn.before_begin_commit");
                Ok(learned)
            })
            .await?;
        database.learn(learned);
        crash_point("turn.after_begin");
        crash_point("turn.after_asked");
        Ok(())
    }

    /// The model is about to be asked. Asking again, after a crash that hid the answer, counts as
    /// one more attempt. Refused once the round has a reply.
    pub async fn asked(
        &self,
        turn: JournalId,
        number: u32,
        request: Option<KeptRequest>,
    ) -> Result<(), StoreError> {
        let request = self.0.database.draft(request).await?;
        let learned = self
            .0
            .write_to(turn, move |tx| ask(tx, turn, number, request))
            .await?;
        self.0.database.learn(learned);
        crash_point("turn.after_asked");
        Ok(())
    }

    /// Durable when it returns, with what it cost: from here on the model is not asked again for
    /// this round.
    pub async fn replied(
        &self,
        turn: JournalId,
        number: u32,
        reply: &Json,
        charge: &Charge,
    ) -> Result<(), StoreError> {
        crash_point("turn.before_reply");
        let reply = self.reply(turn, number, reply, charge);
        self.0
            .write_to(turn, move |tx| {
                if write_reply(tx, &reply)? {
                    return Ok(());
                }
                let select = "SELECT round FROM model_request WHERE turn = ?1 AND round = ?2";
                Err(
                    match tx.query_optional(select, parameters![turn, number])? {
                        Some(_) => StoreError::AlreadyReplied { turn, number },
                        None => StoreError::NeverAsked { turn, number },
                    },
                )
            })
            .await?;
        crash_point("turn.after_reply");
        Ok(())
    }

    /// The same with the next write: for whoever writes before anything is done with the reply. Of a
    /// turn that another instance has taken over, or a round that has a reply, nothing is written.
    pub fn reply_soon(&self, turn: JournalId, number: u32, reply: &Json, charge: &Charge) {
        crash_point("turn.before_reply");
        let reply = self.reply(turn, number, reply, charge);
        self.0.database.buffer.push_reply(reply);
    }

    fn reply(&self, turn: JournalId, number: u32, reply: &Json, charge: &Charge) -> PendingReply {
        PendingReply {
            turn,
            number,
            reply: reply.to_string(),
            charge: charge.clone(),
            holder: self.0.database.holder(),
        }
    }

    /// Everything that comes of the turn, at once or not at all: its end, the messages that enter
    /// its conversation, the answer in the outbox. Refused once it has ended.
    /// Returns the last position of its conversation, where it has one.
    pub async fn finish(
        &self,
        turn: JournalId,
        end: TurnEnd<'_>,
    ) -> Result<Option<u64>, StoreError> {
        crash_point("turn.before_finish");
        let holder = self.0.database.holder();
        let (messages, changes, calls) = (end.messages.to_vec(), end.changes.to_vec(), end.calls);
        let (stop, report) = (row::word(end.stop)?, end.report.to_string());
        let tainted = end.tainted;
        let millis = i64::try_from(end.elapsed.as_millis()).unwrap_or(i64::MAX);
        let last = self
            .0
            .write_to(turn, move |tx| {
                let Some(conversation) = close(tx, turn, &stop, &report, (millis, tainted))? else {
                    return Err(read::not_open(tx, turn)?);
                };
                if calls {
                    approvals::withdraw_all(tx, turn)?;
                }
                changes::apply(tx, turn, &changes, holder)?;
                let last = match conversation {
                    None => None,
                    Some(id) => {
                        let last = conversations::append(tx, id, Some(turn), &messages)?;
                        if last.is_none() {
                            // Of one deleted meanwhile nothing comes back: the answer still goes
                            // out, and its text is kept nowhere else.
                            conversations::erase(tx, id)?;
                        }
                        last
                    }
                };
                crash_point("turn.before_finish_commit");
                Ok(last)
            })
            .await?;
        self.0.database.tell_queued(end.changes);
        crash_point("turn.after_finish");
        Ok(last)
    }

    /// Every text of the turn goes; its id, hashes, counts and costs stay.
    pub async fn erase(&self, turn: JournalId) -> Result<(), StoreError> {
        let database = &self.0.database;
        database
            .write(move |tx| conversations::erase_turn(tx, turn))
            .await?;
        database.scrub().await
    }
}

fn insert(
    tx: &mut dyn Tx,
    turn: &TurnStart,
    holder: Option<Uuid>,
    leased: bool,
) -> Result<(), StoreError> {
    let inserted = tx.writes_one(
        "INSERT INTO turn (id, session, conversation, user_name, role, mode, model, persona,
                           methods, parent, depth, plan, started_at, holder, leased, principal,
                           unprompted)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                 ?16, ?17)
         ON CONFLICT (id) DO NOTHING",
        parameters![
            turn.id,
            turn.session.to_string(),
            turn.conversation,
            turn.principal.user().as_ref(),
            row::word(turn.role)?,
            row::word(turn.mode)?,
            turn.model,
            turn.persona.as_ref().map(String::as_bytes),
            row::allowed(&turn.allowed)?,
            turn.parent,
            u32::from(turn.depth),
            turn.plan.to_string(),
            row::now(),
            holder,
            leased,
            turn.principal.to_string(),
            turn.unprompted,
        ],
    )?;
    inserted.then_some(()).ok_or(StoreError::TurnBegun(turn.id))
}

fn begin(
    tx: &mut dyn Tx,
    lease: Option<&Lease>,
    turn: &TurnStart,
    answers: &[i64],
    holder: Option<Uuid>,
) -> Result<(), StoreError> {
    // Without a holder there is one process, which has every lease.
    if let Some(lease) = lease.filter(|_| holder.is_some())
        && !lease.holds(tx)?
    {
        return Err(StoreError::Elsewhere(turn.id));
    }
    insert(tx, turn, holder, lease.is_some())?;
    log::take(tx, turn.id, answers)
}

fn ask(
    tx: &mut dyn Tx,
    turn: JournalId,
    number: u32,
    request: Draft,
) -> Result<Learned, StoreError> {
    let columns = request.columns()?;
    if let Some(row) = write_request(tx, turn, number, &columns)? {
        return Ok(request.learned(row));
    }
    // It has a reply; or it was asked before, and shared words then which others may have taken up.
    if columns.shared.is_some()
        && let Some(_) = write_request(tx, turn, number, &request.whole())?
    {
        return Ok(None);
    }
    Err(StoreError::AlreadyReplied { turn, number })
}

/// The number of the row; `None` where it has a reply, or would lose the words it shares for others.
fn write_request(
    tx: &mut dyn Tx,
    turn: JournalId,
    number: u32,
    columns: &RequestColumns,
) -> Result<Option<i64>, StoreError> {
    tx.scalar(
        "INSERT INTO model_request (turn, round, session, principal, user_name, model, request,
                                    splices, shared, asked_at, attempts)
         SELECT id, ?2, session, principal, user_name, model, ?3, ?4, ?5, ?6, 1 FROM turn WHERE id = ?1
         ON CONFLICT (turn, round) WHERE round IS NOT NULL
         DO UPDATE SET request = excluded.request, splices = excluded.splices,
             shared = COALESCE(model_request.shared, excluded.shared),
             asked_at = excluded.asked_at, attempts = model_request.attempts + 1
         WHERE model_request.answered_at IS NULL
           AND (model_request.shared IS NULL OR excluded.shared IS NULL)
         RETURNING id",
        parameters![
            turn,
            number,
            columns.request,
            columns.splices,
            columns.shared,
            row::now()
        ],
    )
}

/// False if the round was never asked, has a reply, or is another instance's by now.
pub(crate) fn write_reply(tx: &mut dyn Tx, reply: &PendingReply) -> Result<bool, StoreError> {
    let PendingReply { turn, number, .. } = *reply;
    let (charge, usage) = (&reply.charge, UsageColumns::of(&reply.charge));
    Ok(tx.writes_one(
        "UPDATE model_request SET reply = ?3, reply_hash = ?4, answered_at = ?5, model = ?6,
             origin = ?7, method = ?8, tokens_in = ?9, cached = ?10, written = ?11,
             tokens_out = ?12, reasoning = ?13, money = ?14
         WHERE turn = ?1 AND round = ?2 AND answered_at IS NULL
           AND (?15 IS NULL OR EXISTS (
               SELECT 1 FROM turn WHERE id = ?1 AND (holder IS NULL OR holder = ?15)))",
        parameters![
            turn,
            number,
            reply.reply,
            row::hash(reply.reply.as_bytes()),
            row::now(),
            charge.model,
            charge.origin,
            charge.method,
            usage.tokens_in,
            usage.cached,
            usage.written,
            usage.tokens_out,
            usage.reasoning,
            usage.money,
            reply.holder,
        ],
    )?)
}

/// The turn's conversation, if it has one; `None` if the turn has ended, or is unknown.
fn close(
    tx: &mut dyn Tx,
    turn: JournalId,
    stop: &str,
    report: &str,
    (millis, tainted): (i64, bool),
) -> Result<Option<Option<ConversationId>>, StoreError> {
    tx.scalar(
        "UPDATE turn SET stop = ?2, report = ?3, finished_at = ?4, millis = ?5,
                         tainted = ?6,
                         calls = (SELECT COUNT(*) FROM call WHERE journal = ?1 OR journal IN
                                  (SELECT journal FROM run WHERE run.turn = ?1))
         WHERE id = ?1 AND stop IS NULL RETURNING conversation",
        parameters![turn, stop, report, row::now(), millis, i64::from(tainted)],
    )
}
