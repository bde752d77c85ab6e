//! Backups of the data directory: made here, looked at and put back in [`crate::backups`].

use std::path::PathBuf;

use callgate_store::backup::Backup;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Capability, Operation, Requester, Service, ServiceError};

/// Into a folder of the asker's, who is the same user on this machine. No route leads here.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateBackup {
    /// Absolute, and not there yet: whoever writes it may be somewhere else.
    pub folder: PathBuf,
}

impl Operation for CreateBackup {
    type Response = Backup;
    const NAME: &'static str = "backups.create";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        Ok(service.store().back_up(&self.folder).await?)
    }
}
