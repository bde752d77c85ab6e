//! [`ModelDraft`]: a model as somebody wants it, put together with what is known of its provider, and
//! tried before it is written down.

use callgate_contract::Model;
use callgate_models::{ModelSettings, PROVIDERS, Provider, Remote};

use super::trial::{self, Verdict};
use crate::{
    ServiceError,
    config::{Config, Entry, NewEntry},
};

/// What is not said is the provider's.
#[derive(Clone, Debug, Default)]
pub struct ModelDraft {
    pub id: String,
    pub provider: Option<String>,
    pub base_url: Option<String>,
    pub model: Option<String>,
    pub wire: Option<String>,
    pub key: Option<KeyFrom>,
    pub fallback: Vec<String>,
    pub image: bool,
    pub audio: bool,
}

/// Where a key is.
#[derive(Clone)]
pub enum KeyFrom {
    /// In this environment variable.
    Variable(String),
    Itself(String),
}

/// Never the key.
impl std::fmt::Debug for KeyFrom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeyFrom::Variable(name) => f.debug_tuple("Variable").field(name).finish(),
            KeyFrom::Itself(_) => f.write_str("Itself"),
        }
    }
}

impl ModelDraft {
    /// Does it go with the models that are configured?
    pub fn fits(&self, config: &Config) -> Result<(), ServiceError> {
        let listed = |id: &str| config.models.list.iter().any(|entry| entry.id() == id);
        if listed(&self.id) {
            let error = format!("there is a model '{}' already", self.id);
            let hint = "choose another id, or change it in the file";
            return Err(ServiceError::refused(error, hint));
        }
        if let Some(id) = self.fallback.iter().find(|id| !listed(id)) {
            let error = format!("the fallback '{id}' is no model of the file");
            return Err(ServiceError::refused(error, "add that one first"));
        }
        Ok(())
    }

    /// As it would be written, and as it would be asked.
    pub fn put_together(&self) -> Result<(NewEntry, ModelSettings), ServiceError> {
        let provider = self.provider()?;
        let base_url = self.base_url.clone();
        let base_url = base_url.or_else(|| provider.map(|known| known.base_url.to_owned()));
        let base_url = base_url.ok_or_else(|| {
            let hint = format!(
                "give its address (base-url), or as provider one of {}",
                names()
            );
            ServiceError::refused(format!("no provider is called '{}'", self.id), hint)
        })?;
        let usual_model = provider.map(|known| known.model.to_owned());
        let mut entry = NewEntry::new(&self.id, &base_url);
        entry.text("model", self.model.clone().or(usual_model).as_deref());
        entry.text("wire", self.wire.as_deref());
        match self.key(provider)? {
            Some(KeyFrom::Variable(name)) => entry.text(Entry::VARIABLE, Some(&name)),
            Some(KeyFrom::Itself(key)) => entry.secret(&key),
            None => {}
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
            (Some(name), _) => called(name).map(Some).ok_or_else(|| {
                let hint = format!("those known are {}; others need --base-url", names());
                ServiceError::refused(format!("no provider is called '{name}'"), hint)
            }),
            (None, None) => Ok(called(&self.id)),
            (None, Some(_)) => Ok(None),
        }
    }

    fn key(&self, provider: Option<&Provider>) -> Result<Option<KeyFrom>, ServiceError> {
        let is_set = |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match &self.key {
            Some(KeyFrom::Variable(name)) if !is_set(name) => {
                let hint = format!("export {name}=..., or give the key by --key-stdin");
                return Err(ServiceError::refused(format!("{name} is not set"), hint));
            }
            Some(key) => return Ok(Some(key.clone())),
            None => {}
        }
        let Some(provider) = provider else {
            return Ok(None);
        };
        let variables = provider.key_variables();
        match variables.iter().find(|name| is_set(name)) {
            Some(name) => Ok(Some(KeyFrom::Variable(name.clone()))),
            None => {
                let error = format!("{} needs a key", provider.id);
                let hint = format!(
                    "set {}, or give --key-env or --key-stdin",
                    variables.join(" or ")
                );
                Err(ServiceError::refused(error, hint))
            }
        }
    }
}

fn names() -> String {
    let names: Vec<&str> = PROVIDERS.iter().map(|known| known.id).collect();
    names.join(", ")
}

/// Asks a model that is written down nowhere.
pub async fn tried(mut settings: ModelSettings) -> Result<Verdict, ServiceError> {
    let id = settings.id.clone();
    settings.retries = 0;
    let model: &dyn Model = &Remote::new(settings)?;
    Ok(trial::ask(&id, model, false).await)
}
