//! Sessions as files: taken out here, executed again in [`crate::capsules`].

use std::{
    fs::OpenOptions,
    io::BufWriter,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use callgate_agent::capsule::{self, About, Capsule, Replayed};
use callgate_contract::{JournalId, SessionKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Capability, Listing, Operation, Requester, Service, ServiceError, capsules, packages};

/// Into a file of the asker's, who is the same user on this machine. No route leads here.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportSession {
    pub session: SessionKey,
    /// Only this turn.
    pub turn: Option<JournalId>,
    /// Absolute: whoever writes it may be somewhere else.
    pub file: PathBuf,
}

impl Operation for ExportSession {
    type Response = ExportedSession;
    const NAME: &'static str = "sessions.export";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let ExportSession {
            session,
            turn,
            file,
        } = self;
        let capsule = service.capsule(&session, turn).await?;
        let failed = |error: std::io::Error| {
            let hint = "name a file that does not exist yet, in a folder that does";
            ServiceError::refused(format!("cannot write {}: {error}", file.display()), hint)
        };
        let opened = OpenOptions::new()
            .write(true)
            .create_new(true)
            // What was said in a chat is nobody else's business.
            .mode(0o600)
            .open(&file);
        let opened = opened.map_err(failed)?;
        capsule::write(&capsule, BufWriter::new(&opened))?;
        let bytes = opened.metadata().map_err(failed)?.len();
        let left_out = capsule.files.iter().filter(|file| file.content.is_none());
        let left_out: Vec<LeftOutFile> = left_out
            .map(|file| LeftOutFile {
                path: file.path(),
                bytes: file.size,
            })
            .collect();
        let of_turns: usize = capsule.turns.iter().map(|turn| turn.runs.len()).sum();
        Ok(ExportedSession {
            bytes,
            turns: capsule.turns.len(),
            runs: capsule.runs.len() + of_turns,
            files: capsule.files.len() - left_out.len(),
            left_out,
            file,
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExportedSession {
    pub file: PathBuf,
    pub bytes: u64,
    pub turns: usize,
    pub runs: usize,
    pub files: usize,
    /// Too large for a capsule.
    pub left_out: Vec<LeftOutFile>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutFile {
    pub path: String,
    pub bytes: u64,
}

/// From its record, in a place of its own on this machine.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayTurn {
    pub id: String,
}

impl Operation for ReplayTurn {
    type Response = Replayed;
    const NAME: &'static str = "turns.replay";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let capsule = service.turn_capsule(&self.id).await?;
        service.replay_capsule(&capsule).await
    }
}

impl Service {
    pub async fn session_file(&self, session: &SessionKey) -> Result<Vec<u8>, ServiceError> {
        written(&self.capsule(session, None).await?)
    }

    pub async fn turn_file(&self, turn: &str) -> Result<Vec<u8>, ServiceError> {
        written(&self.turn_capsule(turn).await?)
    }

    /// Of a file as the two above make it.
    pub async fn replay_file(&self, bytes: Vec<u8>) -> Result<Replayed, ServiceError> {
        let read = tokio::task::spawn_blocking(move || capsule::read(bytes.as_slice()));
        let capsule = read.await.map_err(ServiceError::internal)??;
        self.replay_capsule(&capsule).await
    }

    async fn replay_capsule(&self, capsule: &Capsule) -> Result<Replayed, ServiceError> {
        capsules::replay(self.config(), self.data(), None, capsule).await
    }

    async fn turn_capsule(&self, turn: &str) -> Result<Capsule, ServiceError> {
        let missing = |_| ServiceError::not_found(format!("no turn {turn}"), Listing::Turns);
        let turn = JournalId(turn.parse().map_err(missing)?);
        let session = self.store().turns().get(turn).await?.start.session;
        self.capsule(&session, Some(turn)).await
    }

    /// With the methods that are there now: what code could call is part of what it did.
    async fn capsule(
        &self,
        session: &SessionKey,
        turn: Option<JournalId>,
    ) -> Result<Capsule, ServiceError> {
        self.with_plugins().await;
        self.offer_personas().await?;
        let about = About {
            callgate: env!("CARGO_PKG_VERSION").to_owned(),
            packages: installed_packages(self.data()),
            settings: self.config().turns(),
        };
        Ok(capsule::export(self.store(), self.gate(), session, turn, about).await?)
    }
}

fn installed_packages(data: &Path) -> Vec<String> {
    let installed = packages::list(data);
    installed.iter().map(ToString::to_string).collect()
}

fn written(capsule: &Capsule) -> Result<Vec<u8>, ServiceError> {
    let mut bytes = Vec::new();
    capsule::write(capsule, &mut bytes)?;
    Ok(bytes)
}
