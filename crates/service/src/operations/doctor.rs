//! Whether the machine can run the sandbox, and whether the data directory is sound.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Capability, Operation, Requester, Service, ServiceError, examine};

/// It takes a moment: code is run to see whether the sandbox holds.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunDoctor {}

impl Operation for RunDoctor {
    type Response = DoctorReport;
    const NAME: &'static str = "doctor.run";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        Ok(examine(service.data(), service.config()).await)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    /// Nothing failed.
    pub ok: bool,
    pub checks: Vec<Check>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    pub name: String,
    pub status: CheckStatus,
    pub detail: String,
    pub hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    Ok,
    Warn,
    Fail,
}
