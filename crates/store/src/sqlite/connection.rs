//! [`SqliteConnection`]: statements prepared once, and rows read whole.

use std::{collections::HashMap, path::Path, sync::Arc};

use rusqlite::{
    Connection, OpenFlags, ToSql,
    types::{ToSqlOutput, ValueRef},
};

use crate::{
    DatabaseError, Durability,
    counts::DatabaseCounters,
    tx::{Cell, Parameter, Row, Tx},
};

/// Statements kept prepared.
const STATEMENTS: usize = 512;

pub(crate) struct SqliteConnection {
    connection: Connection,
    /// By statement.
    columns: HashMap<String, Arc<[String]>>,
    counts: Arc<DatabaseCounters>,
}

impl SqliteConnection {
    /// Makes the database where there is none.
    pub(super) fn writer(
        path: &Path,
        durability: Durability,
        counts: Arc<DatabaseCounters>,
    ) -> Result<Self, DatabaseError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        let synchronous = match durability {
            Durability::Process => "NORMAL",
            Durability::Power => "FULL",
        };
        connection.execute_batch(&format!(
            "PRAGMA busy_timeout = 10000; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
             PRAGMA synchronous = {synchronous}; PRAGMA secure_delete = ON;
             PRAGMA wal_autocheckpoint = 0"
        ))?;
        Ok(SqliteConnection::new(connection, counts))
    }

    pub(super) fn reader(
        path: &Path,
        counts: Arc<DatabaseCounters>,
    ) -> Result<Self, DatabaseError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.execute_batch("PRAGMA busy_timeout = 10000; PRAGMA query_only = 1")?;
        Ok(SqliteConnection::new(connection, counts))
    }

    pub(super) fn new(connection: Connection, counts: Arc<DatabaseCounters>) -> Self {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        SqliteConnection {
            connection,
            columns: HashMap::new(),
            counts,
        }
    }

    pub(super) fn inner(&self) -> &Connection {
        &self.connection
    }
}

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Parameter::Integer(Some(number)) => ValueRef::Integer(*number),
            Parameter::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Parameter::Bytes(Some(bytes)) => ValueRef::Blob(bytes),
            Parameter::Integer(None) | Parameter::Text(None) | Parameter::Bytes(None) => {
                ValueRef::Null
            }
        }))
    }
}

impl Tx for SqliteConnection {
    fn execute(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<u64, DatabaseError> {
        self.counts.stated();
        let mut statement = self.connection.prepare_cached(sql)?;
        let written = statement.execute(rusqlite::params_from_iter(parameters))?;
        Ok(written as u64)
    }

    fn batch(&mut self, sql: &str) -> Result<(), DatabaseError> {
        Ok(self.connection.execute_batch(sql)?)
    }

    /// There is no other machine that could go silent.
    fn take_time(&mut self) -> Result<(), DatabaseError> {
        Ok(())
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, DatabaseError> {
        self.counts.stated();
        let mut statement = self.connection.prepare_cached(sql)?;
        let columns = match self.columns.get(sql) {
            Some(columns) => Arc::clone(columns),
            None => {
                let names = statement.column_names().into_iter().map(str::to_owned);
                let names: Arc<[String]> = names.collect();
                self.columns.insert(sql.to_owned(), Arc::clone(&names));
                names
            }
        };
        let mut found = statement.query(rusqlite::params_from_iter(parameters))?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            let cells = (0..columns.len()).map(|place| Ok(cell(row.get_ref(place)?)));
            rows.push(Row {
                columns: Arc::clone(&columns),
                cells: cells.collect::<rusqlite::Result<_>>()?,
            });
        }
        Ok(rows)
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        // No column of ours holds one; an expression that does is cast in its statement.
        ValueRef::Real(number) => Cell::Text(number.to_string()),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Cell::Text(text.to_owned()),
            Err(_) => Cell::Bytes(text.to_vec()),
        },
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}
