//! Keys and remote clients, as the operator administers them.

use crate::{ServiceError, remote::OPERATOR};
use callgate_store::ClientState;
use serde_json::{Value as Json, json};

use super::Service;

impl Service {
    /// The operator's key, if this is the first start of a server here.
    pub async fn first_key(&self) -> Result<Option<String>, ServiceError> {
        let keys = self.store.keys().list().await?;
        let operator = |scopes: &[String]| scopes.iter().any(|scope| scope == OPERATOR);
        if keys.iter().any(|key| operator(&key.scopes)) {
            return Ok(None);
        }
        let (_, key) = self.store.keys().create(&[OPERATOR.to_owned()]).await?;
        Ok(Some(key))
    }

    /// Those that asked, and those that are connected now.
    pub(super) async fn list_clients(&self) -> Result<Json, ServiceError> {
        let mut listed = Vec::new();
        let connected = self.remote.roster().clients();
        let is_connected = |id: &str| connected.iter().any(|peer| peer.client() == id);
        for client in self.store.clients().list().await? {
            let here = is_connected(&client.id);
            let mut shown = json!(client);
            shown["connected"] = here.into();
            listed.push(shown);
        }
        for peer in connected {
            if listed.iter().any(|shown| shown["id"] == peer.client()) {
                continue;
            }
            listed.push(json!({
                "id": peer.client(),
                "kind": peer.kind(),
                "description": peer.description(),
                "origin": peer.origin(),
                "state": if peer.standing().key.is_some() { "key" } else { "guest" },
                "connected": true,
            }));
        }
        Ok(Json::Array(listed))
    }

    pub(super) async fn decide_client(
        &self,
        id: &str,
        approve: bool,
    ) -> Result<Json, ServiceError> {
        let state = match approve {
            true => ClientState::Approved,
            false => ClientState::Revoked,
        };
        self.remote.clients().decide(id, state).await?;
        Ok(json!({ "id": id, "state": state }))
    }
}
