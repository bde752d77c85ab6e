//! Models, as the operator adds, tries and arranges them.

use callgate_contract::{Accepts, Price, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Deleted, List};
use crate::{Capability, News, Operation, Principal, Service, ServiceError, models::Verdict};

/// Those at hand.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListModels {}

impl Operation for ListModels {
    type Response = List<ModelView>;
    const NAME: &'static str = "models.list";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        Ok(List::whole(service.model_views().await?))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ModelView {
    pub id: String,
    /// The protocol it is asked by.
    pub wire: Option<String>,
    /// What its provider calls it.
    pub name: Option<String>,
    pub accepts: Accepts,
    pub price: Option<Price>,
    /// Who answers in its place when it cannot, in this order.
    pub fallback: Vec<String>,
    /// `configuration`, `environment`, `this machine`, `built in` or `file`.
    pub source: String,
    /// It answers where nobody chose another.
    pub default: bool,
    /// It looks at images where a chat's own model cannot.
    pub vision: bool,
    /// It turns texts into vectors.
    pub embedding: bool,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewModel {
    pub id: String,
    /// One of those that GET /api/models/found lists; then address and model may be left out.
    pub provider: Option<String>,
    pub base_url: Option<String>,
    pub model: Option<String>,
    pub wire: Option<String>,
    /// Kept in the configuration file, which is then its owner's alone.
    pub key: Option<String>,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    #[serde(default)]
    pub fallback: Vec<String>,
    #[serde(default)]
    pub image: bool,
    #[serde(default)]
    pub audio: bool,
    /// Make it the one that answers where nobody chose another.
    #[serde(default)]
    pub default: bool,
    /// Ask it something first, and write it down only if it answers.
    #[serde(default = "yes")]
    pub check: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MadeModel {
    pub model: ModelView,
    pub test: Option<ModelTest>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ModelTest {
    pub id: String,
    pub ok: bool,
    pub millis: u64,
    pub text: Option<String>,
    pub usage: Option<Usage>,
    pub error: Option<String>,
    pub hint: Option<String>,
}

impl From<Verdict> for ModelTest {
    fn from(verdict: Verdict) -> Self {
        let hint = verdict.failure.as_ref();
        ModelTest {
            hint: hint.map(|failure| failure.hint.to_string()),
            error: verdict.failure.map(|failure| failure.message),
            id: verdict.id,
            ok: verdict.ok,
            millis: verdict.millis,
            text: verdict.text,
            usage: verdict.usage,
        }
    }
}

/// Asks it something small.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestModel {
    pub id: String,
}

impl Operation for TestModel {
    type Response = ModelTest;
    const NAME: &'static str = "models.test";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        service.test_model(&self.id).await
    }
}

/// What is not named stays.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeModel {
    pub id: String,
    /// In this order.
    pub fallback: Option<Vec<String>>,
    /// It answers where nobody chose another.
    pub default: Option<bool>,
    /// It looks at images where a chat's own model cannot.
    pub vision: Option<bool>,
}

impl Operation for ChangeModel {
    type Response = ModelView;
    const NAME: &'static str = "models.change";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        let view = service.change_model(self).await?;
        service.live().announce(&News::Models {});
        Ok(view)
    }
}

/// Out of the configuration.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteModel {
    pub id: String,
}

impl Operation for DeleteModel {
    type Response = Deleted;
    const NAME: &'static str = "models.delete";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        service.delete_model(&self.id).await?;
        service.live().announce(&News::Models {});
        Ok(Deleted { deleted: self.id })
    }
}

/// Keys and local servers that could be used.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FindModels {}

impl Operation for FindModels {
    type Response = FoundModels;
    const NAME: &'static str = "models.find";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        Ok(service.find_model_offers().await)
    }
}

/// What could be used at once.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FoundModels {
    pub providers: Vec<FoundProvider>,
    /// Model servers on this machine that answer.
    pub servers: Vec<FoundServer>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundProvider {
    pub id: String,
    pub base_url: String,
    /// The one that is used where none is named.
    pub model: String,
    /// Environment variables that may hold its key.
    pub variables: Vec<String>,
    /// The one of them that is set.
    pub key_found: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FoundServer {
    pub name: String,
    pub base_url: String,
    pub models: Vec<String>,
}
