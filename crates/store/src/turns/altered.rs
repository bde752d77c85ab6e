//! What listeners made of something on its way in a turn. Kept only where they changed it, so that a
//! turn goes on, and is repeated, without asking them again.

use std::collections::BTreeMap;

use callgate_contract::JournalId;
use serde_json::Value as Json;

use super::Turns;
use crate::{
    StoreError,
    row::{self, get},
};

impl Turns<'_> {
    /// Durable when it returns.
    pub async fn alter(
        &self,
        turn: JournalId,
        place: &str,
        value: &Json,
    ) -> Result<(), StoreError> {
        let mut write = self.0.write_to(turn, false).await?;
        sqlx::query(
            "INSERT INTO altered (turn, place, value) VALUES ($1, $2, $3)
             ON CONFLICT (turn, place) DO UPDATE SET value = excluded.value",
        )
        .bind(turn.0.to_string())
        .bind(place.to_owned())
        .bind(value.to_string())
        .execute(write.connection())
        .await?;
        write.commit().await
    }

    /// By place.
    pub async fn altered(&self, turn: JournalId) -> Result<BTreeMap<String, Json>, StoreError> {
        let rows = sqlx::query("SELECT place, value FROM altered WHERE turn = $1")
            .bind(turn.0.to_string())
            .fetch_all(&self.0.database.readers)
            .await?;
        let read = |row| {
            let value = row::read_json("alteration", get(row, "value")?)?;
            Ok((get(row, "place")?, value))
        };
        rows.iter().map(read).collect()
    }
}
