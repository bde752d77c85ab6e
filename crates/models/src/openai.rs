//! The chat-completions wire of OpenAI and of every server that imitates it.

mod calls;
mod decoder;
mod failure;
mod request;
mod sse;
mod think;

pub use decoder::Decoder;
pub use failure::refused;
pub use request::{Dialect, body};

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    Accepts, BoxFuture, Model, ModelError, ModelOptions, ModelRequest, ModelStream,
};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;

use crate::{
    error::InvalidModel,
    exchange::Exchange,
    keys::{Key, Keys},
    settings::ModelSettings,
};

#[derive(Debug)]
pub struct OpenAi {
    /// Shared with every stream, which may outlive the model's place in the catalogue.
    server: Arc<Server>,
    dialect: Dialect,
    options: ModelOptions,
    accepts: Accepts,
}

/// Where a model's requests go, and how patiently.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) keys: Keys,
    pub(crate) silence: Duration,
    pub(crate) retries: u32,
    headers: HeaderMap,
}

impl OpenAi {
    pub fn new(settings: ModelSettings) -> Result<Self, InvalidModel> {
        let headers = headers(&settings)?;
        let (host, url) = address(&settings)?;
        let dialect = Dialect {
            model: settings.model.unwrap_or_else(|| settings.id.clone()),
            max_completion_tokens: host == "api.openai.com",
            return_reasoning: settings.return_reasoning,
        };
        let server = Server {
            id: settings.id,
            url,
            keys: Keys::new(settings.keys),
            silence: settings.silence,
            retries: settings.retries,
            headers,
        };
        Ok(OpenAi {
            server: Arc::new(server),
            dialect,
            options: settings.options,
            accepts: settings.accepts,
        })
    }
}

impl Model for OpenAi {
    fn stream(&self, mut request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        request.options = request.options.or(&self.options);
        let body = body(&self.dialect, &request).to_string();
        let exchange = Exchange::new(Arc::clone(&self.server), body.into_bytes());
        Box::pin(exchange.begin())
    }

    fn accepts(&self) -> Accepts {
        self.accepts
    }
}

impl Server {
    pub(crate) fn headers(&self, key: &Key) -> HeaderMap {
        let mut headers = self.headers.clone();
        let bearer = key.bearer().and_then(|bearer| secret(&bearer));
        if let Some(bearer) = bearer
            && !headers.contains_key(AUTHORIZATION)
        {
            headers.insert(AUTHORIZATION, bearer);
        }
        headers
    }
}

/// The host, and where requests go. A query stays at the end: Azure wants its version there.
fn address(settings: &ModelSettings) -> Result<(String, String), InvalidModel> {
    let url = reqwest::Url::parse(&settings.base_url).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    let mut url = url.ok_or_else(|| InvalidModel::Address {
        id: settings.id.clone(),
        base_url: settings.base_url.clone(),
    })?;
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path);
    let path = format!("{path}/chat/completions");
    url.set_path(&path);
    let host = url.host_str().unwrap_or_default().to_owned();
    Ok((host, url.into()))
}

fn headers(settings: &ModelSettings) -> Result<HeaderMap, InvalidModel> {
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.headers {
        let header = HeaderName::from_bytes(name.as_bytes()).ok();
        let (Some(header), Some(value)) = (header, secret(value.expose_secret())) else {
            return Err(InvalidModel::Header {
                id: settings.id.clone(),
                name: name.clone(),
            });
        };
        headers.insert(header, value);
    }
    let unsendable = |key: &&secrecy::SecretString| secret(key.expose_secret()).is_none();
    match settings.keys.iter().find(unsendable) {
        Some(_) => Err(InvalidModel::Header {
            id: settings.id.clone(),
            name: "key".to_owned(),
        }),
        None => Ok(headers),
    }
}

fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value.trim()).ok()?;
    value.set_sensitive(true);
    Some(value)
}
