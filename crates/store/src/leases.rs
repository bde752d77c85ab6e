//! Leases: which process may run turns in a conversation, and until when. Instances that share a
//! database compare their own clocks, so a term must be long against how far those differ.

use std::time::Duration;

use callgate_contract::ConversationId;

use crate::{StoreError, database::Database, row};

pub struct Leases<'a>(pub(crate) &'a Database);

impl Leases<'_> {
    /// True if the conversation is now the holder's for `term`: it was free, its lease had ended,
    /// or the holder had it already.
    pub async fn take(
        &self,
        conversation: ConversationId,
        holder: &str,
        term: Duration,
    ) -> Result<bool, StoreError> {
        let now = row::now();
        let mut writer = self.0.writer().await?;
        let taken = sqlx::query(
            "INSERT INTO lease (conversation, holder, ends_at) VALUES ($1, $2, $3)
             ON CONFLICT (conversation) DO UPDATE
             SET holder = excluded.holder, ends_at = excluded.ends_at
             WHERE lease.holder = excluded.holder OR lease.ends_at <= $4",
        )
        .bind(conversation.to_string())
        .bind(holder.to_owned())
        .bind(end(now, term))
        .bind(now)
        .execute(writer.connection())
        .await?;
        writer.release();
        Ok(taken.rows_affected() == 1)
    }

    /// False if the lease is no longer the holder's: another has taken the conversation, and what
    /// the holder was doing there must stop.
    pub async fn renew(
        &self,
        conversation: ConversationId,
        holder: &str,
        term: Duration,
    ) -> Result<bool, StoreError> {
        let mut writer = self.0.writer().await?;
        let renewed =
            sqlx::query("UPDATE lease SET ends_at = $3 WHERE conversation = $1 AND holder = $2")
                .bind(conversation.to_string())
                .bind(holder.to_owned())
                .bind(end(row::now(), term))
                .execute(writer.connection())
                .await?;
        writer.release();
        Ok(renewed.rows_affected() == 1)
    }

    /// Releasing what is another's changes nothing.
    pub async fn release(
        &self,
        conversation: ConversationId,
        holder: &str,
    ) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        sqlx::query("DELETE FROM lease WHERE conversation = $1 AND holder = $2")
            .bind(conversation.to_string())
            .bind(holder.to_owned())
            .execute(writer.connection())
            .await?;
        writer.release();
        Ok(())
    }
}

fn end(now: i64, term: Duration) -> i64 {
    let term = i64::try_from(term.as_millis()).unwrap_or(i64::MAX);
    now.saturating_add(term)
}
