//! Turns: each from the messages it answers to its delivered answer, one row per round, so that
//! after a crash it goes on from its record. A recorded reply is never overwritten; the end, the
//! history and the answer on its way out are one transaction.

mod altered;
mod read;
mod spent;
mod sums;
mod types;

use callgate_contract::JournalId;
use serde_json::Value as Json;

pub use self::{
    spent::{Scope, Spent},
    sums::TurnCounts,
    types::{Answer, Round, Turn, TurnEnd, TurnFinish, TurnStart},
};
use crate::{
    Charge, Journal, Lease, StoreError, approvals, changes,
    connection::Connection,
    conversations,
    costs::{self, Spender},
    crash_point,
    journal::Write,
    log, row,
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
        let lease = lease.filter(|_| database.is_shared());
        let mut write = self.0.write(true).await?;
        let begun = async {
            if let Some(lease) = lease
                && !lease.holds(write.connection()).await?
            {
                return Err(StoreError::Elsewhere(turn.id));
            }
            insert(write.connection(), turn, database.holder()).await?;
            log::take(write.connection(), turn.id, answers).await
        };
        if let Err(error) = begun.await {
            write.rollback().await?;
            return Err(error);
        }
        crash_point("turn.before_begin_commit");
        write.commit().await?;
        crash_point("turn.after_begin");
        Ok(())
    }

    /// The model is about to be asked. Asking again, after a crash that hid the answer, counts as
    /// one more attempt. Refused once the round has a reply.
    pub async fn asked(
        &self,
        turn: JournalId,
        number: u32,
        request: Option<&Json>,
    ) -> Result<(), StoreError> {
        let mut write = self.0.write_to(turn, false).await?;
        let asked = sqlx::query(
            "INSERT INTO round (turn, number, request, asked_at, attempts)
             VALUES ($1, $2, $3, $4, 1)
             ON CONFLICT (turn, number) DO UPDATE SET request = excluded.request,
                 asked_at = excluded.asked_at, attempts = round.attempts + 1
             WHERE round.answered_at IS NULL",
        )
        .bind(turn.0.to_string())
        .bind(i64::from(number))
        .bind(request.map(Json::to_string))
        .bind(row::now())
        .execute(write.connection())
        .await?;
        write.commit().await?;
        crash_point("turn.after_asked");
        match asked.rows_affected() {
            0 => Err(StoreError::AlreadyReplied { turn, number }),
            _ => Ok(()),
        }
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
        let mut write = self.0.write_to(turn, true).await?;
        let first = answer(write.connection(), turn, number, reply, charge).await?;
        if !first {
            return Err(refused_reply(write, turn, number).await?);
        }
        write.commit().await?;
        crash_point("turn.after_reply");
        Ok(())
    }

    /// Everything that comes of the turn, at once or not at all: its end, the messages that enter
    /// its conversation, the answer in the outbox. Refused once it has ended.
    pub async fn finish(&self, turn: JournalId, end: TurnEnd<'_>) -> Result<(), StoreError> {
        crash_point("turn.before_finish");
        let holder = self.0.database.holder();
        let mut write = self.0.write_to(turn, true).await?;
        let connection = write.connection();
        if !close(connection, turn, &end).await? {
            write.rollback().await?;
            self.get(turn).await?;
            return Err(StoreError::TurnFinished(turn));
        }
        approvals::withdraw_all(connection, turn).await?;
        settle(connection, turn, &end, holder).await?;
        crash_point("turn.before_finish_commit");
        write.commit().await?;
        crash_point("turn.after_finish");
        Ok(())
    }

    /// Every text of the turn goes; its id, hashes, counts and costs stay.
    pub async fn erase(&self, turn: JournalId) -> Result<(), StoreError> {
        let mut write = self.0.write(true).await?;
        conversations::erase_turn(write.connection(), turn).await?;
        write.commit().await?;
        self.0.database.scrub().await
    }
}

async fn insert(
    connection: &mut Connection,
    turn: &TurnStart,
    holder: Option<String>,
) -> Result<(), StoreError> {
    let inserted = sqlx::query(
        "INSERT INTO turn (id, session, conversation, user_name, role, mode, model, persona,
                           methods, parent, depth, plan, started_at, holder)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         ON CONFLICT (id) DO NOTHING",
    )
    .bind(turn.id.0.to_string())
    .bind(turn.session.to_string())
    .bind(turn.conversation.map(|id| id.to_string()))
    .bind(turn.user.clone())
    .bind(row::word(turn.role)?)
    .bind(row::word(turn.mode)?)
    .bind(turn.model.clone())
    .bind(turn.persona.clone().map(String::into_bytes))
    .bind(row::allowed(&turn.allowed)?)
    .bind(turn.parent.map(|parent| parent.0.to_string()))
    .bind(i64::from(turn.depth))
    .bind(turn.plan.to_string())
    .bind(row::now())
    .bind(holder)
    .execute(connection)
    .await?;
    match inserted.rows_affected() {
        0 => Err(StoreError::TurnBegun(turn.id)),
        _ => Ok(()),
    }
}

/// False if the round was never asked or has a reply.
async fn answer(
    connection: &mut Connection,
    turn: JournalId,
    number: u32,
    reply: &Json,
    charge: &Charge,
) -> Result<bool, StoreError> {
    let text = reply.to_string();
    let usage = charge.usage.as_ref();
    let tokens_in = row::count(usage.map_or(0, |usage| usage.input));
    let tokens_out = row::count(usage.map_or(0, |usage| usage.output));
    let money = usage.and_then(|usage| usage.money).map(row::count);
    let answered = sqlx::query(
        "UPDATE round SET reply = $3, reply_hash = $4, usage = $5, tokens_in = $6,
                          tokens_out = $7, money = $8, answered_at = $9
         WHERE turn = $1 AND number = $2 AND answered_at IS NULL",
    )
    .bind(turn.0.to_string())
    .bind(i64::from(number))
    .bind(text.clone())
    .bind(row::hash(text.as_bytes()))
    .bind(usage.map(|usage| row::json("usage", usage)).transpose()?)
    .bind(tokens_in)
    .bind(tokens_out)
    .bind(money)
    .bind(row::now())
    .execute(&mut *connection)
    .await?;
    if answered.rows_affected() == 0 {
        return Ok(false);
    }
    let spender = Spender {
        id: format!("{}/{number}", turn.0),
        turn: Some(turn),
        of: None,
    };
    costs::insert(connection, spender, charge).await?;
    Ok(true)
}

async fn refused_reply(
    mut write: Write<'_>,
    turn: JournalId,
    number: u32,
) -> Result<StoreError, StoreError> {
    let asked = sqlx::query("SELECT turn FROM round WHERE turn = $1 AND number = $2")
        .bind(turn.0.to_string())
        .bind(i64::from(number))
        .fetch_optional(write.connection())
        .await?;
    write.rollback().await?;
    Ok(match asked {
        Some(_) => StoreError::AlreadyReplied { turn, number },
        None => StoreError::NeverAsked { turn, number },
    })
}

/// False if the turn has ended, or is unknown.
async fn close(
    connection: &mut Connection,
    turn: JournalId,
    end: &TurnEnd<'_>,
) -> Result<bool, StoreError> {
    let closed = sqlx::query(
        "UPDATE turn SET stop = $2, report = $3, finished_at = $4, millis = $5,
                         calls = (SELECT COUNT(*) FROM call WHERE journal = $1 OR journal IN
                                  (SELECT journal FROM run WHERE run.turn = $1))
         WHERE id = $1 AND stop IS NULL",
    )
    .bind(turn.0.to_string())
    .bind(row::word(end.stop)?)
    .bind(end.report.to_string())
    .bind(row::now())
    .bind(i64::try_from(end.elapsed.as_millis()).unwrap_or(i64::MAX))
    .execute(connection)
    .await?;
    Ok(closed.rows_affected() == 1)
}

/// What the turn leaves behind. Of a conversation deleted meanwhile nothing comes back: the answer
/// still goes out, and its text is kept nowhere else.
async fn settle(
    connection: &mut Connection,
    turn: JournalId,
    end: &TurnEnd<'_>,
    holder: Option<String>,
) -> Result<(), StoreError> {
    changes::apply(connection, turn, end.changes, holder).await?;
    let conversation: Option<String> =
        sqlx::query_scalar("SELECT conversation FROM turn WHERE id = $1")
            .bind(turn.0.to_string())
            .fetch_one(&mut *connection)
            .await?;
    let Some(conversation) = conversation else {
        return Ok(());
    };
    let id = row::read_conversation(&conversation)?;
    let appended = conversations::append(connection, id, Some(turn), end.messages).await?;
    match appended {
        Some(_) => Ok(()),
        None => conversations::erase(connection, id).await,
    }
}
