//! Giving space back to the disk. Rows that go leave free pages; a file in which many are free is cut, some
//! pages at a time, so that others write in between.

use std::sync::Arc;

use rusqlite::Connection;

use super::Sqlite;
use crate::DatabaseError;

/// Fewer free pages are left for the next rows.
const WORTHWHILE: i64 = 256;
/// As is less than one page in so many.
const PART: i64 = 4;
/// Pages moved at a time.
const STEP: i64 = 1_024;

impl Sqlite {
    pub(crate) fn shrink(self: &Arc<Self>) -> Result<(), DatabaseError> {
        let mut free = self.alone(|connection| {
            let free = number(connection, "PRAGMA freelist_count")?;
            let all = number(connection, "PRAGMA page_count")?;
            Ok(if free >= WORTHWHILE && free * PART >= all {
                free
            } else {
                0
            })
        })?;
        if free == 0 {
            return Ok(());
        }
        while free > 0 {
            let left = self.alone(|connection| {
                let mut statement =
                    connection.prepare(&format!("PRAGMA incremental_vacuum({STEP})"))?;
                let mut steps = statement.query([])?;
                // A row for each page.
                while steps.next()?.is_some() {}
                number(connection, "PRAGMA freelist_count")
            })?;
            if left >= free {
                // A database that was made without this.
                break;
            }
            free = left;
        }
        // The file is cut when the log is moved into it.
        self.scrub()
    }
}

fn number(connection: &Connection, sql: &str) -> Result<i64, DatabaseError> {
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}
