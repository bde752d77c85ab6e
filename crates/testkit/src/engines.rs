//! Running one test on each engine, each time with a fresh data directory and database.

use std::{fmt, path::Path, time::Duration};

use callgate_store::{Store, StoreOptions};
use tempfile::TempDir;

use crate::postgres;

/// One engine's empty store, gone with this value.
pub struct Home {
    options: StoreOptions,
    /// Held for its removal.
    _directory: Option<TempDir>,
}

impl Home {
    pub fn sqlite() -> Home {
        Home::new(None)
    }

    /// # Panics
    /// Where PostgreSQL is not installed or does not start: a test that cannot run has failed.
    pub async fn postgres() -> Home {
        Home::new(Some(postgres::fresh_database().await))
    }

    fn new(url: Option<String>) -> Home {
        let directory = TempDir::with_prefix("callgate-test-").expect("a temporary directory");
        let options = StoreOptions {
            url,
            ..StoreOptions::new(directory.path().join("data"))
        };
        Home {
            options,
            _directory: Some(directory),
        }
    }

    /// SQLite in a directory that belongs to another process's `Home`.
    pub fn existing(data: &Path) -> Home {
        Home {
            options: StoreOptions::new(data),
            _directory: None,
        }
    }

    /// Ends every connection to the database from the server's side.
    ///
    /// # Panics
    /// On SQLite, which has none.
    pub async fn cut_connections(&self) {
        let url = self.options.url.as_ref().expect("a PostgreSQL store");
        postgres::cut_connections(url).await;
    }

    /// Of another instance on the same database, with a data directory of its own.
    ///
    /// # Panics
    /// On SQLite, which belongs to one data directory.
    pub fn of_another(&self) -> Home {
        let url = self.options.url.clone().expect("a PostgreSQL store");
        Home::new(Some(url))
    }

    /// Takes over what another instance was doing once that has been silent for so long.
    pub fn with_term(mut self, term: Duration) -> Home {
        self.options.term = term;
        self
    }

    /// Changes rows behind the store's back, for what no test can wait for, such as that a day passes.
    ///
    /// # Panics
    /// On PostgreSQL, and where the statements fail.
    pub fn alter(&self, statements: &str) {
        assert!(self.options.url.is_none(), "SQLite only");
        let file = self.options.data.join("callgate.db");
        let database = rusqlite::Connection::open(file).expect("the store's file");
        let waits = database.busy_timeout(Duration::from_secs(10));
        let altered = waits.and_then(|()| database.execute_batch(statements));
        altered.expect("statements that fit the schema");
    }

    pub fn data(&self) -> &Path {
        &self.options.data
    }

    pub fn options(&self) -> StoreOptions {
        self.options.clone()
    }

    /// Opens the store; again after a restart, as often as asked.
    pub async fn open(&self) -> Store {
        let opened = Store::open(self.options()).await;
        opened.unwrap_or_else(|error| panic!("the store does not open on {self}: {error}"))
    }
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.options.url {
            None => "SQLite",
            Some(_) => "PostgreSQL",
        })
    }
}

/// Runs the test on SQLite, then on PostgreSQL.
pub async fn on_each_engine(test: impl AsyncFn(Home)) {
    for home in [Home::sqlite(), Home::postgres().await] {
        // Shown with a failure only.
        println!("on {home}");
        test(home).await;
    }
}
