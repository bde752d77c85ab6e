//! How a method fares, from its newest recorded calls. Every question reads a bounded number of
//! rows, however long the journal is.

use callgate_contract::{JournalId, SessionKey, Stop};
use jiff::Timestamp;

use super::Journal;
use crate::{
    StoreError,
    row::{self, get},
    tx::{Row, parameters},
};

/// A call on record, without what went in and came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastCall {
    pub journal: JournalId,
    pub sequence: u64,
    /// `origin/name`.
    pub method: String,
    /// The turn it was part of.
    pub turn: Option<JournalId>,
    /// None where the journal's own row is gone.
    pub session: Option<SessionKey>,
    pub user: Option<String>,
    /// Who was answering in that turn.
    pub persona: Option<String>,
    /// `None`: nobody knows how it ended.
    pub ended: Option<Ended>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The text the caller was shown.
    pub error: Option<String>,
    pub micros: u64,
}

/// Runs of code that began in one stretch of time and ended in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunCounts {
    /// Which stretch since 1970.
    pub stretch: i64,
    pub stop: Stop,
    pub runs: u64,
}

/// A journal is a run's or a turn's.
const COLUMNS: &str = "call.journal AS journal, call.sequence AS sequence, call.method AS method,
    call.outcome AS outcome, call.error AS error, call.micros AS micros,
    COALESCE(run.turn, turn.id) AS turn,
    COALESCE(run.session, turn.session) AS session,
    COALESCE(run.user_name, turn.user_name) AS user_name, turn.persona AS persona";
const JOURNALS: &str = "LEFT JOIN run ON run.journal = call.journal
    LEFT JOIN turn ON turn.id = COALESCE(run.turn, call.journal)";

impl Journal {
    /// The newest `limit` recorded calls of `method` (`origin/name`), newest first.
    pub async fn calls_of(&self, method: &str, limit: u32) -> Result<Vec<PastCall>, StoreError> {
        self.flush().await?;
        let method = method.to_owned();
        self.database
            .read(move |tx| {
                // Chosen before anything is joined to them.
                let select = format!(
                    "SELECT {COLUMNS} FROM (SELECT * FROM call WHERE method = ?1
                     ORDER BY journal DESC, sequence DESC LIMIT ?2) AS call {JOURNALS}
                     ORDER BY call.journal DESC, call.sequence DESC"
                );
                let rows = tx.query(&select, parameters![method, limit])?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// How many calls of `method` are on record; counted no further than `most`.
    pub async fn count_of(&self, method: &str, most: u32) -> Result<u64, StoreError> {
        self.flush().await?;
        let method = method.to_owned();
        self.database
            .read(move |tx| {
                let count = tx.query_one(
                    "SELECT COUNT(*) FROM
                     (SELECT 1 AS one FROM call WHERE method = ?1 LIMIT ?2) AS found",
                    parameters![method, most],
                )?;
                row::read_count("count", count.at(0)?)
            })
            .await
    }

    /// The newest `limit` recorded calls of all methods, newest first.
    pub async fn latest_calls(&self, limit: u32) -> Result<Vec<PastCall>, StoreError> {
        self.flush().await?;
        self.database
            .read(move |tx| {
                let select = format!(
                    "SELECT {COLUMNS} FROM (SELECT * FROM call
                     ORDER BY journal DESC, sequence DESC LIMIT ?1) AS call {JOURNALS}
                     ORDER BY call.journal DESC, call.sequence DESC"
                );
                let rows = tx.query(&select, parameters![limit])?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Runs of code by stretches of `length` milliseconds and by how they ended, oldest first;
    /// those that have not ended are left out, as are calls that came alone.
    pub async fn stopped(
        &self,
        since: Timestamp,
        length: i64,
    ) -> Result<Vec<RunCounts>, StoreError> {
        let one = |found: &Row| {
            Ok(RunCounts {
                stretch: get(found, "stretch")?,
                stop: row::read_word("stop", get(found, "stop")?)?,
                runs: row::read_count("runs", get(found, "runs")?)?,
            })
        };
        self.database
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT started_at / ?2 AS stretch, stop, COUNT(*) AS runs FROM run
                     WHERE started_at >= ?1 AND stop IS NOT NULL AND code IS NOT NULL
                     GROUP BY started_at / ?2, stop ORDER BY 1, 2",
                    parameters![since.as_millisecond(), length.max(1)],
                )?;
                rows.iter().map(one).collect()
            })
            .await
    }
}

fn read(found: &Row) -> Result<PastCall, StoreError> {
    let outcome: Option<String> = get(found, "outcome")?;
    let error: Option<Vec<u8>> = get(found, "error")?;
    let error = error.map(|error| row::read_text("error", error));
    let micros: Option<i64> = get(found, "micros")?;
    let ended = match outcome {
        None => None,
        Some(_) => Some(Ended {
            error: error.transpose()?,
            micros: row::read_count("micros", micros.unwrap_or_default())?,
        }),
    };
    let persona: Option<Vec<u8>> = get(found, "persona")?;
    let persona = persona.map(|persona| row::read_text("persona", persona));
    let session: Option<String> = get(found, "session")?;
    Ok(PastCall {
        journal: get(found, "journal")?,
        sequence: row::read_count("sequence", get(found, "sequence")?)?,
        method: get(found, "method")?,
        turn: get(found, "turn")?,
        session: session.as_deref().map(row::read_session).transpose()?,
        user: get(found, "user_name")?,
        persona: persona.transpose()?,
        ended,
    })
}
