//! The journal's statements about runs, each inside its caller's transaction.

use callgate_contract::{JournalId, Stop};
use uuid::Uuid;

use super::{RunStart, Tail, calls};
use crate::{
    StoreError, approvals, row,
    tx::{Tx, parameters},
};

/// False if the run exists.
pub(super) fn insert_run(
    tx: &mut dyn Tx,
    run: &RunStart,
    holder: Option<Uuid>,
) -> Result<bool, StoreError> {
    let (turn, round) = run.turn.unzip();
    Ok(tx.writes_one(
        "INSERT INTO run (journal, session, user_name, role, surface, code, methods, seed,
                          started_at, turn, round, holder, principal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (journal) DO NOTHING",
        parameters![
            run.id,
            run.session.to_string(),
            run.principal.user().as_ref(),
            row::word(run.role)?,
            row::word(run.surface)?,
            run.code.as_ref().map(String::as_bytes),
            row::allowed(&run.allowed)?,
            run.seed.as_slice(),
            row::now(),
            turn,
            round,
            holder,
            run.principal.to_string(),
        ],
    )?)
}

/// False if the run has ended, or is unknown.
pub(super) fn finish_run(
    tx: &mut dyn Tx,
    journal: JournalId,
    stop: Stop,
    report: &str,
    tail: &Tail,
) -> Result<bool, StoreError> {
    let first = tx.writes_one(
        "UPDATE run SET stop = ?2, report = ?3, finished_at = ?4, clocks = ?5, threaded = ?6
         WHERE journal = ?1 AND stop IS NULL",
        parameters![
            journal,
            row::word(stop)?,
            report,
            row::now(),
            clock_bytes(&tail.clocks),
            tail.threaded,
        ],
    )?;
    // Code that came to its end has been answered; a run that waits is not over.
    if first && !matches!(stop, Stop::Finished | Stop::Approval) {
        approvals::withdraw(tx, journal)?;
        calls::keep_digest(tx, journal)?;
    }
    Ok(first)
}

/// False if another instance, which lives, has the run, or it is unknown.
pub(super) fn reopen_run(
    tx: &mut dyn Tx,
    journal: JournalId,
    holder: Option<Uuid>,
    now: i64,
) -> Result<bool, StoreError> {
    Ok(tx.writes_one(
        "UPDATE run SET stop = NULL, report = NULL, finished_at = NULL, clocks = NULL,
                        threaded = NULL, holder = ?2
         WHERE journal = ?1
           AND (stop IS NOT NULL OR holder IS NULL OR holder = ?2 OR NOT EXISTS (
               SELECT 1 FROM instance WHERE instance.life = run.holder AND instance.ends_at > ?3))",
        parameters![journal, holder, now],
    )?)
}

pub(crate) fn clock_bytes(clocks: &[i64]) -> Vec<u8> {
    clocks
        .iter()
        .flat_map(|clock| clock.to_le_bytes())
        .collect()
}
