//! Servers of the Model Context Protocol, whose tools are methods.

use std::time::Duration;

use callgate_plugins::mcp::McpServers;
use callgate_store::LeftBy;

use super::Service;
use crate::ServiceError;

/// How long a command waits for servers; those that take longer it does without.
const PATIENCE: Duration = Duration::from_secs(10);

impl Service {
    /// What was cut off calls methods by name when it goes on. It may wait a moment for the servers that have
    /// them, which everybody else does without until they are there.
    pub(super) async fn with_servers_of_leftovers(&self) -> Result<(), ServiceError> {
        let turns = self.store.turns().cut_off(LeftBy::Earlier).await?;
        if !turns.is_empty()
            || !self
                .store
                .journal()
                .cut_off(LeftBy::Earlier)
                .await?
                .is_empty()
        {
            self.mcp_servers.tried(PATIENCE).await;
        }
        Ok(())
    }

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
