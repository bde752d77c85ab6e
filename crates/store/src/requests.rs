//! Calls that clients want made once: asking again under the same name finds the journal of the first
//! call, also after a restart.

use std::time::Duration;

use callgate_contract::JournalId;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
};

pub struct Requests<'a>(pub(crate) &'a Database);

impl Requests<'_> {
    /// The journal under which the call is or was made. For `window` a name stands for the call that
    /// was first made under it, and for no other.
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
        let found = sqlx::query("SELECT call, journal FROM request WHERE id = $1")
            .bind(id.clone())
            .fetch_optional(writer.connection())
            .await?;
        let claim = match found {
            Some(row) if get::<String>(&row, "call")? != call => Claim::OtherCall,
            Some(row) => Claim::Repeated(row::read_journal(get(&row, "journal")?)?),
            None => {
                let journal = JournalId::fresh();
                let insert =
                    "INSERT INTO request (id, call, journal, made_at) VALUES ($1, $2, $3, $4)";
                sqlx::query(insert)
                    .bind(id)
                    .bind(call)
                    .bind(journal.0.to_string())
                    .bind(row::now())
                    .execute(writer.connection())
                    .await?;
                Claim::First(journal)
            }
        };
        writer.commit().await?;
        Ok(claim)
    }
}

/// Where a named call is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nobody asked under this name before.
    First(JournalId),
    /// The call was made before, or is being made.
    Repeated(JournalId),
    /// The name stands for a call of other words.
    OtherCall,
}
