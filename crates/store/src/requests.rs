//! Calls that clients want made once: asking again under the same name finds the journal of the first
//! call, also after a restart.

use std::time::Duration;

use callgate_contract::JournalId;

use crate::{
    StoreError, crash_point,
    database::Database,
    row::{self, get},
    tx::parameters,
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
        let claim = self
            .0
            .write(move |tx| {
                // What nobody will ask for again.
                tx.execute("DELETE FROM request WHERE made_at < ?1", parameters![since])?;
                let first = tx.writes_one(
                    "INSERT INTO request (id, call, journal, made_at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (id) DO NOTHING",
                    parameters![id, call, JournalId::fresh(), row::now()],
                )?;
                let found = "SELECT call, journal FROM request WHERE id = ?1";
                let found = tx.query_one(found, parameters![id])?;
                let journal = get(&found, "journal")?;
                Ok(if first {
                    Claim::First(journal)
                } else if get::<String>(&found, "call")? == call {
                    Claim::Repeated(journal)
                } else {
                    Claim::OtherCall
                })
            })
            .await?;
        crash_point("request.after_claim");
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
