//! Turns counted by the time they began in, for charts.

use jiff::Timestamp;

use super::Turns;
use crate::{
    StoreError,
    row::{self, get},
    tx::{Row, parameters},
};

/// Turns that began in one stretch of time; those of agents are turns of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnCounts {
    /// Which stretch since 1970.
    pub stretch: i64,
    pub turns: u64,
    /// That ended as an error.
    pub errors: u64,
    /// Of methods.
    pub calls: u64,
}

impl Turns<'_> {
    /// By stretches of `length` milliseconds, oldest first; those without turns are left out.
    pub async fn counted(
        &self,
        since: Timestamp,
        length: i64,
    ) -> Result<Vec<TurnCounts>, StoreError> {
        let database = &self.0.database;
        database
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT started_at / ?2 AS stretch, COUNT(*) AS turns,
                         CAST(SUM(CASE WHEN stop = 'error' THEN 1 ELSE 0 END) AS BIGINT) AS errors,
                         CAST(SUM(calls) AS BIGINT) AS calls
                     FROM turn WHERE started_at >= ?1 GROUP BY started_at / ?2 ORDER BY 1",
                    parameters![since.as_millisecond(), length.max(1)],
                )?;
                rows.iter().map(read).collect()
            })
            .await
    }
}

fn read(found: &Row) -> Result<TurnCounts, StoreError> {
    let count = |column: &'static str| row::read_count(column, get(found, column)?);
    Ok(TurnCounts {
        stretch: get(found, "stretch")?,
        turns: count("turns")?,
        errors: count("errors")?,
        calls: count("calls")?,
    })
}
