//! Reading turns back.

use callgate_contract::{ConversationId, JournalId, Principal, SessionKey, Usage};
use jiff::Timestamp;
use serde_json::Value as Json;

use super::{Answer, Round, Turn, TurnFinish, TurnStart, Turns};
use crate::{
    LeftBy, Run, StoreError,
    leftovers::{FoundOpen, left_behind},
    limits::first_id,
    row::{self, get},
    shared::Joiner,
    tx::{Parameter, Row, Tx, parameters},
};

impl Turns<'_> {
    pub async fn get(&self, turn: JournalId) -> Result<Turn, StoreError> {
        let database = &self.0.database;
        database.read(move |tx| one(tx, turn)).await
    }

    /// Turns that were begun and have not ended, oldest first, so parents before the turns of
    /// their agents.
    pub async fn unfinished(&self) -> Result<Vec<Turn>, StoreError> {
        let database = &self.0.database;
        let select = "SELECT * FROM turn WHERE stop IS NULL ORDER BY id";
        database.read(|tx| all(tx, select, &[])).await
    }

    /// Of those, the ones a crash cut off; and those that nobody has, since they wait for an approval.
    pub async fn cut_off(&self, by: LeftBy) -> Result<Vec<Turn>, StoreError> {
        let select = concat!(
            "SELECT * FROM turn WHERE stop IS NULL AND ",
            left_behind!("turn"),
            " ORDER BY id"
        );
        let database = &self.0.database;
        database
            .left_behind(select, by, FoundOpen::has_turn, read)
            .await
    }

    /// The session's newest `limit` turns, oldest first.
    pub async fn list(&self, session: &SessionKey, limit: u32) -> Result<Vec<Turn>, StoreError> {
        let mut turns = self.before(Some(session), None, limit).await?;
        turns.reverse();
        Ok(turns)
    }

    /// The newest `limit` turns before the turn `before`, newest first; of every session where
    /// `None`.
    pub async fn before(
        &self,
        session: Option<&SessionKey>,
        before: Option<JournalId>,
        limit: u32,
    ) -> Result<Vec<Turn>, StoreError> {
        let session = session.map(SessionKey::to_string);
        let before = before.unwrap_or(JournalId(uuid::Uuid::max()));
        let database = &self.0.database;
        database
            .read(move |tx| match session {
                Some(session) => all(
                    tx,
                    "SELECT * FROM turn WHERE session = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3",
                    parameters![session, before, limit],
                ),
                None => all(
                    tx,
                    "SELECT * FROM turn WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
                    parameters![before, limit],
                ),
            })
            .await
    }

    /// Has a turn of this principal begun there since then with this very plan?
    pub async fn is_begun_with(
        &self,
        (session, principal): (&SessionKey, &Principal),
        since: Timestamp,
        plan: &Json,
    ) -> Result<bool, StoreError> {
        let (session, principal) = (session.to_string(), principal.to_string());
        let (first, plan) = (first_id(since), plan.to_string());
        let database = &self.0.database;
        database
            .read(move |tx| {
                let found = tx.query_optional(
                    "SELECT id FROM turn WHERE session = ?1 AND id >= ?2 AND principal = ?3
                     AND plan = ?4 LIMIT 1",
                    parameters![session, first, principal, plan],
                )?;
                Ok(found.is_some())
            })
            .await
    }

    /// The session's newest `limit` turns that belong to another conversation than this one.
    pub async fn elsewhere(
        &self,
        session: &SessionKey,
        conversation: ConversationId,
        limit: u32,
    ) -> Result<Vec<JournalId>, StoreError> {
        let session = session.to_string();
        let database = &self.0.database;
        database
            .read(move |tx| {
                tx.scalars(
                    "SELECT id FROM turn WHERE session = ?1 AND conversation <> ?2
                     ORDER BY id DESC LIMIT ?3",
                    parameters![session, conversation, limit],
                )
            })
            .await
    }

    /// Turns of the agents that this turn called, oldest first.
    pub async fn children(&self, turn: JournalId) -> Result<Vec<Turn>, StoreError> {
        let database = &self.0.database;
        let select = "SELECT * FROM turn WHERE parent = ?1 ORDER BY id";
        database
            .read(move |tx| all(tx, select, parameters![turn]))
            .await
    }

    /// With a reply that was to be written soon and could not be yet: who goes on with the turn would ask
    /// for it again.
    pub async fn rounds(&self, turn: JournalId) -> Result<Vec<Round>, StoreError> {
        self.0.flush().await?;
        let database = &self.0.database;
        database
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT * FROM model_request WHERE turn = ?1 AND round IS NOT NULL
                     ORDER BY round",
                    parameters![turn],
                )?;
                let mut joiner = Joiner::default();
                let read = |row| read_round(joiner.request(tx, row)?, row);
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Runs of code in the turn, in order.
    pub async fn runs(&self, turn: JournalId) -> Result<Vec<Run>, StoreError> {
        self.0.runs_of(turn).await
    }
}

fn one(tx: &mut dyn Tx, turn: JournalId) -> Result<Turn, StoreError> {
    let row = tx.query_optional("SELECT * FROM turn WHERE id = ?1", parameters![turn])?;
    read(&row.ok_or(StoreError::UnknownTurn(turn))?)
}

fn all(
    tx: &mut dyn Tx,
    select: &str,
    parameters: &[Parameter<'_>],
) -> Result<Vec<Turn>, StoreError> {
    tx.query(select, parameters)?.iter().map(read).collect()
}

/// Why a turn cannot be ended.
pub(super) fn not_open(tx: &mut dyn Tx, turn: JournalId) -> Result<StoreError, StoreError> {
    one(tx, turn)?;
    Ok(StoreError::TurnFinished(turn))
}

fn read(row: &Row) -> Result<Turn, StoreError> {
    let persona: Option<Vec<u8>> = get(row, "persona")?;
    let start = TurnStart {
        id: get(row, "id")?,
        session: row::read_session(&get::<String>(row, "session")?)?,
        conversation: get(row, "conversation")?,
        principal: row::read_word("principal", get(row, "principal")?)?,
        role: row::read_word("role", get(row, "role")?)?,
        mode: row::read_word("mode", get(row, "mode")?)?,
        model: get(row, "model")?,
        persona: persona
            .map(|name| row::read_text("persona", name))
            .transpose()?,
        allowed: row::read_allowed(get(row, "methods")?)?,
        parent: get(row, "parent")?,
        depth: u8::try_from(get::<i64>(row, "depth")?)
            .map_err(|error| StoreError::damaged("depth", error))?,
        unprompted: row::read_flag(get(row, "unprompted")?),
        plan: row::read_json_or_null("plan", get(row, "plan")?)?,
    };
    Ok(Turn {
        start,
        started_at: row::read_time(get(row, "started_at")?)?,
        finish: read_finish(row)?,
    })
}

fn read_finish(row: &Row) -> Result<Option<TurnFinish>, StoreError> {
    let stop: Option<String> = get(row, "stop")?;
    let Some(stop) = stop else {
        return Ok(None);
    };
    Ok(Some(TurnFinish {
        stop: row::read_word("stop", stop)?,
        report: row::read_json_or_null("report", get(row, "report")?)?,
        at: row::read_time(get(row, "finished_at")?)?,
    }))
}

fn read_round(request: Option<String>, row: &Row) -> Result<Round, StoreError> {
    Ok(Round {
        number: row::read_small("round", get(row, "round")?)?,
        request: request
            .map(|json| row::read_json("request", &json))
            .transpose()?,
        asked_at: row::read_time(get(row, "asked_at")?)?,
        attempts: row::read_small("attempts", get(row, "attempts")?)?,
        answer: read_answer(row)?,
    })
}

fn read_answer(row: &Row) -> Result<Option<Answer>, StoreError> {
    let answered_at: Option<i64> = get(row, "answered_at")?;
    let Some(answered_at) = answered_at else {
        return Ok(None);
    };
    let usage = read_usage(row)?;
    Ok(Some(Answer {
        reply: row::read_json_or_null("reply", get(row, "reply")?)?,
        money: usage.and_then(|usage| usage.money),
        usage,
        at: row::read_time(answered_at)?,
    }))
}

/// `None` where the model did not say.
fn read_usage(row: &Row) -> Result<Option<Usage>, StoreError> {
    let tokens_in: Option<i64> = get(row, "tokens_in")?;
    let Some(tokens_in) = tokens_in else {
        return Ok(None);
    };
    let count = |column: &'static str| -> Result<u64, StoreError> {
        row::read_count(column, get(row, column)?)
    };
    let money: Option<i64> = get(row, "money")?;
    Ok(Some(Usage {
        input: row::read_count("tokens_in", tokens_in)?,
        cached: count("cached")?,
        written: count("written")?,
        output: count("tokens_out")?,
        reasoning: count("reasoning")?,
        money: money
            .map(|money| row::read_count("money", money))
            .transpose()?,
    }))
}
