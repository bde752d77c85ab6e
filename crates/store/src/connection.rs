//! [`Connection`]: one connection, each statement of which has a deadline. A server that went silent (a
//! cut cable, a frozen machine, a firewall that forgot us) sends nothing, not even an error: without a
//! deadline of our own whoever asked would wait for ever.
//! A connection that went silent is left, and a read is asked again on a new one.

use std::{
    fmt, io,
    time::{Duration, Instant},
};

use futures_core::{future::BoxFuture, stream::BoxStream};
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use sqlx::{
    Any, AnyConnection, ConnectOptions, Connection as _, Either, Error, Execute, Executor, SqlStr,
    any::{AnyArguments, AnyConnectOptions, AnyQueryResult, AnyRow, AnyStatement, AnyTypeInfo},
};

use crate::Durability;

/// To be connected and set up.
const CONNECT: Duration = Duration::from_secs(5);
/// For one statement. The server ends it a little earlier (`statement_timeout` below), so that this
/// is met only where nothing is heard from the server.
const STATEMENT: Duration = Duration::from_secs(12);
/// After so long a silence a connection is asked whether it is one still, and has [`ALIVE`] to say so:
/// what goes through it next would wait for [`STATEMENT`].
const SILENT: Duration = Duration::from_secs(5);
const ALIVE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    fn reader_settings(self) -> &'static str {
        match self {
            Engine::Sqlite => "PRAGMA busy_timeout = 10000; PRAGMA query_only = 1",
            Engine::Postgres => {
                "SET statement_timeout = '10s'; SET default_transaction_read_only = on"
            }
        }
    }

    fn writer_settings(self, durability: Durability) -> &'static str {
        match (self, durability) {
            (Engine::Sqlite, Durability::Process) => {
                "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL;
                 PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON"
            }
            (Engine::Sqlite, Durability::Power) => {
                "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL;
                 PRAGMA synchronous = FULL; PRAGMA secure_delete = ON"
            }
            // How a server meets a power cut is its operator's setting unless we must be sure. What
            // is locked by a machine that has gone silent is free again soon: others wait for it.
            (Engine::Postgres, Durability::Process) => {
                "SET statement_timeout = '10s'; SET idle_in_transaction_session_timeout = '30s';
                 SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;
                 SET tcp_keepalives_count = 3"
            }
            (Engine::Postgres, Durability::Power) => {
                "SET statement_timeout = '10s'; SET idle_in_transaction_session_timeout = '30s';
                 SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;
                 SET tcp_keepalives_count = 3; SET synchronous_commit = on"
            }
        }
    }

    /// SQLite is no other machine: only its lock is waited for, and `busy_timeout` ends that.
    fn deadline(self) -> Option<Duration> {
        (self == Engine::Postgres).then_some(STATEMENT)
    }
}

/// Where the database is and how it is spoken to.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) engine: Engine,
    pub(crate) durability: Durability,
    pub(crate) options: AnyConnectOptions,
}

impl Connector {
    pub(crate) async fn reader(&self) -> Result<Connection, Error> {
        self.connect(self.engine.reader_settings()).await
    }

    pub(crate) async fn writer(&self) -> Result<Connection, Error> {
        self.connect(self.engine.writer_settings(self.durability))
            .await
    }

    async fn connect(&self, settings: &'static str) -> Result<Connection, Error> {
        let connecting = async {
            let mut inner = self.options.connect().await?;
            sqlx::raw_sql(settings).execute(&mut inner).await?;
            Ok(inner)
        };
        Ok(Connection {
            inner: within(Some(CONNECT), connecting).await?,
            deadline: self.engine.deadline(),
            used: Instant::now(),
            endless: false,
        })
    }
}

pub(crate) struct Connection {
    inner: AnyConnection,
    /// `None` where the engine needs none.
    deadline: Option<Duration>,
    used: Instant,
    /// Its server no longer ends what takes too long.
    endless: bool,
}

impl Connection {
    /// False if it was silent for long and does not answer now.
    pub(crate) async fn is_alive(&mut self) -> bool {
        if self.deadline.is_none() || self.used.elapsed() < SILENT {
            return true;
        }
        within(Some(ALIVE), self.inner.ping()).await.is_ok()
    }

    /// Not for anything else once it was [`Connection::without_deadline`].
    pub(crate) fn is_ordinary(&self) -> bool {
        !self.endless
    }

    /// For what may take its time and is done seldom.
    pub(crate) async fn without_deadline(&mut self) -> Result<&mut AnyConnection, Error> {
        if self.deadline.take().is_some() {
            self.endless = true;
            let endless = sqlx::query("SET statement_timeout = 0");
            within(Some(STATEMENT), endless.execute(&mut self.inner)).await?;
        }
        Ok(&mut self.inner)
    }

    pub(crate) async fn steps(&mut self, statement: &Statement) -> Result<Vec<Step>, Error> {
        let steps = (&mut self.inner).fetch_many(statement.query());
        let steps = within(self.deadline, steps.try_collect()).await;
        self.used = Instant::now();
        steps
    }
}

async fn within<T>(
    deadline: Option<Duration>,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let Some(deadline) = deadline else {
        return work.await;
    };
    let done = tokio::time::timeout(deadline, work).await;
    done.unwrap_or_else(|_| {
        let silent = "nothing was heard from the database in time";
        Err(Error::Io(io::Error::new(io::ErrorKind::TimedOut, silent)))
    })
}

/// The connection is none any more, whatever was asked.
pub(crate) fn is_lost(error: &Error) -> bool {
    match error {
        Error::Io(_) | Error::Protocol(_) | Error::Tls(_) | Error::WorkerCrashed => true,
        Error::Database(error) => error.code().is_some_and(|code| {
            // Connection exceptions; the server was told to end; it ended an idle transaction.
            code.starts_with("08") || code.starts_with("57P") || code == "25P03"
        }),
        _ => false,
    }
}

pub(crate) type Step = Either<AnyQueryResult, AnyRow>;

/// What is asked, so that it can be asked again.
pub(crate) struct Statement {
    sql: SqlStr,
    arguments: AnyArguments,
    persistent: bool,
}

impl Statement {
    pub(crate) fn of<'q>(mut query: impl Execute<'q, Any>) -> Result<Self, Error> {
        let arguments = query.take_arguments().map_err(Error::Encode)?;
        Ok(Statement {
            arguments: arguments.unwrap_or_default(),
            persistent: query.persistent(),
            sql: query.sql(),
        })
    }

    fn query(&self) -> sqlx::query::Query<'_, Any, AnyArguments> {
        let mut arguments = AnyArguments::default();
        arguments.values.0.clone_from(&self.arguments.values.0);
        sqlx::query_with(self.sql.clone(), arguments).persistent(self.persistent)
    }
}

pub(crate) fn row_of(steps: Vec<Step>) -> Option<AnyRow> {
    steps.into_iter().find_map(Either::right)
}

pub(crate) type Steps<'e> = BoxStream<'e, Result<Step, Error>>;

/// Whatever runs whole statements, as sqlx wants it: everything is read before it is given.
pub(crate) fn streamed<'e>(
    steps: impl Future<Output = Result<Vec<Step>, Error>> + Send + 'e,
) -> Steps<'e> {
    let given = steps.map(|steps| match steps {
        Ok(steps) => stream::iter(steps).map(Ok).boxed(),
        Err(error) => stream::iter([Err(error)]).boxed(),
    });
    given.flatten_stream().boxed()
}

impl<'c> Executor<'c> for &'c mut Connection {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> Steps<'e>
    where
        'c: 'e,
        E: 'q + Execute<'q, Any>,
    {
        streamed(async move { self.steps(&Statement::of(query)?).await })
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<AnyRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let row = async move { self.steps(&Statement::of(query)?).await.map(row_of) };
        row.boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [AnyTypeInfo],
    ) -> BoxFuture<'e, Result<AnyStatement, Error>>
    where
        'c: 'e,
    {
        self.inner.prepare_with(sql, parameters)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connection")
    }
}
