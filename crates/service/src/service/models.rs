//! Which models there are, and where each comes from.

use std::collections::BTreeMap;

use callgate_contract::Models;
use callgate_models::{CheckedKey, Demo, LocalServer, USUAL_SERVERS, check_keys, find, named};

use super::Service;
use crate::{News, ServiceError};

impl Service {
    /// The configured ones, else what the environment or this machine offers, else the demo; and
    /// those that were named for this process or as a default, such as a script.
    pub(crate) async fn find_models(&self) -> Result<Models, ServiceError> {
        if let Some(only) = &self.agent.only_model {
            let only = self.metrics.metered(only.clone());
            return Ok(Models::new(only, Vec::new(), None, None));
        }
        let settings = self.configured().models()?;
        let servers: &[LocalServer] = match self.agent.named_model.as_deref() {
            Some(model) if model == Demo::ID || model.starts_with(SCRIPT) => &[],
            _ => USUAL_SERVERS,
        };
        let found = find(&settings, |name| std::env::var(name).ok(), servers).await?;
        let mut others = found.all().to_vec();
        let first = others.remove(0);
        let named_here = [
            &settings.default,
            &settings.vision,
            &settings.embedding,
            &self.agent.named_model,
        ];
        for id in named_here.into_iter().flatten() {
            let model = named(&found, id)?;
            if model.id != first.id && others.iter().all(|other| other.id != model.id) {
                others.push(model);
            }
        }
        let default = self.agent.named_model.clone().or(settings.default);
        let models = Models::new(first, others, default, settings.vision);
        let models = models.map(|model| self.metrics.metered(model));
        Ok(models.with_embedding(settings.embedding))
    }

    /// Asks providers whether they take the keys of models, so that the operator learns of a wrong one before
    /// somebody is left without an answer.
    pub async fn check_model_keys(&self) {
        let Ok(settings) = self.configured().models() else {
            return;
        };
        if self.agent.only_model.is_some() {
            return;
        }
        let checked = check_keys(&settings, |name| std::env::var(name).ok()).await;
        let mut refused = BTreeMap::new();
        for CheckedKey {
            model,
            refused: error,
        } in checked
        {
            if let Some(error) = error {
                tracing::warn!(
                    model,
                    %error,
                    "a model's key is refused: it will not answer until it has another, on the page under Models or in callgate.toml"
                );
                refused.insert(model, error.to_string());
            }
        }
        *self.agent.refused_keys.lock() = refused;
        self.live().announce(&News::Models {});
    }

    /// What its provider says against the key of a model.
    pub(crate) fn refused_key(&self, model: &str) -> Option<String> {
        self.agent.refused_keys.lock().get(model).cloned()
    }

    pub(crate) fn source_of_model(&self, id: &str) -> &'static str {
        let local = |server: &LocalServer| id.starts_with(&format!("{}/", server.name));
        let config = self.configured();
        if config.models.list.iter().any(|entry| entry.id() == id) {
            "configuration"
        } else if id == Demo::ID {
            "built in"
        } else if id.starts_with(SCRIPT) {
            "file"
        } else if USUAL_SERVERS.iter().any(local) {
            "this machine"
        } else {
            "environment"
        }
    }
}

const SCRIPT: &str = "script:";
