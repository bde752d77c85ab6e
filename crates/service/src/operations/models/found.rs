//! What could be used as a model at once: keys in the environment, and servers on this machine.

use callgate_models::{PROVIDERS, USUAL_SERVERS, local_models};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Capability, Operation, Requester, Service, ServiceError};

/// Keys and local servers that could be used.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FindModels {}

impl Operation for FindModels {
    type Response = FoundModels;
    const NAME: &'static str = "models.find";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(self, _: &Service, _: &Requester) -> Result<Self::Response, ServiceError> {
        let is_set = |name: &&String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let providers = PROVIDERS.iter().map(|provider| {
            let variables = provider.key_variables();
            FoundProvider {
                id: provider.id.to_owned(),
                base_url: provider.base_url.to_owned(),
                model: provider.model.to_owned(),
                key_found: variables.iter().find(is_set).cloned(),
                variables,
            }
        });
        let mut servers: Vec<FoundServer> = Vec::new();
        let host = std::env::var("OLLAMA_HOST").ok();
        for model in local_models(USUAL_SERVERS, host).await {
            let (server, _) = model.id.split_once('/').unwrap_or((&model.id, ""));
            let name = model.name().to_owned();
            match servers.iter_mut().find(|it| it.name == server) {
                Some(known) => known.models.push(name),
                None => servers.push(FoundServer {
                    name: server.to_owned(),
                    base_url: model.base_url.clone(),
                    models: vec![name],
                }),
            }
        }
        Ok(FoundModels {
            providers: providers.collect(),
            servers,
        })
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
