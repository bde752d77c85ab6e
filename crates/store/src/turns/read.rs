//! Reading turns back.

use callgate_contract::{ConversationId, JournalId, SessionKey};
use jiff::Timestamp;
use sqlx::any::AnyRow;

use super::{Answer, Round, Turn, TurnFinish, TurnStart, Turns};
use crate::{
    Run, StoreError,
    instance::left_behind,
    row::{self, get},
};

impl Turns<'_> {
    pub async fn get(&self, turn: JournalId) -> Result<Turn, StoreError> {
        let row = sqlx::query("SELECT * FROM turn WHERE id = $1")
            .bind(turn.0.to_string())
            .fetch_optional(&self.0.database.readers)
            .await?;
        read(&row.ok_or(StoreError::UnknownTurn(turn))?)
    }

    /// Turns that were begun and have not ended, oldest first, so parents before the turns of
    /// their agents.
    pub async fn unfinished(&self) -> Result<Vec<Turn>, StoreError> {
        let rows = sqlx::query("SELECT * FROM turn WHERE stop IS NULL ORDER BY id")
            .fetch_all(&self.0.database.readers)
            .await?;
        rows.iter().map(read).collect()
    }

    /// Of those, the ones a crash cut off: begun by us before `start`, when we did not yet run, or by
    /// an instance that is gone; and those that nobody has, since they wait for an approval.
    pub async fn cut_off(&self, start: Timestamp) -> Result<Vec<Turn>, StoreError> {
        let select = concat!(
            "SELECT * FROM turn WHERE stop IS NULL AND ",
            left_behind!("turn", "started_at"),
            " ORDER BY id"
        );
        let rows = self.0.database.left_behind(select, start).await?;
        rows.iter().map(read).collect()
    }

    /// The session's newest `limit` turns, oldest first.
    pub async fn list(&self, session: &SessionKey, limit: u32) -> Result<Vec<Turn>, StoreError> {
        let select = sqlx::query("SELECT * FROM turn WHERE session = $1 ORDER BY id DESC LIMIT $2");
        let rows = select
            .bind(session.to_string())
            .bind(i64::from(limit))
            .fetch_all(&self.0.database.readers)
            .await?;
        rows.iter().rev().map(read).collect()
    }

    /// The newest `limit` turns before the turn `before`, newest first; of every session where
    /// `None`.
    pub async fn before(
        &self,
        session: Option<&SessionKey>,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Turn>, StoreError> {
        let select = sqlx::query(
            "SELECT * FROM turn WHERE (CAST($1 AS TEXT) IS NULL OR session = $1)
             AND (CAST($2 AS TEXT) IS NULL OR id < $2) ORDER BY id DESC LIMIT $3",
        );
        let rows = select
            .bind(session.map(SessionKey::to_string))
            .bind(before.map(str::to_owned))
            .bind(i64::from(limit))
            .fetch_all(&self.0.database.readers)
            .await?;
        rows.iter().map(read).collect()
    }

    /// The session's newest `limit` turns that belong to another conversation than this one.
    pub async fn elsewhere(
        &self,
        session: &SessionKey,
        conversation: ConversationId,
        limit: u32,
    ) -> Result<Vec<JournalId>, StoreError> {
        let select = sqlx::query(
            "SELECT id FROM turn WHERE session = $1 AND conversation <> $2
             ORDER BY id DESC LIMIT $3",
        );
        let rows = select
            .bind(session.to_string())
            .bind(conversation.to_string())
            .bind(i64::from(limit))
            .fetch_all(&self.0.database.readers)
            .await?;
        let read = |found: &AnyRow| row::read_journal(&get::<String>(found, "id")?);
        rows.iter().map(read).collect()
    }

    /// Turns of the agents that this turn called, oldest first.
    pub async fn children(&self, turn: JournalId) -> Result<Vec<Turn>, StoreError> {
        let rows = sqlx::query("SELECT * FROM turn WHERE parent = $1 ORDER BY id")
            .bind(turn.0.to_string())
            .fetch_all(&self.0.database.readers)
            .await?;
        rows.iter().map(read).collect()
    }

    pub async fn rounds(&self, turn: JournalId) -> Result<Vec<Round>, StoreError> {
        let rows = sqlx::query("SELECT * FROM round WHERE turn = $1 ORDER BY number")
            .bind(turn.0.to_string())
            .fetch_all(&self.0.database.readers)
            .await?;
        rows.iter().map(read_round).collect()
    }

    /// Runs of code in the turn, in order.
    pub async fn runs(&self, turn: JournalId) -> Result<Vec<Run>, StoreError> {
        self.0.runs_of(turn).await
    }
}

fn read(row: &AnyRow) -> Result<Turn, StoreError> {
    let conversation: Option<String> = get(row, "conversation")?;
    let read_id =
        |id: String| -> Result<ConversationId, StoreError> { row::read_conversation(&id) };
    let parent: Option<String> = get(row, "parent")?;
    let persona: Option<Vec<u8>> = get(row, "persona")?;
    let start = TurnStart {
        id: row::read_journal(get(row, "id")?)?,
        session: row::read_session(get(row, "session")?)?,
        conversation: conversation.map(read_id).transpose()?,
        user: get(row, "user_name")?,
        role: row::read_word("role", get(row, "role")?)?,
        mode: row::read_word("mode", get(row, "mode")?)?,
        model: get(row, "model")?,
        persona: persona
            .map(|name| row::read_text("persona", name))
            .transpose()?,
        allowed: row::read_allowed(get(row, "methods")?)?,
        parent: parent.as_deref().map(row::read_journal).transpose()?,
        depth: u8::try_from(get::<i64>(row, "depth")?)
            .map_err(|error| StoreError::damaged("depth", error))?,
        plan: row::read_json_or_null("plan", get(row, "plan")?)?,
    };
    Ok(Turn {
        start,
        started_at: row::read_time(get(row, "started_at")?)?,
        finish: read_finish(row)?,
    })
}

fn read_finish(row: &AnyRow) -> Result<Option<TurnFinish>, StoreError> {
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

fn read_round(row: &AnyRow) -> Result<Round, StoreError> {
    let request: Option<String> = get(row, "request")?;
    Ok(Round {
        number: row::read_small("round", get(row, "number")?)?,
        request: request
            .map(|json| row::read_json("request", &json))
            .transpose()?,
        asked_at: row::read_time(get(row, "asked_at")?)?,
        attempts: row::read_small("attempts", get(row, "attempts")?)?,
        answer: read_answer(row)?,
    })
}

fn read_answer(row: &AnyRow) -> Result<Option<Answer>, StoreError> {
    let answered_at: Option<i64> = get(row, "answered_at")?;
    let Some(answered_at) = answered_at else {
        return Ok(None);
    };
    let usage: Option<String> = get(row, "usage")?;
    let money: Option<i64> = get(row, "money")?;
    Ok(Some(Answer {
        reply: row::read_json_or_null("reply", get(row, "reply")?)?,
        usage: usage
            .map(|json| row::read_json("usage", &json))
            .transpose()?,
        money: money
            .map(|money| row::read_count("money", money))
            .transpose()?,
        at: row::read_time(answered_at)?,
    }))
}
