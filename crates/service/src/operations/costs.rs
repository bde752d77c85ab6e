//! What models have cost.

use callgate_agent::{CostReport, since};
use callgate_store::CostBy;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Capability, Hint, Operation, Requester, Service, ServiceError};

/// How far back, where nothing is said.
const DEFAULT_SINCE: &str = "30d";

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReportCost {
    /// By what costs are told apart; by day where left out.
    pub by: Option<CostBy>,
    /// `7d`, `24h`, `30m`, `2w`, a date, or a time; 30 days where left out.
    pub since: Option<String>,
}

impl Operation for ReportCost {
    type Response = CostReport;
    const NAME: &'static str = "costs.report";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let text = self.since.as_deref().unwrap_or(DEFAULT_SINCE);
        let since = since(text, Timestamp::now());
        let since = since.map_err(|error| ServiceError::invalid(error, Hint::None))?;
        let by = self.by.unwrap_or_default();
        Ok(CostReport::of(service.store(), by, since).await?)
    }
}
