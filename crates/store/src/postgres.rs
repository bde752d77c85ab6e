//! PostgreSQL: a thread that writes, and a few that read, each with a connection of its own. Closures run
//! there and wait for the server there, so that no thread of the runtime ever does. One connection writes,
//! so that what a process writes is on disk in the order of its asking.
//! A server that went silent (a cut cable, a frozen machine, a firewall that forgot us) sends nothing, not
//! even an error: every statement has a deadline, and a connection that missed one is left for a new one.

mod connection;
mod types;

use std::{
    sync::{Arc, mpsc},
    time::Duration,
};

use parking_lot::Mutex;
use tokio_postgres::Config;

use self::connection::{Access, PostgresConnection};
use crate::{DatabaseError, Durability, counts::DatabaseCounters, job::Job};

const READERS: usize = 4;

/// Threads end when this is dropped, which closes their channels.
pub(crate) struct Postgres {
    /// Unbounded: whoever waits for an answer has one job here.
    writer: mpsc::Sender<Box<dyn Job>>,
    readers: mpsc::Sender<Box<dyn Job>>,
}

impl Postgres {
    pub(crate) fn open(
        config: Config,
        durability: Durability,
        term: Duration,
        counts: Arc<DatabaseCounters>,
    ) -> Result<Self, DatabaseError> {
        let connection = |access| {
            let counts = Arc::clone(&counts);
            PostgresConnection::new(config.clone(), access, durability, term, counts)
        };
        let (writer, jobs) = mpsc::channel();
        let mut connected = connection(Access::Write)?;
        spawn("database", move || write(&mut connected, &jobs))?;
        let (readers, jobs) = mpsc::channel();
        // A mutex held while one of them waits for the next job, and not while it reads.
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..READERS {
            let (mut connected, jobs) = (connection(Access::Read)?, Arc::clone(&jobs));
            spawn("database", move || read(&mut connected, &jobs))?;
        }
        Ok(Postgres { writer, readers })
    }

    pub(crate) fn submit(&self, job: Box<dyn Job>) {
        answer_unsent(self.writer.send(job));
    }

    pub(crate) fn submit_read(&self, job: Box<dyn Job>) {
        answer_unsent(self.readers.send(job));
    }
}

fn answer_unsent(sent: Result<(), mpsc::SendError<Box<dyn Job>>>) {
    if let Err(mpsc::SendError(job)) = sent {
        job.answer(Err(DatabaseError::Closed));
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), DatabaseError> {
    let thread = std::thread::Builder::new().name(name.into());
    thread.spawn(work).map(|_| ()).map_err(|error| {
        tracing::error!(%error, "no thread for the database");
        DatabaseError::Closed
    })
}

fn read(connection: &mut PostgresConnection, jobs: &Mutex<mpsc::Receiver<Box<dyn Job>>>) {
    loop {
        let next = jobs.lock().recv();
        let Ok(mut job) = next else {
            return;
        };
        job.run(connection);
        job.answer(Ok(()));
    }
}

/// One after the other, each in a transaction of its own: those that share one would hold each other's
/// locks, and deadlock with another instance's.
fn write(connection: &mut PostgresConnection, jobs: &mpsc::Receiver<Box<dyn Job>>) {
    while let Ok(mut job) = jobs.recv() {
        let committed = commit(connection, job.as_mut());
        if committed.is_err() {
            // What is left of it goes with the connection.
            connection.leave();
        }
        job.answer(committed);
    }
}

fn commit(connection: &mut PostgresConnection, job: &mut dyn Job) -> Result<(), DatabaseError> {
    connection.begin()?;
    if job.run(connection) {
        connection.end("COMMIT")
    } else {
        connection.end("ROLLBACK")
    }
}
