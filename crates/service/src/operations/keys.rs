//! Keys: what a program or person shows to be let in, and what each may do.

use callgate_store::Key;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::List;
use crate::{
    Capability, Operation, Principal, SCOPES, Service, ServiceError, scope::OPERATOR, unknown_scope,
};

/// All keys, the oldest first, the revoked included.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListKeys {}

impl Operation for ListKeys {
    type Response = List<KeyView>;
    const NAME: &'static str = "keys.list";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        let keys = service.store().keys().list().await?;
        Ok(List::whole(keys.into_iter().map(KeyView::from).collect()))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// Each of `operator`, `methods`, `method:NAME`, `chat`, `models`.
    pub scopes: Vec<String>,
    /// The only remote client that may use it; its id is handed over to this key.
    pub client: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedKey {
    pub id: String,
    /// It cannot be had again.
    pub key: String,
}

impl Operation for CreateKey {
    type Response = CreatedKey;
    const NAME: &'static str = "keys.create";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        if let Some(unknown) = unknown_scope(&self.scopes) {
            let hint = format!("there are {SCOPES}");
            return Err(ServiceError::invalid(format!("no scope '{unknown}'"), hint));
        }
        let client = self.client.as_deref();
        let keys = service.store().keys();
        let (id, key) = keys.create_for(&self.scopes, client).await?;
        if let Some(client) = client {
            service.remote().clients().handed_over(client);
        }
        Ok(CreatedKey { id, key })
    }
}

/// What was opened with it ends.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeKey {
    pub id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RevokedKey {
    /// Its id.
    pub revoked: String,
}

impl Operation for RevokeKey {
    type Response = RevokedKey;
    const NAME: &'static str = "keys.revoke";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        service.store().keys().revoke(&self.id).await?;
        Ok(RevokedKey { revoked: self.id })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KeyView {
    pub id: String,
    pub scopes: Vec<String>,
    /// The only remote client that may use it.
    pub client: Option<String>,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub revoked_at: Option<Timestamp>,
}

impl From<Key> for KeyView {
    fn from(key: Key) -> Self {
        KeyView {
            id: key.id,
            scopes: key.scopes,
            client: key.client,
            created_at: key.created_at,
            revoked_at: key.revoked_at,
        }
    }
}

impl Service {
    /// The operator's key, if this is the first start of a server here.
    pub async fn first_key(&self) -> Result<Option<String>, ServiceError> {
        let keys = self.store().keys();
        let is_operator = |key: &Key| key.scopes.iter().any(|scope| scope == OPERATOR);
        if keys.list().await?.iter().any(is_operator) {
            return Ok(None);
        }
        let (_, key) = keys.create(&[OPERATOR.to_owned()]).await?;
        Ok(Some(key))
    }
}
