//! Sessions as files, over HTTP.

use crate::{ServiceError, operations::WhichCapsule};
use callgate_agent::capsule;
use serde_json::{Value as Json, json};

use crate::Service;
use crate::capsules;

impl Service {
    pub async fn capsule_file(&self, which: WhichCapsule) -> Result<Vec<u8>, ServiceError> {
        let capsule = self.capsule(&which.session, which.turn).await?;
        let mut bytes = Vec::new();
        capsule::write(&capsule, &mut bytes)?;
        Ok(bytes)
    }

    pub async fn replay_file(&self, bytes: Vec<u8>) -> Result<Json, ServiceError> {
        let read = tokio::task::spawn_blocking(move || capsule::read(bytes.as_slice()));
        let capsule = read.await.map_err(ServiceError::internal)??;
        self.replay_here(&capsule).await
    }

    pub async fn replay_turn(&self, which: WhichCapsule) -> Result<Json, ServiceError> {
        let capsule = self.capsule(&which.session, which.turn).await?;
        self.replay_here(&capsule).await
    }

    /// In a place of its own on this machine.
    pub async fn replay_here(&self, capsule: &capsule::Capsule) -> Result<Json, ServiceError> {
        let home = self.store.files().sessions_path().parent();
        let home = home.unwrap_or(std::path::Path::new("."));
        let replayed = capsules::replay(&self.config, home, None, capsule).await?;
        Ok(json!(replayed))
    }
}
