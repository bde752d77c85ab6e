//! Servers of the Model Context Protocol, whose tools are methods.

use std::time::Duration;

use callgate_plugins::mcp::McpServers;

use super::Service;

/// How long a command waits for servers; those that take longer it does without.
const PATIENCE: Duration = Duration::from_secs(10);

impl Service {
    /// Those the operator named.
    pub fn mcp_servers(&self) -> &McpServers {
        &self.mcp_servers
    }

    /// Waits for servers that the operator named, unless `method` is there already.
    pub(crate) async fn with_servers(&self, method: Option<&str>) {
        if method.is_none_or(|method| self.gate.find(method).is_none()) {
            self.mcp_servers.settled(PATIENCE).await;
        }
    }
}
