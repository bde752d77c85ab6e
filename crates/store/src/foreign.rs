//! [`ForeignDatabase`]: a SQLite file of another program, read and never written. It may hold anything: what
//! is asked is one table's rows, no view's, and no value larger than the bound.

use std::{fs::File, io, path::Path};

use rusqlite::{Connection, OpenFlags, config::DbConfig, types::ValueRef};
use serde_json::{Map, Value as Json};
use tempfile::TempDir;

use crate::files::{FileError, Folder};

/// Bytes of one value; a larger one reads as null.
const MAX_VALUE: u64 = 32 << 20;
/// Bytes of the file, with what is not yet merged into it.
const MAX_FILE: u64 = 8 << 30;
/// Rows of one table.
const MAX_ROWS: usize = 1_000_000;

#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("'{name}' cannot be copied: {source}")]
    Copy { name: String, source: io::Error },
    #[error("'{name}' is no sound SQLite database: {reason}")]
    Unsound { name: String, reason: String },
}

/// A copy of our own: its owner may write to the file meanwhile, and what it has not merged yet is only read
/// together with it.
pub struct ForeignDatabase {
    connection: Connection,
    name: String,
    /// Removed with it.
    _folder: TempDir,
}

impl ForeignDatabase {
    pub fn open(from: &Folder, name: &str) -> Result<Self, ForeignError> {
        let copying = |source| ForeignError::Copy {
            name: name.to_owned(),
            source,
        };
        let folder = tempfile::tempdir().map_err(copying)?;
        let copy = folder.path().join("copy.db");
        let log = folder.path().join("copy.db-wal");
        copy_file(from.open_read(name)?, &copy).map_err(copying)?;
        match from.open_read(&format!("{name}-wal")) {
            Ok(file) => copy_file(file, &log).map_err(copying)?,
            Err(FileError::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let unsound = |error: rusqlite::Error| ForeignError::Unsound {
            name: name.to_owned(),
            reason: error.to_string(),
        };
        let connection = open(&copy).map_err(unsound)?;
        Ok(ForeignDatabase {
            connection,
            name: name.to_owned(),
            _folder: folder,
        })
    }

    /// The rows of a table by the names of its columns, in the order they were made; none where there is no
    /// such table. `seen` says whether to go on.
    pub fn rows(
        &self,
        table: &'static str,
        mut seen: impl FnMut(Map<String, Json>) -> bool,
    ) -> Result<(), ForeignError> {
        let read = self.each(table, &mut seen);
        read.map_err(|error| ForeignError::Unsound {
            name: self.name.clone(),
            reason: error.to_string(),
        })
    }

    fn each(
        &self,
        table: &'static str,
        seen: &mut dyn FnMut(Map<String, Json>) -> bool,
    ) -> rusqlite::Result<()> {
        let columns = self.columns(table)?;
        if columns.is_empty() {
            return Ok(());
        }
        let bounded = |column: &String| {
            let column = format!("\"{}\"", column.replace('"', "\"\""));
            format!("CASE WHEN length({column}) <= {MAX_VALUE} THEN {column} END")
        };
        let bounded: Vec<String> = columns.iter().map(bounded).collect();
        let select = format!(
            "SELECT {} FROM \"{table}\" ORDER BY rowid LIMIT {MAX_ROWS}",
            bounded.join(", ")
        );
        let mut statement = self.connection.prepare(&select)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mut read = Map::new();
            for (index, column) in columns.iter().enumerate() {
                read.insert(column.clone(), json(row.get_ref(index)?));
            }
            if !seen(read) {
                break;
            }
        }
        Ok(())
    }

    /// Of a table proper: a view or a virtual table could compute anything.
    fn columns(&self, table: &str) -> rusqlite::Result<Vec<String>> {
        let known = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?1
                     AND sql NOT LIKE 'CREATE VIRTUAL%'";
        let count: i64 = self
            .connection
            .query_row(known, [table], |row| row.get(0))?;
        if count != 1 {
            return Ok(Vec::new());
        }
        let mut statement = self
            .connection
            .prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get(0))?;
        names.collect()
    }
}

fn open(copy: &Path) -> rusqlite::Result<Connection> {
    // Not read-only: what is not yet merged is merged, into the copy.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(copy, flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found != "ok" {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        return Err(rusqlite::Error::SqliteFailure(code, Some(found)));
    }
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn copy_file(from: File, to: &Path) -> io::Result<()> {
    let copied = io::copy(
        &mut io::Read::take(from, MAX_FILE + 1),
        &mut File::create_new(to)?,
    )?;
    if copied > MAX_FILE {
        return Err(io::Error::other("it is larger than 8 GB"));
    }
    Ok(())
}

fn json(value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => Json::Null,
        ValueRef::Integer(number) => Json::from(number),
        ValueRef::Real(number) => Json::from(number),
        ValueRef::Text(text) => Json::from(String::from_utf8_lossy(text)),
    }
}
