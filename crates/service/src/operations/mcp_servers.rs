//! Servers of the Model Context Protocol, whose tools are methods.

use callgate_plugins::mcp::McpState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::List;
use crate::{Capability, Operation, Requester, Service, ServiceError};

/// Those the operator named, once each is connected or known not to be.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListMcpServers {}

impl Operation for ListMcpServers {
    type Response = List<McpState>;
    const NAME: &'static str = "mcp_servers.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service.with_plugins().await;
        service.with_servers(None).await;
        Ok(List::whole(service.mcp_servers().states()))
    }
}
