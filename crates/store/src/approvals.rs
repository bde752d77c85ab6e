//! Approvals: calls an operator must say yes to, and the answers. An answer is given once; what
//! follows from it is the gate's. What asked and then ended without an answer waits no more.

mod rules;

use callgate_contract::{JournalId, SessionKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sqlx::any::AnyRow;

pub use self::rules::{Rule, StandingRule};
use crate::{
    StoreError,
    connection::Connection,
    database::{Database, next_id},
    row::{self, get},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    Pending,
    Allowed,
    Denied,
    /// What asked has ended: it was stopped, or went on without an answer.
    Withdrawn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    Deny,
}

/// The call that needs an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub journal: JournalId,
    pub sequence: u64,
    pub session: SessionKey,
    pub user: String,
    /// `origin/name`.
    pub method: String,
    /// The arguments as the operator reads them.
    pub arguments: Json,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    /// Small, so that a person can type it.
    pub id: i64,
    pub ask: Ask,
    pub state: ApprovalState,
    pub asked_at: Timestamp,
    pub answered_at: Option<Timestamp>,
    /// Who answered, where that was said.
    pub answered_by: Option<String>,
}

pub struct Approvals<'a>(pub(crate) &'a Database);

impl Approvals<'_> {
    /// Asks, or finds what was asked for this call before: a run executed again meets its answer.
    pub async fn ask(&self, ask: &Ask) -> Result<Approval, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let id = next_id(writer.connection(), "approval").await?;
        let asked = sqlx::query(
            "INSERT INTO approval (id, journal, sequence, session, user_name, method, arguments,
                                   state, asked_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8)
             ON CONFLICT (journal, sequence) DO NOTHING",
        )
        .bind(id)
        .bind(ask.journal.0.to_string())
        .bind(row::count(ask.sequence))
        .bind(ask.session.to_string())
        .bind(ask.user.clone())
        .bind(ask.method.clone())
        .bind(ask.arguments.to_string())
        .bind(row::now())
        .execute(writer.connection())
        .await?;
        let row = sqlx::query("SELECT * FROM approval WHERE journal = $1 AND sequence = $2")
            .bind(ask.journal.0.to_string())
            .bind(row::count(ask.sequence))
            .fetch_one(writer.connection())
            .await?;
        match asked.rows_affected() {
            // Keeps the number for the next ask.
            0 => writer.rollback().await?,
            _ => writer.commit().await?,
        }
        read(&row)
    }

    /// With `always` the answer becomes the rule for this method in this session.
    pub async fn answer(
        &self,
        id: i64,
        decision: Decision,
        always: bool,
        by: Option<&str>,
    ) -> Result<Approval, StoreError> {
        let (state, rule) = match decision {
            Decision::Allow => (ApprovalState::Allowed, Rule::Always),
            Decision::Deny => (ApprovalState::Denied, Rule::Never),
        };
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let answered = sqlx::query(
            "UPDATE approval SET state = $2, answered_at = $3, answered_by = $4
             WHERE id = $1 AND state = 'pending'",
        )
        .bind(id)
        .bind(row::word(state)?)
        .bind(row::now())
        .bind(by.map(str::to_owned))
        .execute(writer.connection())
        .await?;
        let row = sqlx::query("SELECT * FROM approval WHERE id = $1")
            .bind(id)
            .fetch_optional(writer.connection())
            .await?;
        let approval = row.as_ref().map(read).transpose()?;
        let Some(approval) = approval else {
            writer.rollback().await?;
            return Err(StoreError::UnknownApproval(id));
        };
        if answered.rows_affected() == 0 {
            writer.rollback().await?;
            let state = approval.state.past();
            return Err(StoreError::AlreadyAnswered { id, state });
        }
        if always {
            rules::make(writer.connection(), &approval.ask, rule, by).await?;
        }
        writer.commit().await?;
        Ok(approval)
    }

    pub async fn get(&self, id: i64) -> Result<Approval, StoreError> {
        let row = sqlx::query("SELECT * FROM approval WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.0.readers)
            .await?;
        read(&row.ok_or(StoreError::UnknownApproval(id))?)
    }

    /// Oldest first; of every state where `state` is `None`.
    pub async fn list(&self, state: Option<ApprovalState>) -> Result<Vec<Approval>, StoreError> {
        let select = match state {
            Some(state) => sqlx::query("SELECT * FROM approval WHERE state = $1 ORDER BY id")
                .bind(row::word(state)?),
            None => sqlx::query("SELECT * FROM approval ORDER BY id"),
        };
        let rows = select.fetch_all(&self.0.readers).await?;
        rows.iter().map(read).collect()
    }

    /// What waits in one session, oldest first.
    pub async fn pending_in(&self, session: &SessionKey) -> Result<Vec<Approval>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM approval WHERE state = 'pending' AND session = $1 ORDER BY id",
        )
        .bind(session.to_string())
        .fetch_all(&self.0.readers)
        .await?;
        rows.iter().map(read).collect()
    }

    /// What the calls of one journal asked, by sequence.
    pub async fn of(&self, journal: JournalId) -> Result<Vec<Approval>, StoreError> {
        let rows = sqlx::query("SELECT * FROM approval WHERE journal = $1 ORDER BY sequence")
            .bind(journal.0.to_string())
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().map(read).collect()
    }
}

/// What the calls of a run asked that has ended.
pub(crate) async fn withdraw(
    connection: &mut Connection,
    run: JournalId,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE approval SET state = 'withdrawn' WHERE journal = $1 AND state = 'pending'")
        .bind(run.0.to_string())
        .execute(connection)
        .await?;
    Ok(())
}

/// The same of a turn, in its tool calls and its code.
pub(crate) async fn withdraw_all(
    connection: &mut Connection,
    turn: JournalId,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE approval SET state = 'withdrawn' WHERE state = 'pending'
         AND (journal = $1 OR journal IN (SELECT journal FROM run WHERE run.turn = $1))",
    )
    .bind(turn.0.to_string())
    .execute(connection)
    .await?;
    Ok(())
}

impl ApprovalState {
    fn past(self) -> &'static str {
        match self {
            ApprovalState::Pending => "pending",
            ApprovalState::Allowed => "allowed",
            ApprovalState::Denied => "denied",
            ApprovalState::Withdrawn => "withdrawn",
        }
    }
}

fn read(row: &AnyRow) -> Result<Approval, StoreError> {
    let answered_at: Option<i64> = get(row, "answered_at")?;
    Ok(Approval {
        id: get(row, "id")?,
        ask: Ask {
            journal: JournalId(row::read_uuid(get(row, "journal")?)?),
            sequence: row::read_count("sequence", get(row, "sequence")?)?,
            session: row::read_session(get(row, "session")?)?,
            user: get(row, "user_name")?,
            method: get(row, "method")?,
            arguments: row::read_json("arguments", get(row, "arguments")?)?,
        },
        state: row::read_word("approval", get(row, "state")?)?,
        asked_at: row::read_time(get(row, "asked_at")?)?,
        answered_at: answered_at.map(row::read_time).transpose()?,
        answered_by: get(row, "answered_by")?,
    })
}
