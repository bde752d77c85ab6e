//! Models, as the operator adds, tries and arranges them. What changes is used at once.

mod found;
mod new;
mod trial;

use callgate_contract::{Accepts, Models, NamedModel, Price};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Value;

use super::{Deleted, List};
use crate::{Capability, Listing, News, Operation, Requester, Service, ServiceError, config::Edit};

pub use found::{FindModels, FoundModels, FoundProvider, FoundServer};
pub use new::{AddModel, AddedModel, NewModel, TryModel};
pub use trial::{ModelTest, TestModel};

/// Those at hand.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListModels {}

impl Operation for ListModels {
    type Response = List<ModelView>;
    const NAME: &'static str = "models.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        Ok(List::whole(service.model_views(requester).await?))
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
    /// What its provider says against its key, where it refuses it.
    pub key_refused: Option<String>,
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
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let view = service.model_view(requester, &self.id).await?;
        if let Some(fallback) = &self.fallback {
            service.require_configured_model(&self.id)?;
            for id in fallback {
                service.require_configured_model(id)?;
            }
            let ids: Vec<Value> = fallback.iter().map(|id| Value::from(id.as_str())).collect();
            let mut edit = Edit::open(service.config_file())?;
            edit.set_of_model(&self.id, "fallback", &Value::from(ids))?;
            edit.save()?;
        }
        match self.default {
            Some(true) => service.write_default_model(Some(&self.id))?,
            Some(false) if view.default => service.write_default_model(None)?,
            _ => {}
        }
        if let Some(vision) = self.vision.filter(|vision| *vision != view.vision) {
            let id = vision.then(|| Value::from(self.id.as_str()));
            let mut edit = Edit::open(service.config_file())?;
            edit.set("models", "vision", id.as_ref())?;
            edit.save()?;
        }
        service.read_config().await?;
        service.live().announce(&News::Models {});
        service.model_view(requester, &self.id).await
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
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service.model_view(requester, &self.id).await?;
        service.require_configured_model(&self.id)?;
        let config = service.configured();
        let mut edit = Edit::open(service.config_file())?;
        for (field, chosen) in [
            ("default", &config.models.default),
            ("vision", &config.models.vision),
            ("embedding", &config.models.embedding),
        ] {
            if chosen.as_ref() == Some(&self.id) {
                edit.set("models", field, None)?;
            }
        }
        for other in config.models()?.list {
            let rest: Vec<Value> = other
                .fallback
                .iter()
                .filter(|it| **it != self.id)
                .map(|it| Value::from(it.as_str()))
                .collect();
            if rest.len() < other.fallback.len() {
                edit.set_of_model(&other.id, "fallback", &Value::from(rest))?;
            }
        }
        edit.remove_model(&self.id)?;
        edit.save()?;
        service.read_config().await?;
        service.live().announce(&News::Models {});
        Ok(Deleted { deleted: self.id })
    }
}

impl Service {
    /// At the terminal they are looked for; a server that has just begun says so.
    async fn models_for(&self, requester: &Requester) -> Result<Models, ServiceError> {
        match (self.running_agent(), requester) {
            (Some(agent), _) => Ok(agent.models().clone()),
            (None, Requester::Terminal) => self.find_models().await,
            (None, Requester::Key(_)) => Err(ServiceError::starting()),
        }
    }

    async fn model_views(&self, requester: &Requester) -> Result<Vec<ModelView>, ServiceError> {
        let models = self.models_for(requester).await?;
        let default = &models.choose(None).id;
        let is = |chosen: Option<&NamedModel>, id: &str| chosen.is_some_and(|it| it.id == id);
        let view = |model: &NamedModel| {
            let about = model.model.about();
            ModelView {
                id: model.id.clone(),
                wire: about.wire,
                name: about.name,
                accepts: model.model.accepts(),
                price: about.price,
                fallback: about.fallback,
                source: self.source_of_model(&model.id).to_owned(),
                default: model.id == *default,
                vision: is(models.vision(), &model.id),
                embedding: is(models.embedding(), &model.id),
                key_refused: self.refused_key(&model.id),
            }
        };
        Ok(models.all().iter().map(view).collect())
    }

    async fn model_view(&self, requester: &Requester, id: &str) -> Result<ModelView, ServiceError> {
        let unknown = || ServiceError::not_found(format!("no model '{id}'"), Listing::Models);
        let mut views = self.model_views(requester).await?.into_iter();
        views.find(|view| view.id == id).ok_or_else(unknown)
    }

    fn require_configured_model(&self, id: &str) -> Result<(), ServiceError> {
        let config = self.configured();
        if config.models.list.iter().any(|entry| entry.id() == id) {
            return Ok(());
        }
        let error = format!("'{id}' is not in the configuration file");
        let hint = "it was found in the environment or on this machine: add it first";
        Err(ServiceError::conflict(error, hint))
    }

    fn write_default_model(&self, id: Option<&str>) -> Result<(), ServiceError> {
        let mut edit = Edit::open(self.config_file())?;
        edit.set("models", "default", id.map(Value::from).as_ref())?;
        edit.save()
    }
}
