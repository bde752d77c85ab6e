//! Many writes, one commit. Each lies in a savepoint: one that fails harms no other, and all are answered
//! after the commit.

use super::connection::SqliteConnection;
use crate::{DatabaseError, job::Job};

pub(super) fn commit(writer: &mut SqliteConnection, mut jobs: Vec<Box<dyn Job>>) {
    let committed = match jobs.as_mut_slice() {
        [job] => commit_one(writer, job.as_mut()),
        jobs => commit_all(writer, jobs),
    };
    if committed.is_err() && !writer.inner().is_autocommit() {
        // It failed for all of them; what is left of the transaction goes too.
        let _ = run(writer, "ROLLBACK");
    }
    for job in jobs {
        job.answer(committed.clone());
    }
}

/// On its own, without a savepoint: most of the time nobody else waits.
fn commit_one(writer: &mut SqliteConnection, job: &mut dyn Job) -> Result<(), DatabaseError> {
    run(writer, "BEGIN IMMEDIATE")?;
    if job.run(writer) {
        run(writer, "COMMIT")
    } else {
        run(writer, "ROLLBACK")
    }
}

fn commit_all(
    writer: &mut SqliteConnection,
    jobs: &mut [Box<dyn Job>],
) -> Result<(), DatabaseError> {
    run(writer, "BEGIN IMMEDIATE")?;
    for job in jobs {
        run(writer, "SAVEPOINT job")?;
        if !job.run(writer) {
            run(writer, "ROLLBACK TO job")?;
        }
        run(writer, "RELEASE job")?;
    }
    run(writer, "COMMIT")
}

fn run(writer: &SqliteConnection, sql: &str) -> Result<(), DatabaseError> {
    let mut statement = writer.inner().prepare_cached(sql)?;
    statement.execute([])?;
    Ok(())
}
