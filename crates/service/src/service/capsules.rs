//! Sessions as files: taken out here, executed again in [`crate::capsules`].

use std::{fs::OpenOptions, io::BufWriter, os::unix::fs::OpenOptionsExt, path::Path};

use callgate_agent::capsule::{self, About, Capsule};
use callgate_contract::{JournalId, SessionKey};
use serde_json::{Value as Json, json};

use super::Service;
use crate::{ServiceError, packages};

impl Service {
    pub(super) async fn export(
        &self,
        session: &SessionKey,
        turn: Option<JournalId>,
        file: &Path,
    ) -> Result<Json, ServiceError> {
        let capsule = self.capsule(session, turn).await?;
        let failed = |error: std::io::Error| {
            let hint = "name a file that does not exist yet, in a folder that does";
            ServiceError::refused(format!("cannot write {}: {error}", file.display()), hint)
        };
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            // What was said in a chat is nobody else's business.
            .mode(0o600)
            .open(file);
        let opened = opened.map_err(failed)?;
        capsule::write(&capsule, BufWriter::new(&opened))?;
        let left_out = capsule.files.iter().filter(|file| file.content.is_none());
        let left_out: Vec<Json> = left_out
            .map(|file| json!({ "path": file.path(), "bytes": file.size }))
            .collect();
        Ok(json!({
            "file": file,
            "bytes": opened.metadata().map_err(failed)?.len(),
            "turns": capsule.turns.len(),
            "runs": capsule.runs.len() + capsule.turns.iter().map(|it| it.runs.len()).sum::<usize>(),
            "files": capsule.files.len() - left_out.len(),
            "left_out": left_out,
        }))
    }

    /// With the methods that are there now: what code could call is part of what it did.
    pub(super) async fn capsule(
        &self,
        session: &SessionKey,
        turn: Option<JournalId>,
    ) -> Result<Capsule, ServiceError> {
        self.with_plugins().await;
        self.offer_personas().await?;
        // Packages lie beside the sessions.
        let data = self.store.files().sessions_path().parent();
        let installed = data.map_or_else(Vec::new, packages::list);
        let about = About {
            callgate: env!("CARGO_PKG_VERSION").to_owned(),
            packages: installed.iter().map(ToString::to_string).collect(),
            settings: self.config.turns(),
        };
        Ok(capsule::export(&self.store, &self.gate, session, turn, about).await?)
    }
}
