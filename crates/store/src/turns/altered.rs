//! What listeners made of something on its way in a turn. Kept only where they changed it, so that a
//! turn goes on, and is repeated, without asking them again.

use std::collections::BTreeMap;

use callgate_contract::JournalId;
use serde_json::Value as Json;

use super::Turns;
use crate::{
    StoreError,
    row::{self, get},
    tx::{Row, parameters},
};

impl Turns<'_> {
    /// Durable when it returns.
    pub async fn alter(
        &self,
        turn: JournalId,
        place: &str,
        value: &Json,
    ) -> Result<(), StoreError> {
        let (place, value) = (place.to_owned(), value.to_string());
        self.0
            .write_to(turn, move |tx| {
                tx.execute(
                    "INSERT INTO altered (turn, place, value) VALUES (?1, ?2, ?3)
                     ON CONFLICT (turn, place) DO UPDATE SET value = excluded.value",
                    parameters![turn, place, value],
                )?;
                Ok(())
            })
            .await
    }

    /// By place.
    pub async fn altered(&self, turn: JournalId) -> Result<BTreeMap<String, Json>, StoreError> {
        let read = |row: &Row| {
            let value: String = get(row, "value")?;
            Ok((get(row, "place")?, row::read_json("alteration", &value)?))
        };
        self.0
            .database
            .read(move |tx| {
                let select = "SELECT place, value FROM altered WHERE turn = ?1";
                let rows = tx.query(select, parameters![turn])?;
                rows.iter().map(read).collect()
            })
            .await
    }
}
