//! Servers of the Model Context Protocol, whose tools are methods.

use std::time::Duration;

use callgate_plugins::mcp::McpServers;
use serde_json::{Value as Json, json};

use super::Service;
use crate::ServiceError;

/// How long a command waits for servers; those that take longer it does without.
const PATIENCE: Duration = Duration::from_secs(10);
impl Service {
    /// Those the operator named.
    pub fn mcp_servers(&self) -> &McpServers {
        &self.servers
    }

    /// Waits for servers that the operator named, unless `method` is there already.
    pub(super) async fn with_servers(&self, method: Option<&str>) {
        if method.is_none_or(|method| self.gate.find(method).is_none()) {
            self.servers.settled(PATIENCE).await;
        }
    }

    pub(super) async fn mcp_states(&self) -> Result<Json, ServiceError> {
        self.with_plugins().await;
        self.servers.settled(PATIENCE).await;
        Ok(json!(self.servers.states()))
    }
}
