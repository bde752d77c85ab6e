//! The journal's statements about calls, each inside its caller's transaction.

use std::sync::LazyLock;

use callgate_contract::JournalId;

use super::{CallIntent, CallOutcome, DecidedBy, rows::clock_bytes};
use crate::{
    StoreError, row,
    tx::{AsParameter, Parameter, Tx, parameters},
};

/// Calls written by one statement.
const BATCH: usize = 16;
/// Of a call's row.
const COLUMNS: usize = 16;

/// False if the call is on record.
pub(super) fn insert_intent(tx: &mut dyn Tx, call: &CallIntent) -> Result<bool, StoreError> {
    let intent = IntentColumns::of(call)?;
    Ok(tx.writes_one(
        "INSERT INTO call (journal, sequence, method, kind, effect, arguments, clocks, threaded,
                           decided_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (journal, sequence) DO NOTHING",
        &intent.parameters(),
    )?)
}

/// False if the call has an outcome, or is unknown.
pub(super) fn update_outcome(
    tx: &mut dyn Tx,
    journal: JournalId,
    sequence: u64,
    outcome: &CallOutcome,
) -> Result<bool, StoreError> {
    let (sequence, outcome) = (row::count(sequence), OutcomeColumns::of(outcome)?);
    let mut parameters = parameters![journal, sequence].to_vec();
    parameters.extend(outcome.parameters());
    Ok(tx.writes_one(
        "UPDATE call SET outcome = ?3, value = ?4, text = ?5, parts = ?6, error = ?7, detail = ?8,
             micros = ?9
         WHERE journal = ?1 AND sequence = ?2 AND outcome IS NULL",
        &parameters,
    )?)
}

/// Writes the call whole, or completes its intent. False if it has an outcome.
pub(super) fn insert_recorded(
    tx: &mut dyn Tx,
    call: &CallIntent,
    outcome: &CallOutcome,
) -> Result<bool, StoreError> {
    static INSERT: LazyLock<String> = LazyLock::new(|| insert_recorded_text(1));
    let (intent, outcome) = (IntentColumns::of(call)?, OutcomeColumns::of(outcome)?);
    let parameters: Vec<Parameter> = intent
        .parameters()
        .into_iter()
        .chain(outcome.parameters())
        .collect();
    Ok(tx.writes_one(&INSERT, &parameters)?)
}

/// The same for many, since on another machine each statement is a round trip.
/// Calls that have an outcome keep it. No call may occur twice.
pub(super) fn insert_all_recorded(
    tx: &mut dyn Tx,
    calls: &[(CallIntent, CallOutcome)],
) -> Result<(), StoreError> {
    static INSERT: LazyLock<String> = LazyLock::new(|| insert_recorded_text(BATCH));
    let (batches, rest) = calls.as_chunks::<BATCH>();
    for batch in batches {
        let rows = batch.iter();
        let rows = rows
            .map(|(call, outcome)| Ok((IntentColumns::of(call)?, OutcomeColumns::of(outcome)?)));
        let rows: Vec<(IntentColumns, OutcomeColumns)> = rows.collect::<Result<_, StoreError>>()?;
        let values = rows.iter();
        let values =
            values.flat_map(|(call, end)| call.parameters().into_iter().chain(end.parameters()));
        let values: Vec<Parameter> = values.collect();
        tx.execute(&INSERT, &values)?;
    }
    for (call, outcome) in rest {
        insert_recorded(tx, call, outcome)?;
    }
    Ok(())
}

fn insert_recorded_text(rows: usize) -> String {
    let row = |row: usize| {
        let columns = (1..=COLUMNS).map(|column| format!("?{}", row * COLUMNS + column));
        format!("({})", columns.collect::<Vec<_>>().join(", "))
    };
    format!(
        "INSERT INTO call (journal, sequence, method, kind, effect, arguments, clocks, threaded,
                           decided_by, outcome, value, text, parts, error, detail, micros)
         VALUES {}
         ON CONFLICT (journal, sequence) DO UPDATE SET
             outcome = excluded.outcome, value = excluded.value, text = excluded.text,
             parts = excluded.parts, error = excluded.error, detail = excluded.detail,
             micros = excluded.micros
         WHERE call.outcome IS NULL",
        (0..rows).map(row).collect::<Vec<_>>().join(", ")
    )
}

/// Bytes of arguments that are kept of a call that came to nothing.
const KEPT: i64 = 4 << 10;

/// Of a single call that failed, large arguments are told by their hash alone: nothing is ever executed
/// from them again, and whoever sends what cannot be done should not fill the disk with it.
pub(super) fn keep_digest(tx: &mut dyn Tx, journal: JournalId) -> Result<(), StoreError> {
    let large = "SELECT sequence, arguments FROM call
        WHERE journal = ?1 AND outcome = 'error' AND hash IS NULL AND length(arguments) > ?2
        AND EXISTS (SELECT 1 FROM run WHERE run.journal = ?1 AND run.code IS NULL)";
    for call in tx.query(large, parameters![journal, KEPT])? {
        let (sequence, arguments): (i64, Vec<u8>) = (call.at(0)?, call.at(1)?);
        tx.execute(
            "UPDATE call SET hash = ?3, arguments = ?4 WHERE journal = ?1 AND sequence = ?2",
            parameters![journal, sequence, row::hash(&arguments), Vec::<u8>::new()],
        )?;
    }
    Ok(())
}

pub(super) fn is_known(
    tx: &mut dyn Tx,
    journal: JournalId,
    sequence: u64,
) -> Result<bool, StoreError> {
    let select = "SELECT method FROM call WHERE journal = ?1 AND sequence = ?2";
    let found = tx.query_optional(select, parameters![journal, row::count(sequence)])?;
    Ok(found.is_some())
}

/// The first columns of a call's row.
struct IntentColumns<'a> {
    call: &'a CallIntent,
    sequence: i64,
    kind: String,
    effect: String,
    clocks: Vec<u8>,
    decided_by: Option<String>,
}

impl<'a> IntentColumns<'a> {
    fn of(call: &'a CallIntent) -> Result<Self, StoreError> {
        Ok(IntentColumns {
            sequence: row::count(call.sequence),
            kind: row::word(call.kind)?,
            effect: row::word(call.effect)?,
            clocks: clock_bytes(&call.clocks),
            decided_by: call.decided_by.as_ref().map(DecidedBy::to_string),
            call,
        })
    }

    fn parameters(&self) -> [Parameter<'_>; 9] {
        [
            self.call.journal.parameter(),
            self.sequence.parameter(),
            self.call.method.parameter(),
            self.kind.parameter(),
            self.effect.parameter(),
            self.call.arguments.parameter(),
            self.clocks.parameter(),
            self.call.threaded.parameter(),
            self.decided_by.parameter(),
        ]
    }
}

/// Its last columns.
struct OutcomeColumns<'a> {
    word: &'static str,
    value: Option<&'a [u8]>,
    text: Option<&'a [u8]>,
    parts: Option<String>,
    error: Option<&'a [u8]>,
    detail: Option<&'a [u8]>,
    micros: i64,
}

impl<'a> OutcomeColumns<'a> {
    fn of(outcome: &'a CallOutcome) -> Result<Self, StoreError> {
        let success = outcome.result.as_ref().ok();
        let parts = success.map(|success| &success.parts);
        let parts = parts.filter(|parts| !parts.is_empty());
        Ok(OutcomeColumns {
            word: if success.is_some() { "value" } else { "error" },
            value: success.map(|success| success.value.as_slice()),
            text: success.and_then(|success| success.text.as_ref().map(String::as_bytes)),
            parts: parts.map(|parts| row::json("parts", parts)).transpose()?,
            error: outcome.result.as_ref().err().map(String::as_bytes),
            detail: outcome.detail.as_ref().map(String::as_bytes),
            micros: row::count(outcome.micros),
        })
    }

    fn parameters(&self) -> [Parameter<'_>; 7] {
        [
            self.word.parameter(),
            self.value.parameter(),
            self.text.parameter(),
            self.parts.parameter(),
            self.error.parameter(),
            self.detail.parameter(),
            self.micros.parameter(),
        ]
    }
}
