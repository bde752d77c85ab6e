//! `callgate backup`, `verify` and `restore`.

use std::path::PathBuf;

use clap::Args;

/// Copy everything that matters into a new folder, also while the server runs
///
/// The database as it is at one moment, session files, plugins with their data, and
/// callgate.toml where it lies in the data directory. Not in it: environments and
/// packages, which can be installed again. It holds everything that was said, and keys.
/// With --json: {"backup", "made_at", "database", "files", "bytes", "left_out"}
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
A database on PostgreSQL is not in it: dump it first, with
  pg_dump --format=custom --file=callgate.dump URL

Examples:
  callgate backup /backups/callgate-monday
  callgate backup /backups/$(date +%F) --json"
)]
pub struct Backup {
    /// The folder to make
    pub folder: PathBuf,
}

/// Check that a backup is whole and can be restored by this version
///
/// Reads all of it: hashes of files, pages and tables of the database, and whether
/// every file is there that the database names. Exit code 1 if something is wrong.
/// With --json: {"ok", "backup", "made_at", "callgate", "database", "files",
/// "problems": [{"what", "hint"}]}
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Example:
  callgate verify /backups/callgate-monday"
)]
pub struct Verify {
    /// What `callgate backup` made
    pub folder: PathBuf,
}

/// Make a data directory of a backup
///
/// Into the directory of --data, which must be empty or new. What was under way when
/// the backup was made is not done again: turns, runs and questions have ended, messages
/// on their way are not sent, timers that are overdue do not fire.
/// With --json: {"data", "made_at", "files", "kept", "ended"}
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate restore /backups/callgate-monday --data ./callgate-data
  callgate restore /backups/callgate-monday --data ./callgate-data --replace"
)]
pub struct Restore {
    /// What `callgate backup` made
    pub folder: PathBuf,
    /// Move the directory that is there aside, and keep it
    #[arg(long)]
    pub replace: bool,
    /// Of a backup whose database is on PostgreSQL: the new database that pg_restore made
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
}
