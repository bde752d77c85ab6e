//! One more model: put together from what somebody says of it and what is known of its provider, and tried
//! before it is written down.

use callgate_contract::Model;
use callgate_models::{ModelSettings, PROVIDERS, Provider, Remote};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ModelTest, ModelView,
    trial::{self, Verdict},
};
use crate::{
    Capability, Hint, News, Operation, Requester, Service, ServiceError,
    config::{Config, Entry, NewEntry},
};

/// Tries it and writes it down. It is used at once.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AddModel(pub NewModel);

impl Operation for AddModel {
    type Response = AddedModel;
    const NAME: &'static str = "models.add";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let new = self.0.without_blanks();
        if new.id.trim().is_empty() {
            return Err(ServiceError::invalid(
                "a model needs an id",
                "give it a name of your own",
            ));
        }
        let config = service.configured();
        new.fits(&config)?;
        let (entry, settings) = new.put_together()?;
        // It would be lost among others that cannot be used.
        config.models()?;
        let mut test = None;
        if new.check {
            let verdict = tried(settings).await?;
            if let Some(failure) = verdict.failure.clone().filter(|_| !verdict.key_is_good) {
                let hint = Hint::AddUnchecked(failure.hint.to_string());
                return Err(ServiceError::refused(failure.message, hint));
            }
            test = Some(verdict.into());
        }
        let file = service.config_file();
        entry.append_to(file)?;
        if new.default {
            service.write_default_model(Some(&new.id))?;
        }
        service.read_config().await?;
        service.live().announce(&News::Models {});
        Ok(AddedModel {
            model: service.model_view(requester, &new.id).await?,
            test,
            file: file.display().to_string(),
        })
    }
}

/// Without writing it down.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TryModel(pub NewModel);

impl Operation for TryModel {
    type Response = ModelTest;
    const NAME: &'static str = "models.try";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(self, _: &Service, _: &Requester) -> Result<Self::Response, ServiceError> {
        let (_, settings) = self.0.without_blanks().put_together()?;
        Ok(tried(settings).await?.into())
    }
}

/// What is not said is the provider's. Not to be printed: it may hold a key.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
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
pub struct AddedModel {
    pub model: ModelView,
    /// None if it was not asked anything.
    pub test: Option<ModelTest>,
    /// The configuration that holds it.
    pub file: String,
}

impl NewModel {
    /// A field of a form that was left empty says nothing.
    fn without_blanks(mut self) -> Self {
        for text in [
            &mut self.provider,
            &mut self.base_url,
            &mut self.model,
            &mut self.wire,
            &mut self.key,
            &mut self.key_env,
        ] {
            *text = text.take().filter(|text| !text.trim().is_empty());
        }
        self
    }

    /// Does it go with the models that are configured?
    fn fits(&self, config: &Config) -> Result<(), ServiceError> {
        let listed = |id: &str| config.models.list.iter().any(|entry| entry.id() == id);
        if listed(&self.id) {
            let error = format!("there is a model '{}' already", self.id);
            let hint = "choose another id, or change it in the file";
            return Err(ServiceError::conflict(error, hint));
        }
        if let Some(id) = self.fallback.iter().find(|id| !listed(id)) {
            let error = format!("the fallback '{id}' is no model of the file");
            return Err(ServiceError::conflict(error, "add that one first"));
        }
        Ok(())
    }

    /// As it would be written, and as it would be asked.
    fn put_together(&self) -> Result<(NewEntry, ModelSettings), ServiceError> {
        let provider = self.provider()?;
        let base_url = self.base_url.clone();
        let base_url = base_url.or_else(|| provider.map(|known| known.base_url.to_owned()));
        let base_url = base_url.ok_or_else(|| no_provider(&self.id))?;
        let usual_model = provider.map(|known| known.model.to_owned());
        let mut entry = NewEntry::new(&self.id, &base_url);
        entry.text("model", self.model.clone().or(usual_model).as_deref());
        entry.text("wire", self.wire.as_deref());
        match &self.key {
            Some(key) => entry.secret(key.trim()),
            None => entry.text(Entry::VARIABLE, self.key_variable(provider)?.as_deref()),
        }
        entry.list("fallback", &self.fallback);
        entry.accepts(self.image, self.audio);
        let settings = entry.settings().map_err(|reason| {
            let hint = "docs/configuration.md shows how a model is written down";
            ServiceError::refused(reason, hint)
        })?;
        Ok((entry, settings))
    }

    /// The one that was named; else, where no address is given, the one the model is named after.
    fn provider(&self) -> Result<Option<&'static Provider>, ServiceError> {
        let called = |name: &str| PROVIDERS.iter().find(|known| known.id == name);
        match (&self.provider, &self.base_url) {
            (Some(name), _) => called(name).map(Some).ok_or_else(|| no_provider(name)),
            (None, None) => Ok(called(&self.id)),
            (None, Some(_)) => Ok(None),
        }
    }

    /// The variable that was named, or else the provider's that is set.
    fn key_variable(&self, provider: Option<&Provider>) -> Result<Option<String>, ServiceError> {
        let is_set = |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if let Some(name) = &self.key_env {
            if is_set(name) {
                return Ok(Some(name.clone()));
            }
            let hint = Hint::SetKeyVariable(name.clone());
            return Err(ServiceError::refused(format!("{name} is not set"), hint));
        }
        let Some(provider) = provider else {
            return Ok(None);
        };
        let variables = provider.key_variables();
        match variables.iter().find(|name| is_set(name)) {
            Some(name) => Ok(Some(name.clone())),
            None => Err(ServiceError::refused(
                format!("{} needs a key", provider.id),
                Hint::GiveModelKey(variables),
            )),
        }
    }
}

fn no_provider(name: &str) -> ServiceError {
    let known = PROVIDERS.iter().map(|known| known.id.to_owned()).collect();
    let hint = Hint::KnownProviders(known);
    ServiceError::refused(format!("no provider is called '{name}'"), hint)
}

/// Asks a model that is written down nowhere.
async fn tried(mut settings: ModelSettings) -> Result<Verdict, ServiceError> {
    let id = settings.id.clone();
    settings.retries = 0;
    let model: &dyn Model = &Remote::new(settings)?;
    Ok(trial::ask(&id, model, false).await)
}
