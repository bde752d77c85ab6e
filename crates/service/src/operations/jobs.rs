//! Jobs of this start of the server, and how far each has come.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{List, Page};
use crate::{Capability, Job, Operation, Requester, Service, ServiceError};

/// The newest first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListJobs {
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListJobs {
    type Response = List<Job>;
    const NAME: &'static str = "jobs.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        self.page.of(service.jobs().list(), |job| job.id.clone())
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetJob {
    pub id: String,
}

impl Operation for GetJob {
    type Response = Job;
    const NAME: &'static str = "jobs.get";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service
            .jobs()
            .get(&self.id)
            .ok_or_else(|| unknown(&self.id))
    }
}

/// It ends soon, and leaves everything as it was; one that is over, or too far, is left alone.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelJob {
    pub id: String,
}

impl Operation for CancelJob {
    type Response = Job;
    const NAME: &'static str = "jobs.cancel";
    const CAPABILITY: Capability = Capability::Plugins;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service
            .jobs()
            .cancel(&self.id)
            .ok_or_else(|| unknown(&self.id))
    }
}

fn unknown(id: &str) -> ServiceError {
    let hint = "jobs are forgotten when the server ends";
    ServiceError::not_found(format!("no job {id}"), hint)
}
