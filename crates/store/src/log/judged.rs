//! What decides whether a message is answered and is not in its row: whether it replies to one of ours, and what
//! the judge said of it.

use callgate_contract::SessionKey;

use super::Log;
use crate::{StoreError, row, tx::parameters};

impl Log<'_> {
    /// Is the message of this platform's id one of ours?
    pub async fn is_ours(&self, session: &SessionKey, message: &str) -> Result<bool, StoreError> {
        let (session, message) = (session.to_string(), message.to_owned());
        self.0
            .read(move |tx| {
                let found: Option<i64> = tx.scalar(
                    "SELECT id FROM log
                     WHERE session = ?1 AND message_id = ?2 AND role = 'assistant'",
                    parameters![session, message],
                )?;
                Ok(found.is_some())
            })
            .await
    }

    /// What the judge has said of the row; `None` where it was not asked.
    pub async fn judged(&self, id: i64) -> Result<Option<bool>, StoreError> {
        self.0
            .read(move |tx| {
                let select = "SELECT judged FROM log WHERE id = ?1";
                let said: Option<Option<i64>> = tx.scalar(select, parameters![id])?;
                Ok(said.flatten().map(row::read_flag))
            })
            .await
    }

    pub async fn judge(&self, id: i64, said: bool) -> Result<(), StoreError> {
        self.0
            .write(move |tx| {
                let update = "UPDATE log SET judged = ?2 WHERE id = ?1";
                tx.execute(update, parameters![id, said])?;
                Ok(())
            })
            .await
    }
}
