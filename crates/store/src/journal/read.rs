//! Reading the journal back. Every read writes the buffered calls first, so it misses nothing.

use callgate_contract::{JournalId, SessionKey};

use super::{
    CallIntent, CallOutcome, DecidedBy, Finish, Journal, RecordedCall, Run, RunStart, Success, Tail,
};
use crate::{
    LeftBy, StoreError,
    leftovers::{FoundOpen, left_behind},
    row::{self, get},
    tx::{Row, parameters},
};

impl Journal {
    pub async fn run(&self, journal: JournalId) -> Result<Run, StoreError> {
        self.database
            .read(move |tx| {
                let select = "SELECT * FROM run WHERE journal = ?1";
                let row = tx.query_optional(select, parameters![journal])?;
                read_run(&row.ok_or(StoreError::UnknownRun(journal))?)
            })
            .await
    }

    /// The run's calls, in order.
    pub async fn recorded(&self, journal: JournalId) -> Result<Vec<RecordedCall>, StoreError> {
        self.flush().await?;
        self.database
            .read(move |tx| {
                let select = "SELECT * FROM call WHERE journal = ?1 ORDER BY sequence";
                let rows = tx.query(select, parameters![journal])?;
                rows.iter().map(read_call).collect()
            })
            .await
    }

    /// Runs that were begun and have not ended, oldest first.
    pub async fn unfinished(&self) -> Result<Vec<Run>, StoreError> {
        self.runs("SELECT * FROM run WHERE stop IS NULL ORDER BY journal")
            .await
    }

    /// Of those, the ones a crash cut off.
    pub async fn cut_off(&self, by: LeftBy) -> Result<Vec<Run>, StoreError> {
        let select = concat!(
            "SELECT * FROM run WHERE stop IS NULL AND ",
            left_behind!("run"),
            " ORDER BY journal"
        );
        self.database
            .left_behind(select, by, FoundOpen::has_run, read_run)
            .await
    }

    /// Runs that stopped to wait for an answer, oldest first.
    pub async fn waiting_for_approval(&self) -> Result<Vec<Run>, StoreError> {
        self.runs("SELECT * FROM run WHERE stop = 'approval' ORDER BY journal")
            .await
    }

    /// Runs that belong to a turn, in order.
    pub(crate) async fn runs_of(&self, turn: JournalId) -> Result<Vec<Run>, StoreError> {
        self.database
            .read(move |tx| {
                let select = "SELECT * FROM run WHERE turn = ?1 ORDER BY round, journal";
                let rows = tx.query(select, parameters![turn])?;
                rows.iter().map(read_run).collect()
            })
            .await
    }

    /// Runs of a session that belong to no turn, in order.
    pub async fn alone(&self, session: &SessionKey) -> Result<Vec<Run>, StoreError> {
        let session = session.to_string();
        self.database
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT * FROM run WHERE session = ?1 AND turn IS NULL AND code IS NOT NULL
                     ORDER BY journal",
                    parameters![session],
                )?;
                rows.iter().map(read_run).collect()
            })
            .await
    }

    /// The latest runs of code, of one session or of all, the newest first.
    pub async fn latest_runs(
        &self,
        session: Option<&SessionKey>,
        limit: u32,
    ) -> Result<Vec<Run>, StoreError> {
        self.flush().await?;
        let session = session.map(SessionKey::to_string);
        self.database
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT * FROM run
                     WHERE code IS NOT NULL AND (CAST(?1 AS TEXT) IS NULL OR session = ?1)
                     ORDER BY journal DESC LIMIT ?2",
                    parameters![session, limit],
                )?;
                rows.iter().map(read_run).collect()
            })
            .await
    }

    async fn runs(&self, select: &'static str) -> Result<Vec<Run>, StoreError> {
        self.database
            .read(move |tx| tx.query(select, &[])?.iter().map(read_run).collect())
            .await
    }
}

fn read_run(row: &Row) -> Result<Run, StoreError> {
    let code: Option<Vec<u8>> = get(row, "code")?;
    let seed: Vec<u8> = get(row, "seed")?;
    let start = RunStart {
        id: get(row, "journal")?,
        session: row::read_session(&get::<String>(row, "session")?)?,
        principal: row::read_word("principal", get(row, "principal")?)?,
        role: row::read_word("role", get(row, "role")?)?,
        surface: row::read_word("surface", get(row, "surface")?)?,
        code: code.map(|code| row::read_text("code", code)).transpose()?,
        allowed: row::read_allowed(get(row, "methods")?)?,
        seed: seed
            .try_into()
            .map_err(|_| StoreError::damaged("seed", "wrong length"))?,
        turn: read_turn(row)?,
    };
    Ok(Run {
        start,
        started_at: row::read_time(get(row, "started_at")?)?,
        finish: read_finish(row)?,
        tail: read_tail(row)?,
    })
}

fn read_tail(row: &Row) -> Result<Tail, StoreError> {
    let clocks: Option<Vec<u8>> = get(row, "clocks")?;
    let threaded: Option<i64> = get(row, "threaded")?;
    Ok(Tail {
        clocks: read_clocks(&clocks.unwrap_or_default())?,
        threaded: threaded.is_some_and(row::read_flag),
    })
}

fn read_clocks(bytes: &[u8]) -> Result<Vec<i64>, StoreError> {
    let (clocks, rest) = bytes.as_chunks::<8>();
    if rest.is_empty() {
        Ok(clocks.iter().map(|c| i64::from_le_bytes(*c)).collect())
    } else {
        Err(StoreError::damaged("clocks", "wrong length"))
    }
}

fn read_turn(row: &Row) -> Result<Option<(JournalId, u32)>, StoreError> {
    let turn: Option<JournalId> = get(row, "turn")?;
    let Some(turn) = turn else {
        return Ok(None);
    };
    let round = row::read_small("round", get(row, "round")?)?;
    Ok(Some((turn, round)))
}

fn read_finish(row: &Row) -> Result<Option<Finish>, StoreError> {
    let stop: Option<String> = get(row, "stop")?;
    let Some(stop) = stop else {
        return Ok(None);
    };
    Ok(Some(Finish {
        stop: row::read_word("stop", stop)?,
        report: row::read_json_or_null("report", get(row, "report")?)?,
        at: row::read_time(get(row, "finished_at")?)?,
    }))
}

fn read_call(row: &Row) -> Result<RecordedCall, StoreError> {
    let clocks: Vec<u8> = get(row, "clocks")?;
    let decided_by: Option<String> = get(row, "decided_by")?;
    let intent = CallIntent {
        journal: get(row, "journal")?,
        sequence: row::read_count("sequence", get(row, "sequence")?)?,
        method: get(row, "method")?,
        kind: row::read_word("kind", get(row, "kind")?)?,
        effect: row::read_word("effect", get(row, "effect")?)?,
        arguments: get(row, "arguments")?,
        clocks: read_clocks(&clocks)?,
        threaded: row::read_flag(get(row, "threaded")?),
        decided_by: decided_by.map(|by| DecidedBy::read(&by)).transpose()?,
    };
    Ok(RecordedCall {
        intent,
        outcome: read_outcome(row)?,
    })
}

fn read_outcome(row: &Row) -> Result<Option<CallOutcome>, StoreError> {
    let outcome: Option<String> = get(row, "outcome")?;
    let result = match outcome.as_deref() {
        None => return Ok(None),
        Some("value") => Ok(read_success(row)?),
        Some("error") => Err(row::read_text("error", get(row, "error")?)?),
        Some(other) => return Err(StoreError::damaged("outcome", other)),
    };
    let detail: Option<Vec<u8>> = get(row, "detail")?;
    let detail = detail.map(|detail| row::read_text("detail", detail));
    Ok(Some(CallOutcome {
        result,
        detail: detail.transpose()?,
        micros: row::read_count("micros", get(row, "micros")?)?,
    }))
}

fn read_success(row: &Row) -> Result<Success, StoreError> {
    let text: Option<Vec<u8>> = get(row, "text")?;
    let parts: Option<String> = get(row, "parts")?;
    Ok(Success {
        value: get(row, "value")?,
        text: text.map(|text| row::read_text("text", text)).transpose()?,
        parts: match parts {
            None => Vec::new(),
            Some(parts) => row::read_json("parts", &parts)?,
        },
    })
}
