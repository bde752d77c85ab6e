//! `callgate import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Come from another system: personas, histories, administrators, models, plugins, clients
///
/// Reads its folder and changes nothing there. Run it again to bring what is new or changed since; what you
/// changed here stays. --dry-run only lists what would come, and what cannot and why. Works while the server
/// runs. With --json: {"id", "system", "folder", "dry_run", "items": [{"kind", "name", "fate", "detail"}]}
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  callgate import astrbot ~/AstrBot/data --dry-run
  callgate import astrbot ~/AstrBot/data --with-secrets
  callgate import list
  callgate import undo 1")]
pub struct ImportArguments {
    #[command(subcommand)]
    pub command: ImportCommand,
}

#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// AstrBot 4: its folder `data`, or the one that holds it
    Astrbot(ImportFolder),
    /// Nekro Agent: its data folder; what is in its PostgreSQL database does not come
    Nekro(ImportFolder),
    /// SillyTavern-NewAge: its folder, or `server` in it
    Newage(ImportFolder),
    /// What was imported, the newest first
    List,
    /// Remove what an import made; what was changed since stays, and is listed
    Undo {
        /// The number `callgate import list` shows
        id: i64,
    },
}

#[derive(Debug, Args)]
pub struct ImportFolder {
    /// The folder to read
    pub path: PathBuf,
    /// Only list what would come and what cannot
    #[arg(long)]
    pub dry_run: bool,
    /// Bring models that need a key, with the key (callgate.toml is then its owner's alone), and
    /// make new keys for remote clients, which are shown once
    #[arg(long)]
    pub with_secrets: bool,
}
