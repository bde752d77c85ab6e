//! Keys: what a program or person shows to be let in, and what each may do.

use callgate_store::{Key, NewKey};
use jiff::{Span, Timestamp, civil::Date, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::List;
use crate::{
    Capability, Operation, Requester, SCOPES, Service, ServiceError, scope::OPERATOR, unknown_scope,
};

/// Characters of a key's name.
const LONGEST_NAME: usize = 100;

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
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let keys = service.store().keys().list().await?;
        Ok(List::whole(keys.into_iter().map(KeyView::from).collect()))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// Each of `operator`, `methods`, `method:NAME`, `chat`, `models`, `read`, `sessions`, `approve`,
    /// `plugins`, `settings`, `metrics`.
    pub scopes: Vec<String>,
    /// The only remote client that may use it; its id is handed over to this key.
    pub client: Option<String>,
    /// What people call it.
    pub name: Option<String>,
    /// When it opens nothing any more: `30d`, `12h` or `2w` from now, a date, or a time. Left out, never.
    pub expires: Option<String>,
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
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        if let Some(unknown) = unknown_scope(&self.scopes) {
            let hint = format!("there are {SCOPES}");
            return Err(ServiceError::invalid(format!("no scope '{unknown}'"), hint));
        }
        let name = self.name.map(|name| name.trim().to_owned());
        let name = name.filter(|name| !name.is_empty());
        if name
            .as_ref()
            .is_some_and(|name| name.chars().count() > LONGEST_NAME)
        {
            let hint = format!("give at most {LONGEST_NAME} characters");
            return Err(ServiceError::invalid("this name is too long", hint));
        }
        let new = NewKey {
            scopes: self.scopes,
            client: self.client.clone(),
            name,
            expires_at: self.expires.as_deref().map(expiry).transpose()?,
        };
        let (id, key) = service.store().keys().create_as(new).await?;
        if let Some(client) = self.client {
            service.remote().clients().handed_over(&client);
        }
        Ok(CreatedKey { id, key })
    }
}

fn expiry(text: &str) -> Result<Timestamp, ServiceError> {
    let now = Timestamp::now();
    let (text, utc) = (text.trim(), TimeZone::UTC);
    let from_now = |span: Span| now.to_zoned(utc.clone()).checked_add(span).ok();
    let midnight = |date: Date| date.to_zoned(utc.clone()).ok();
    let written = text.parse::<Timestamp>().ok();
    let written = written.or_else(|| Some(midnight(text.parse().ok()?)?.timestamp()));
    let written = written.or_else(|| Some(from_now(text.parse().ok()?)?.timestamp()));
    written.filter(|at| *at > now).ok_or_else(|| {
        ServiceError::invalid(
            format!("'{text}' is no time to come"),
            "write 30d, 12h or 2w, a date such as 2030-01-31, or a time",
        )
    })
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
        _: &Requester,
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
    pub name: Option<String>,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub revoked_at: Option<Timestamp>,
    /// From then on it opens nothing.
    #[schemars(with = "Option<String>")]
    pub expires_at: Option<Timestamp>,
    /// To the minute.
    #[schemars(with = "Option<String>")]
    pub last_used_at: Option<Timestamp>,
}

impl From<Key> for KeyView {
    fn from(key: Key) -> Self {
        KeyView {
            id: key.id,
            scopes: key.scopes,
            client: key.client,
            name: key.name,
            created_at: key.created_at,
            revoked_at: key.revoked_at,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
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
