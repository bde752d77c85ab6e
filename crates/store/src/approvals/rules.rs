//! Rules: the standing answers that "always" left, one for a method in a session. Each says who made
//! it and when, and holds until it is revoked.

use callgate_contract::SessionKey;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Approvals, Ask};
use crate::{
    StoreError,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    Always,
    Never,
}

/// A rule with where it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StandingRule {
    /// Small, so that a person can type it; never given again.
    pub id: i64,
    pub session: SessionKey,
    /// `origin/name`.
    pub method: String,
    pub decision: Rule,
    pub made_at: Timestamp,
    /// Whose answer it was, where that was said.
    pub made_by: Option<String>,
}

impl Approvals<'_> {
    pub async fn rule(
        &self,
        session: &SessionKey,
        method: &str,
    ) -> Result<Option<Rule>, StoreError> {
        let (session, method) = (session.to_string(), method.to_owned());
        self.0
            .read(move |tx| {
                let select = "SELECT decision FROM rule WHERE session = ?1 AND method = ?2";
                let decision: Option<String> = tx.scalar(select, parameters![session, method])?;
                let read = |decision| row::read_word("rule", decision);
                decision.map(read).transpose()
            })
            .await
    }

    /// Oldest first.
    pub async fn rules(&self) -> Result<Vec<StandingRule>, StoreError> {
        self.0
            .read(|tx| {
                let rows = tx.query("SELECT * FROM rule ORDER BY id", &[])?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// The next call is asked about again.
    pub async fn revoke_rule(&self, id: i64) -> Result<StandingRule, StoreError> {
        self.0
            .write(move |tx| {
                let delete = "DELETE FROM rule WHERE id = ?1 RETURNING *";
                let revoked = tx.query_optional(delete, parameters![id])?;
                read(&revoked.ok_or(StoreError::UnknownRule(id))?)
            })
            .await
    }
}

/// Takes the place of the one that was, under a number of its own.
pub(super) fn make(
    tx: &mut dyn Tx,
    ask: &Ask,
    rule: Rule,
    by: Option<&str>,
) -> Result<(), StoreError> {
    let (session, decision) = (ask.session.to_string(), row::word(rule)?);
    tx.execute(
        "INSERT INTO rule (session, method, decision, made_at, made_by)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (session, method) DO UPDATE SET id = excluded.id,
             decision = excluded.decision, made_at = excluded.made_at,
             made_by = excluded.made_by",
        parameters![session, ask.method, decision, row::now(), by],
    )?;
    Ok(())
}

fn read(row: &Row) -> Result<StandingRule, StoreError> {
    Ok(StandingRule {
        id: get(row, "id")?,
        session: row::read_session(&get::<String>(row, "session")?)?,
        method: get(row, "method")?,
        decision: row::read_word("rule", get(row, "decision")?)?,
        made_at: row::read_time(get(row, "made_at")?)?,
        made_by: get(row, "made_by")?,
    })
}
