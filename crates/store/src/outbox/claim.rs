//! Whose a message is to hand over, of instances that share a database: of the one that put it on its way,
//! as long as that lives. A claim on a message is one on the session's earlier ones too.

use callgate_contract::SessionKey;

use super::{Pending, QueuedMessages, read};
use crate::{StoreError, tx::parameters};

/// Those that put messages of a session on their way and those that claim them, one after the other: an
/// older message that is being queued would not be seen. Only where instances share the database.
pub(super) const LOCK: &str = "SELECT CAST(pg_advisory_xact_lock(hashtext(?1)) AS TEXT)";
const LOCK_ALL: &str = "SELECT CAST(pg_advisory_xact_lock(hashtext(session)) AS TEXT)
     FROM (SELECT DISTINCT session FROM outbox WHERE state = 'queued' ORDER BY session) AS waiting";
/// What follows an older message in the hands of another instance, which lives, is not ours.
const LEAVE: &str = "UPDATE outbox SET claimed_by = NULL
     WHERE claimed_by = ?1 AND (CAST(?3 AS TEXT) IS NULL OR session = ?3) AND id <= ?4
       AND EXISTS (
           SELECT 1 FROM outbox AS older JOIN instance ON instance.life = older.claimed_by
           WHERE older.session = outbox.session
             AND older.id < outbox.id AND older.claimed_by <> ?1 AND instance.ends_at > ?2)";
/// All else is, unless another one that lives has claimed it.
const CLAIM: &str = "UPDATE outbox SET claimed_by = ?1
     WHERE (CAST(?3 AS TEXT) IS NULL OR session = ?3) AND id <= ?4 AND state = 'queued'
       AND (claimed_by IS NULL OR claimed_by <> ?1)
       AND NOT EXISTS (
           SELECT 1 FROM outbox AS older JOIN instance ON instance.life = older.claimed_by
           WHERE older.session = outbox.session
             AND older.id <= outbox.id AND older.claimed_by <> ?1 AND instance.ends_at > ?2)";

impl QueuedMessages<'_> {
    /// Those up to `last`, oldest first. A message whose session has an older one in other hands is left to
    /// those, also where we had put it on its way ourselves.
    pub(super) async fn claim(
        &self,
        session: Option<&SessionKey>,
        last: i64,
    ) -> Result<Vec<Pending>, StoreError> {
        let (session, now) = (session.map(SessionKey::to_string), self.0.shared_now());
        let life = self.0.instance.life;
        self.0
            .write(move |tx| {
                match &session {
                    Some(session) => tx.query(LOCK, parameters![session.as_str()])?,
                    None => tx.query(LOCK_ALL, &[])?,
                };
                for update in [LEAVE, CLAIM] {
                    tx.execute(update, parameters![life, now, session, last])?;
                }
                let claimed = tx.query(
                    "SELECT * FROM outbox
                     WHERE claimed_by = ?1 AND (CAST(?2 AS TEXT) IS NULL OR session = ?2)
                       AND id <= ?3 AND state = 'queued'
                     ORDER BY id",
                    parameters![life, session, last],
                )?;
                claimed.iter().map(read).collect()
            })
            .await
    }

    /// False if we were silent for so long that another instance has claimed it.
    pub(super) async fn is_ours(&self, id: i64) -> Result<bool, StoreError> {
        if !self.0.is_shared() {
            return Ok(true);
        }
        let life = self.0.instance.life;
        self.0
            .read(move |tx| {
                let select = "SELECT id FROM outbox WHERE id = ?1 AND claimed_by = ?2";
                Ok(tx.query_optional(select, parameters![id, life])?.is_some())
            })
            .await
    }

    /// What could not be delivered is anybody's again.
    pub(super) async fn unclaim(&self, session: Option<&SessionKey>) -> Result<(), StoreError> {
        let (life, session) = (self.0.instance.life, session.map(SessionKey::to_string));
        self.0
            .write(move |tx| {
                tx.execute(
                    "UPDATE outbox SET claimed_by = NULL
                     WHERE claimed_by = ?1 AND (CAST(?2 AS TEXT) IS NULL OR session = ?2)",
                    parameters![life, session],
                )?;
                Ok(())
            })
            .await
    }
}
