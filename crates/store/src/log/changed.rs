//! Messages that their senders take back or rewrite, by the platform's own id.

use callgate_contract::{Part, SessionKey};

use super::Log;
use crate::{StoreError, row, tx::parameters};

impl Log<'_> {
    /// The message is kept out of prompts and never answered. An answer that is under way goes on.
    pub async fn hide_message(
        &self,
        session: &SessionKey,
        message_id: &str,
    ) -> Result<(), StoreError> {
        let (session, message_id) = (session.to_string(), message_id.to_owned());
        self.0
            .write(move |tx| {
                tx.execute(
                    "UPDATE log SET dismissed = 1, offered = 0, hidden = 1
                     WHERE session = ?1 AND message_id = ?2",
                    parameters![session, message_id],
                )?;
                Ok(())
            })
            .await
    }

    /// The message says this instead. It is not answered again.
    pub async fn rewrite_message(
        &self,
        session: &SessionKey,
        message_id: &str,
        parts: &[Part],
    ) -> Result<(), StoreError> {
        let (session, message_id) = (session.to_string(), message_id.to_owned());
        let parts = row::json("parts", &parts)?;
        self.0
            .write(move |tx| {
                tx.execute(
                    "UPDATE log SET parts = ?3
                     WHERE session = ?1 AND message_id = ?2 AND role = 'user' AND hidden = 0",
                    parameters![session, message_id, parts],
                )?;
                Ok(())
            })
            .await
    }
}
