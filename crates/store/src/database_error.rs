//! [`DatabaseError`]: what an engine said, by what can be done about it. It is one value for all whose
//! work shared a transaction, so it can be cloned.

use rustix::io::Errno;
use tokio_postgres::error::SqlState;

#[derive(Clone, Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("SQLite: {message}")]
    Sqlite {
        /// The extended result code.
        code: i32,
        message: String,
    },
    #[error("PostgreSQL: {message}")]
    Postgres {
        /// `SQLSTATE`; `None` where the connection itself failed.
        code: Option<SqlState>,
        message: String,
    },
    /// `EMFILE` or `ENFILE`, of which SQLite says only that it cannot open a file.
    #[error("this process has no file descriptors left")]
    NoDescriptors,
    #[error("nothing was heard from the database in time")]
    Silent,
    /// The process ends.
    #[error("the database is closed")]
    Closed,
    #[error("a statement that always gives a row gave none")]
    NoRow,
    /// A fault of ours; nothing of that work was written.
    #[error("work on the database panicked")]
    Panicked,
}

impl DatabaseError {
    /// Another connection has it.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, DatabaseError::Sqlite { code, .. } if matches!(code & 0xff, 5 | 6))
    }

    /// What is on the disk is not what was written.
    pub(crate) fn is_damage(&self) -> bool {
        use rusqlite::ffi::{SQLITE_CORRUPT, SQLITE_NOTADB};
        match self {
            DatabaseError::Sqlite { code, .. } => {
                [SQLITE_CORRUPT, SQLITE_NOTADB].contains(&(code & 0xff))
            }
            DatabaseError::Postgres { code, .. } => [
                Some(SqlState::DATA_CORRUPTED),
                Some(SqlState::INDEX_CORRUPTED),
            ]
            .contains(code),
            _ => false,
        }
    }

    /// Nothing more fits on the disk.
    pub(crate) fn is_full(&self) -> bool {
        match self {
            DatabaseError::Sqlite { code, .. } => code & 0xff == rusqlite::ffi::SQLITE_FULL,
            DatabaseError::Postgres { code, .. } => *code == Some(SqlState::DISK_FULL),
            _ => false,
        }
    }

    /// The connection is none any more, whatever was asked.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            DatabaseError::Silent => true,
            DatabaseError::Postgres { code: None, .. } => true,
            // Connection exceptions; the server was told to end; it ended an idle transaction.
            DatabaseError::Postgres {
                code: Some(code), ..
            } => {
                let code = code.code();
                code.starts_with("08") || code.starts_with("57P") || code == "25P03"
            }
            _ => false,
        }
    }

    /// It is the database's or the disk's state, not what was asked: the same may succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            // The lowest byte says the kind: busy, locked, no memory, read-only, input or output,
            // full, cannot be opened.
            DatabaseError::Sqlite { code, .. } => matches!(code & 0xff, 5..=8 | 10 | 13 | 14),
            // By class: rolled back for another's sake, no resources, not in this state (a lock,
            // read-only), ended by the operator or a timeout, its system failed.
            DatabaseError::Postgres {
                code: Some(code), ..
            } => {
                let classes = ["40", "53", "55", "57", "58", "25006"];
                self.is_lost() || classes.iter().any(|class| code.code().starts_with(class))
            }
            DatabaseError::NoDescriptors => true,
            _ => self.is_lost(),
        }
    }
}

/// Nothing can be opened any more.
pub(crate) fn no_descriptors_left() -> bool {
    let opened = std::fs::File::open("/dev/null").err();
    let errno = opened.as_ref().and_then(Errno::from_io_error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE))
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        let code = error
            .sqlite_error()
            .map_or(rusqlite::ffi::SQLITE_ERROR, |error| error.extended_code);
        if code & 0xff == rusqlite::ffi::SQLITE_CANTOPEN && no_descriptors_left() {
            return DatabaseError::NoDescriptors;
        }
        let said = DatabaseError::Sqlite {
            code,
            message: error.to_string(),
        };
        if !said.is_damage() {
            return said;
        }
        DatabaseError::Sqlite {
            code,
            message: format!("the database file is damaged: {error}"),
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        let message = match error.as_db_error() {
            Some(error) => error.message().to_owned(),
            None => match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            },
        };
        // What is neither the server's word nor a failure to reach it is a fault in what we sent.
        let code = match error.code() {
            Some(code) => Some(code.clone()),
            None if is_ours(&error) => Some(SqlState::DATA_EXCEPTION),
            None => None,
        };
        DatabaseError::Postgres { code, message }
    }
}

/// A value that does not fit its parameter or column is no failure of the connection.
fn is_ours(error: &tokio_postgres::Error) -> bool {
    let text = error.to_string();
    text.starts_with("error serializing") || text.starts_with("error deserializing")
}
