//! Code in the sandbox, run as it would be for a model.

use callgate_agent::RunReport;
use callgate_contract::{JournalId, SessionKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Capability, Observer, Operation, Requester, Service, ServiceError};

/// What it prints and calls is told at /api/events meanwhile.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCode {
    pub code: String,
    /// Whose folders and methods it gets; that of whoever asks where none is named.
    pub session: Option<SessionKey>,
    /// On whose behalf; whoever asks where nobody is named.
    pub user: Option<String>,
    pub timeout_seconds: Option<u64>,
    /// A fresh id for it, if what it prints is to be told from others', or if it may be cancelled.
    pub run: Option<JournalId>,
}

impl Operation for RunCode {
    type Response = RunReport;
    const NAME: &'static str = "runs.create";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service.run_code(requester, self, Observer::default()).await
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelRun {
    pub run: JournalId,
}

impl Operation for CancelRun {
    type Response = CancelledRun;
    const NAME: &'static str = "runs.cancel";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        Ok(CancelledRun {
            cancelled: service.cancel_run(self.run),
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CancelledRun {
    /// False if it does not run here.
    pub cancelled: bool,
}
