//! Calls that clients named: asking again under the same name finds the journal of the first call,
//! also after a restart.

use std::time::Duration;

use callgate_contract::JournalId;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
};

pub struct Requests<'a>(pub(crate) &'a Database);

impl Requests<'_> {
    /// The journal under which the call is or was made. A name stands for the last call made by
    /// it: another call under the same name, or the same one after `window`, gets a new journal.
    pub async fn claim(
        &self,
        asker: &str,
        name: &str,
        call: &[u8],
        window: Duration,
    ) -> Result<Claim, StoreError> {
        let id = row::hash(format!("{}:{asker}{name}", asker.len()).as_bytes());
        let call = row::hash(call);
        let since = row::now() - i64::try_from(window.as_millis()).unwrap_or(i64::MAX);
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        // What nobody will ask for again.
        sqlx::query("DELETE FROM request WHERE made_at < $1")
            .bind(since)
            .execute(writer.connection())
            .await?;
        let found = sqlx::query("SELECT journal FROM request WHERE id = $1 AND call = $2")
            .bind(id.clone())
            .bind(call.clone())
            .fetch_optional(writer.connection())
            .await?;
        let claim = match found {
            Some(row) => Claim {
                journal: row::read_journal(get(&row, "journal")?)?,
                repeated: true,
            },
            None => Claim {
                journal: JournalId::fresh(),
                repeated: false,
            },
        };
        if !claim.repeated {
            let insert = sqlx::query(
                "INSERT INTO request (id, call, journal, made_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (id) DO UPDATE SET
                     call = excluded.call, journal = excluded.journal, made_at = excluded.made_at",
            );
            insert
                .bind(id)
                .bind(call)
                .bind(claim.journal.0.to_string())
                .bind(row::now())
                .execute(writer.connection())
                .await?;
        }
        writer.commit().await?;
        Ok(claim)
    }
}

/// Where a named call is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub journal: JournalId,
    /// The call was made before, or is being made.
    pub repeated: bool,
}
