//! By which key something began: what a key began ends with it, also after a restart.

use callgate_contract::JournalId;

use super::Keys;
use crate::{StoreError, tx::parameters};

impl Keys<'_> {
    /// The id of the key that a message came by.
    pub async fn of_row(&self, row: i64) -> Result<Option<String>, StoreError> {
        let select = "SELECT sender_key FROM log WHERE id = ?1 AND sender_key IS NOT NULL";
        self.0
            .read(move |tx| tx.scalar(select, parameters![row]))
            .await
    }

    /// The id of the key by which the message came that a turn began with.
    pub async fn of_turn(&self, turn: JournalId) -> Result<Option<String>, StoreError> {
        let first = "SELECT sender_key FROM log WHERE sender_key IS NOT NULL
                     AND id = (SELECT MIN(id) FROM log WHERE turn = ?1)";
        self.0
            .read(move |tx| tx.scalar(first, parameters![turn]))
            .await
    }
}
