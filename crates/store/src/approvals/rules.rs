//! Rules: the standing answers that "always" left, one for a method in a session. Each says who made
//! it and when, and holds until it is revoked.

use callgate_contract::SessionKey;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;

use super::{Approvals, Ask};
use crate::{
    StoreError,
    connection::Connection,
    database::next_id,
    row::{self, get},
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
        let decision: Option<String> =
            sqlx::query_scalar("SELECT decision FROM rule WHERE session = $1 AND method = $2")
                .bind(session.to_string())
                .bind(method.to_owned())
                .fetch_optional(&self.0.readers)
                .await?;
        let read = |decision| row::read_word("rule", decision);
        decision.map(read).transpose()
    }

    /// Oldest first.
    pub async fn rules(&self) -> Result<Vec<StandingRule>, StoreError> {
        let select = sqlx::query("SELECT * FROM rule ORDER BY id");
        let rows = select.fetch_all(&self.0.readers).await?;
        rows.iter().map(read).collect()
    }

    /// The next call is asked about again.
    pub async fn revoke_rule(&self, id: i64) -> Result<StandingRule, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let revoked = sqlx::query("DELETE FROM rule WHERE id = $1 RETURNING *")
            .bind(id)
            .fetch_optional(writer.connection())
            .await?;
        writer.commit().await?;
        read(&revoked.ok_or(StoreError::UnknownRule(id))?)
    }
}

/// Takes the place of the one that was.
pub(super) async fn make(
    connection: &mut Connection,
    ask: &Ask,
    rule: Rule,
    by: Option<&str>,
) -> Result<(), StoreError> {
    let id = next_id(connection, "rule").await?;
    sqlx::query(
        "INSERT INTO rule (id, session, method, decision, made_at, made_by)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (session, method) DO UPDATE SET id = excluded.id,
             decision = excluded.decision, made_at = excluded.made_at,
             made_by = excluded.made_by",
    )
    .bind(id)
    .bind(ask.session.to_string())
    .bind(ask.method.clone())
    .bind(row::word(rule)?)
    .bind(row::now())
    .bind(by.map(str::to_owned))
    .execute(connection)
    .await?;
    Ok(())
}

fn read(row: &AnyRow) -> Result<StandingRule, StoreError> {
    Ok(StandingRule {
        id: get(row, "id")?,
        session: row::read_session(get(row, "session")?)?,
        method: get(row, "method")?,
        decision: row::read_word("rule", get(row, "decision")?)?,
        made_at: row::read_time(get(row, "made_at")?)?,
        made_by: get(row, "made_by")?,
    })
}
