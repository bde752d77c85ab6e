//! Executing a capsule again, in a place of its own: a store, a sandbox and nothing else of this
//! machine. The packages that code finds are those of the data directory in use, read-only.

use std::{io::BufRead, path::Path, sync::Arc};

use callgate_agent::capsule::{self, Capsule, Replay, Replayed};
use callgate_contract::JournalId;
use callgate_sandbox::Jail;
use callgate_store::{Owner, Store, StoreOptions};
use tempfile::TempDir;

use crate::{ServiceError, config::Config, packages};

/// Reads it, or one turn of it with those of the agents it called.
pub fn read(from: impl BufRead, turn: Option<JournalId>) -> Result<Capsule, ServiceError> {
    let mut capsule = capsule::read(from)?;
    let Some(turn) = turn else {
        return Ok(capsule);
    };
    if capsule.turns.iter().all(|it| it.id != turn) {
        return Err(ServiceError::refused(
            format!("the capsule has no turn {}", turn.0),
            "leave out --turn, or export that turn",
        ));
    }
    let mut kept = vec![turn];
    // Turns are in the order they began: whoever asked before whoever was asked.
    for it in &capsule.turns {
        if it.parent.is_some_and(|parent| kept.contains(&parent)) {
            kept.push(it.id);
        }
    }
    capsule.turns.retain(|it| kept.contains(&it.id));
    capsule.runs.clear();
    Ok(capsule)
}

/// In `data`, or in a temporary directory. `home` is where packages are installed.
pub async fn replay(
    config: &Config,
    home: &Path,
    data: Option<&Path>,
    capsule: &Capsule,
) -> Result<Replayed, ServiceError> {
    let temporary = match data {
        Some(_) => None,
        None => Some(TempDir::with_prefix("callgate-replay-").map_err(|error| {
            let hint = "check the space in the folder for temporary files (TMPDIR)";
            ServiceError::refused(format!("cannot make a temporary directory: {error}"), hint)
        })?),
    };
    let temporary = temporary.as_ref().map(TempDir::path);
    let data = data.or(temporary).unwrap_or(home);
    let _owner = Owner::acquire(data)?;
    let options = StoreOptions {
        // Never the operator's own database.
        url: None,
        ..config.store(data)
    };
    let store = Store::open(options).await?;
    let installed = packages::installed_at(home);
    let jail = Jail::new(config.jail(store.files().sessions_path(), installed));
    let jail = Arc::new(jail);
    let warm = jail.clone();
    let warmed = tokio::task::spawn_blocking(move || warm.warm()).await;
    if let Ok(warmed) = warmed {
        warmed?;
    }
    let found = packages::list(home);
    let replay = Replay {
        store,
        sandbox: jail,
        limits: config.limits(),
        packages: found.iter().map(ToString::to_string).collect(),
    };
    Ok(replay.perform(capsule).await?)
}
