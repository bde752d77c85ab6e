//! What was under way in a copy comes to an end. The original went on after the copy was taken: whatever is
//! open here may have been done there, so nothing of it is done again. Effects without an outcome stay on
//! record as unknown. What has not begun stays: notes, rules, and timers whose time is still to come.

use std::collections::BTreeSet;

use callgate_contract::Part;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    LogRole, PluginTimer, Store, StoreError, log, row,
    timers::{put_off, read_for_plugin},
    tx::{Tx, parameters},
};

/// When a plugin's timer that comes again is due next, if ever. The times that were missed in between
/// belong to the original.
pub type NextTime = fn(&PluginTimer, Timestamp) -> Option<Timestamp>;

/// What was ended, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// Turns that had no end.
    pub turns: u64,
    /// Runs of code and direct calls, those that waited for an approval among them.
    pub runs: u64,
    /// Effectful calls that had begun: whether they were done is not known.
    pub unknown_calls: u64,
    /// Questions nobody had answered.
    pub approvals: u64,
    /// Messages that had no turn yet, or were in the hands of plugins.
    pub messages: u64,
    /// Answers on their way out. The log has their words.
    pub deliveries: u64,
    /// Timers whose time had come before the copy was put back.
    pub timers: u64,
}

const OPEN_RUNS: &str = "stop IS NULL OR stop = 'approval'";
const OPEN_MESSAGES: &str = "turn IS NULL AND (offered = 1
    OR role = 'user' AND hidden = 0 AND dismissed = 0)";
/// Whoever held something was a process of the original.
const FREE: [&str; 6] = [
    "UPDATE turn SET holder = NULL WHERE holder IS NOT NULL",
    "UPDATE run SET holder = NULL WHERE holder IS NOT NULL",
    "UPDATE log SET holder = NULL WHERE holder IS NOT NULL",
    "DELETE FROM lease",
    "DELETE FROM instance",
    // Cookies open one server, and this is another.
    "DELETE FROM login",
];

impl Store {
    /// Somebody works on this database now.
    pub(super) async fn is_in_use(&self) -> Result<bool, StoreError> {
        let now = self.database.shared_now();
        self.database
            .read(move |tx| {
                let living = "SELECT COUNT(*) FROM instance WHERE ends_at > ?1";
                let living: i64 = tx.query_one(living, parameters![now])?.at(0)?;
                Ok(living > 0)
            })
            .await
    }

    /// All or nothing. For a copy that was made at `made_at` and that nobody has opened yet.
    pub(super) async fn settle(
        &self,
        made_at: Timestamp,
        next: NextTime,
    ) -> Result<Settled, StoreError> {
        self.write(move |tx| settle(tx, made_at, next)).await
    }
}

fn settle(tx: &mut dyn Tx, made_at: Timestamp, next: NextTime) -> Result<Settled, StoreError> {
    tx.take_time()?;
    let sessions = touched(tx)?;
    let unknown = format!(
        "SELECT COUNT(*) FROM call WHERE outcome IS NULL AND effect = 'effectful'
         AND (journal IN (SELECT journal FROM run WHERE {OPEN_RUNS})
              OR journal IN (SELECT id FROM turn WHERE stop IS NULL))"
    );
    let unknown: i64 = tx.query_one(&unknown, &[])?.at(0)?;
    let why = format!(
        "a backup of {made_at} was restored: this was under way then, what came of it is unknown, and \
         it is not repeated"
    );
    let (now, report) = (row::now(), json!({ "error": why }).to_string());
    let ended = parameters![report, now];
    let settled = Settled {
        unknown_calls: row::read_count("calls", unknown)?,
        turns: tx.execute(
            "UPDATE turn SET stop = 'cancelled', report = ?1, finished_at = ?2, tainted = 1,
                 calls = (SELECT COUNT(*) FROM call WHERE journal = turn.id OR journal IN
                          (SELECT journal FROM run WHERE run.turn = turn.id))
             WHERE stop IS NULL",
            ended,
        )?,
        runs: tx.execute(
            &format!(
                "UPDATE run SET stop = 'killed', report = ?1, finished_at = ?2 WHERE {OPEN_RUNS}"
            ),
            ended,
        )?,
        approvals: tx.execute(
            "UPDATE approval SET state = 'withdrawn' WHERE state = 'pending'",
            &[],
        )?,
        messages: tx.execute(
            &format!("UPDATE log SET dismissed = 1, offered = 0 WHERE {OPEN_MESSAGES}"),
            &[],
        )?,
        deliveries: tx.execute("DELETE FROM outbox", &[])?,
        timers: settle_timers(tx, now, next)?,
    };
    for free in FREE {
        tx.execute(free, &[])?;
    }
    let note = [Part::text(format!(
        "A backup of {made_at} was restored. What was under way in this chat then has ended; what came \
         of it afterwards is unknown, and nothing of it is done again."
    ))];
    for session in sessions {
        let session = row::read_session(&session)?;
        log::append(tx, None, &session, (LogRole::System, None), &note)?;
    }
    Ok(settled)
}

/// The sessions in which something was under way.
fn touched(tx: &mut dyn Tx) -> Result<BTreeSet<String>, StoreError> {
    let sessions = format!(
        "SELECT session FROM turn WHERE stop IS NULL
         UNION SELECT session FROM run WHERE {OPEN_RUNS}
         UNION SELECT session FROM log WHERE {OPEN_MESSAGES}
         UNION SELECT session FROM outbox"
    );
    Ok(tx.scalars(&sessions, &[])?.into_iter().collect())
}

/// Those that are overdue have fired at the original, or were to; what comes again goes on from here.
fn settle_timers(tx: &mut dyn Tx, now: i64, next: NextTime) -> Result<u64, StoreError> {
    let overdue = "SELECT * FROM timer WHERE state = 'waiting' AND due_at <= ?1";
    let again = format!("{overdue} AND cron IS NOT NULL");
    for found in tx.query(&again, parameters![now])? {
        let timer = read_for_plugin(&found)?;
        if let Some(due) = next(&timer, row::read_time(now)?) {
            let due = due.as_millisecond();
            let put = "UPDATE timer SET due_at = ?2 WHERE id = ?1";
            tx.execute(put, parameters![timer.id, due])?;
        }
    }
    let again = format!("{overdue} AND repeats IS NOT NULL");
    for found in tx.query(&again, parameters![now])? {
        put_off(tx, &found, row::read_time(now)?)?;
    }
    let end = "UPDATE timer SET state = 'cancelled' WHERE state = 'waiting' AND due_at <= ?1";
    Ok(tx.execute(end, parameters![now])?)
}
