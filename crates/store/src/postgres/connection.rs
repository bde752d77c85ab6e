//! [`PostgresConnection`]: one connection and the small runtime that drives it, on a thread of its own.
//! It connects when it is first used, and again after it was lost.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Config, NoTls, Statement, types::ToSql, types::Type};

use crate::{
    DatabaseError, Durability,
    counts::DatabaseCounters,
    tx::{Parameter, Row, Tx},
};

/// To be connected and set up.
const CONNECT: Duration = Duration::from_secs(5);
/// For one statement. The server ends it a little earlier (`statement_timeout` below), so that this is
/// met only where nothing is heard from the server.
const STATEMENT: Duration = Duration::from_secs(12);
/// After so long a silence a connection may be none any more, and has [`ALIVE`] to answer: what goes
/// through it would wait for [`STATEMENT`].
const SILENT: Duration = Duration::from_secs(5);
const ALIVE: Duration = Duration::from_secs(2);
/// The longest that the server bears a transaction in which nothing is asked. Others wait for what it has
/// locked, so that it is no longer than the term after which they take over.
const STANDSTILL: Duration = Duration::from_secs(30);
/// For a statement that may take its time.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

pub(super) struct PostgresConnection {
    config: Config,
    access: Access,
    /// What a new connection is told first.
    settings: String,
    runtime: Runtime,
    /// `None` before the first use, and after it was lost.
    connected: Option<Connected>,
    /// The transaction may take its time.
    patient: bool,
    counts: Arc<DatabaseCounters>,
}

struct Connected {
    client: Client,
    /// By text and the types of the parameters.
    statements: HashMap<(String, Vec<Type>), Prepared>,
    used: Instant,
}

#[derive(Clone)]
struct Prepared {
    statement: Statement,
    columns: Arc<[String]>,
}

impl PostgresConnection {
    pub(super) fn new(
        config: Config,
        access: Access,
        durability: Durability,
        term: Duration,
        counts: Arc<DatabaseCounters>,
    ) -> Result<Self, DatabaseError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(PostgresConnection {
            config,
            access,
            settings: settings(access, durability, term),
            runtime: runtime.map_err(|error| DatabaseError::Postgres {
                code: None,
                message: error.to_string(),
            })?,
            connected: None,
            patient: false,
            counts,
        })
    }

    /// Begins a transaction. A connection that ended while nobody used it is replaced: nothing is lost
    /// with it.
    pub(super) fn begin(&mut self) -> Result<(), DatabaseError> {
        self.patient = false;
        self.connect()?;
        match self.batch("BEGIN") {
            Err(error) if error.is_lost() => {
                self.leave();
                self.connect()?;
                self.batch("BEGIN")
            }
            begun => begun,
        }
    }

    pub(super) fn end(&mut self, sql: &str) -> Result<(), DatabaseError> {
        self.batch(sql)?;
        self.counts.committed();
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.connected = None;
    }

    fn connect(&mut self) -> Result<(), DatabaseError> {
        if self.connected.is_some() {
            return Ok(());
        }
        let config = self.config.clone();
        let client = within(&self.runtime, CONNECT, async move {
            let (client, connection) = config.connect(NoTls).await?;
            // Drives the connection whenever this thread waits for it; ends with the client.
            tokio::spawn(connection);
            Ok(client)
        })?;
        let setting_up = client.batch_execute(&self.settings);
        within(&self.runtime, CONNECT, setting_up)?;
        self.connected = Some(Connected {
            client,
            statements: HashMap::new(),
            used: Instant::now(),
        });
        Ok(())
    }

    /// Reads are asked again on a new connection; what a transaction had written is lost with the old.
    fn ask(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Asked, DatabaseError> {
        self.counts.stated();
        match self.ask_once(sql, parameters) {
            Err(error) if error.is_lost() => {
                self.leave();
                match self.access {
                    Access::Read => self.ask_once(sql, parameters),
                    Access::Write => Err(error),
                }
            }
            asked => asked,
        }
    }

    fn ask_once(
        &mut self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Asked, DatabaseError> {
        // Within a transaction there is one; a new one would be outside of it.
        if self.access == Access::Read {
            self.connect()?;
        }
        let connected = self.connected.as_mut().ok_or(DatabaseError::Silent)?;
        let prepared = connected.prepare(&self.runtime, sql, parameters)?;
        let values: Vec<&(dyn ToSql + Sync)> = parameters.iter().map(|value| value as _).collect();
        let deadline = connected.deadline(self.patient);
        let (client, statement) = (&connected.client, &prepared.statement);
        let asked = if prepared.columns.is_empty() {
            within(&self.runtime, deadline, client.execute(statement, &values)).map(Asked::Written)
        } else {
            within(&self.runtime, deadline, client.query(statement, &values))
                .map(|rows| Asked::Rows(rows, prepared.columns))
        };
        connected.used = Instant::now();
        asked
    }
}

enum Asked {
    Written(u64),
    Rows(Vec<tokio_postgres::Row>, Arc<[String]>),
}

impl Connected {
    fn deadline(&self, patient: bool) -> Duration {
        if patient {
            PATIENCE
        } else if self.used.elapsed() < SILENT {
            STATEMENT
        } else {
            ALIVE
        }
    }

    fn prepare(
        &mut self,
        runtime: &Runtime,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Prepared, DatabaseError> {
        let types: Vec<Type> = parameters.iter().map(Parameter::postgres_type).collect();
        let key = (sql.to_owned(), types);
        if let Some(prepared) = self.statements.get(&key) {
            return Ok(prepared.clone());
        }
        // One text for both engines: SQLite's `?1` is `$1` here.
        let text = sql.replace('?', "$");
        let preparing = self.client.prepare_typed(&text, &key.1);
        let statement = within(runtime, self.deadline(false), preparing)?;
        let columns = statement.columns().iter();
        let prepared = Prepared {
            columns: columns.map(|column| column.name().to_owned()).collect(),
            statement,
        };
        self.used = Instant::now();
        self.statements.insert(key, prepared.clone());
        Ok(prepared)
    }
}

impl Tx for PostgresConnection {
    fn execute(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<u64, DatabaseError> {
        Ok(match self.ask(sql, parameters)? {
            Asked::Written(rows) => rows,
            Asked::Rows(rows, _) => rows.len() as u64,
        })
    }

    fn batch(&mut self, sql: &str) -> Result<(), DatabaseError> {
        // Within a transaction there is a connection; a new one would be outside of it.
        let connected = self.connected.as_mut().ok_or(DatabaseError::Silent)?;
        let deadline = connected.deadline(self.patient);
        let working = connected.client.batch_execute(sql);
        let done = within(&self.runtime, deadline, working);
        connected.used = Instant::now();
        done
    }

    fn take_time(&mut self) -> Result<(), DatabaseError> {
        self.batch("SET LOCAL statement_timeout = 0")?;
        self.patient = true;
        Ok(())
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, DatabaseError> {
        let Asked::Rows(rows, columns) = self.ask(sql, parameters)? else {
            return Ok(Vec::new());
        };
        let read = |row: tokio_postgres::Row| {
            let cells = (0..columns.len()).map(|place| row.try_get(place));
            Ok(Row {
                columns: Arc::clone(&columns),
                cells: cells.collect::<Result<_, tokio_postgres::Error>>()?,
            })
        };
        rows.into_iter().map(read).collect()
    }
}

fn settings(access: Access, durability: Durability, term: Duration) -> String {
    if access == Access::Read {
        return "SET statement_timeout = '10s'; SET default_transaction_read_only = on".to_owned();
    }
    // What is locked by a process that stands still or a machine that has gone silent is free again soon.
    let standstill = term.min(STANDSTILL).as_millis().max(1);
    // How a server meets a power cut is its operator's setting unless we must be sure.
    let commit = match durability {
        Durability::Process => "",
        Durability::Power => "SET synchronous_commit = on",
    };
    format!(
        "SET statement_timeout = '10s'; SET idle_in_transaction_session_timeout = {standstill};
         SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
         {commit}"
    )
}

fn within<T>(
    runtime: &Runtime,
    deadline: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, DatabaseError> {
    let done = runtime.block_on(async { tokio::time::timeout(deadline, work).await });
    match done {
        Ok(done) => Ok(done?),
        Err(_) => Err(DatabaseError::Silent),
    }
}
