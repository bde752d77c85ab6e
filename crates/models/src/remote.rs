//! [`Remote`]: a model on a server, whichever its wire.

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    Accepts, BoxFuture, Embeddings, Model, ModelError, ModelInfo, ModelOptions, ModelRequest,
    ModelStream, Price,
};
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};
use secrecy::ExposeSecret;

use crate::{
    decoder::Decoder,
    embedding,
    error::InvalidModel,
    exchange::Exchange,
    failure::refused as refused_by,
    keys::{ApiKey, Keys},
    limit::Lessons,
    price,
    settings::ModelSettings,
    transport::{self, TransportError},
    wire::{Dialect, Wire},
};

#[derive(Debug)]
pub struct Remote {
    /// Shared with every stream, which may outlive the model's place in the catalogue.
    server: Arc<ModelServer>,
    dialect: Dialect,
    options: ModelOptions,
    accepts: Accepts,
    answers_at: Arc<str>,
    embeddings_at: Option<Arc<str>>,
    models_at: Option<Arc<str>>,
    /// Which limits of answers its server takes.
    limits: Lessons,
}

/// How a model's server is spoken to, and how patiently.
#[derive(Debug)]
pub(crate) struct ModelServer {
    pub(crate) id: String,
    pub(crate) keys: Keys,
    pub(crate) read_timeout: Duration,
    pub(crate) retries: u32,
    pub(crate) price: Option<Price>,
    wire: Wire,
    model: String,
    headers: HeaderMap,
}

impl Remote {
    pub fn new(settings: ModelSettings) -> Result<Self, InvalidModel> {
        let wire = settings.wire();
        let headers = headers(wire, &settings)?;
        let base = address(&settings)?;
        let model = settings.name().to_owned();
        let host = base.host_str().unwrap_or_default();
        let server = ModelServer {
            price: settings.price.or_else(|| price::of(host, &model)),
            id: settings.id,
            keys: Keys::new(settings.keys),
            read_timeout: settings.read_timeout,
            retries: settings.retries,
            wire,
            model: model.clone(),
            headers,
        };
        let text = |url: Url| Arc::from(url.as_str());
        Ok(Remote {
            answers_at: text(wire.answers_at(&base, &model)),
            embeddings_at: wire.embeddings_at(&base, &model).map(text),
            models_at: wire.models_at(&base).map(text),
            server: Arc::new(server),
            dialect: Dialect {
                model,
                max_completion_tokens: host == "api.openai.com",
                return_reasoning: settings.return_reasoning,
            },
            options: settings.options,
            limits: Lessons::default(),
            accepts: settings.accepts.unwrap_or_else(|| wire.usually_accepts()),
        })
    }

    async fn begin(&self, mut request: ModelRequest) -> Result<ModelStream, ModelError> {
        let most = request.output_limit;
        loop {
            request.output_limit = self.limits.needed(most);
            let error = match self.exchange(&request).begin().await {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            // Refused before anything was read: it has cost nothing.
            match request.output_limit {
                Some(limit) if self.limits.learn(limit, &error) => {}
                _ => return Err(error),
            }
        }
    }

    fn exchange(&self, request: &ModelRequest) -> Exchange {
        let mut dialect = self.dialect.clone();
        dialect.max_completion_tokens |= self.limits.newer_name();
        let body = self.server.wire.body(&dialect, request).to_string();
        let (server, url) = (Arc::clone(&self.server), Arc::clone(&self.answers_at));
        Exchange::new(server, url, body.into_bytes())
    }

    /// What the provider says against its keys, all of them; `None` where there is no key to ask about.
    pub(crate) async fn refused_key(&self, patience: Duration) -> Option<Option<ModelError>> {
        let url = self.models_at.as_ref()?;
        let mut refused = None;
        for _ in 0..self.server.keys.count() {
            let key = self.server.keys.choose();
            let headers = self.server.headers(&key);
            refused = match transport::get(url, headers, patience).await {
                // 403 may mean that this key lists no models, and is good for answers all the same.
                Err(TransportError::Refused(refusal)) if refusal.status != 403 => {
                    let mut error = refused_by(refusal.status, refusal.retry_after, &refusal.body);
                    if let Some(message) = error.message_mut() {
                        key.hide(message);
                    }
                    Some(error).filter(|error| matches!(error, ModelError::Auth { .. }))
                }
                _ => None,
            };
            if refused.is_none() {
                break;
            }
        }
        (self.server.keys.count() > 0).then_some(refused)
    }

    async fn embedded(&self, texts: &[String]) -> Result<Embeddings, ModelError> {
        let wire = self.server.wire;
        let url = self.embeddings_at.as_ref().ok_or_else(|| {
            let message = format!("the wire '{wire}' has no embeddings");
            ModelError::BadRequest { message }
        })?;
        let mut all = Embeddings::default();
        for texts in texts.chunks(embedding::MOST) {
            let body = embedding::body(wire, &self.dialect.model, texts, &self.options.extra);
            let body = body.to_string().into_bytes();
            let exchange = Exchange::new(Arc::clone(&self.server), Arc::clone(url), body);
            let answer = exchange.whole().await?;
            let mut some = embedding::read(wire, &answer, texts.len())?;
            if let Some(usage) = &mut some.usage {
                usage.money = self.server.price.map(|price| price.of(usage));
            }
            all.vectors.append(&mut some.vectors);
            all.usage = embedding::sum(all.usage, some.usage);
        }
        Ok(all)
    }
}

impl Model for Remote {
    fn stream(&self, mut request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        request.options = request.options.or(&self.options);
        Box::pin(self.begin(request))
    }

    fn accepts(&self) -> Accepts {
        self.accepts
    }

    fn about(&self) -> ModelInfo {
        ModelInfo {
            wire: Some(self.server.wire.to_string()),
            name: Some(self.dialect.model.clone()),
            price: self.server.price,
            fallback: Vec::new(),
        }
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Embeddings, ModelError>> {
        Box::pin(async move { self.embedded(&texts).await })
    }
}

impl ModelServer {
    pub(crate) fn decoder(&self) -> Decoder {
        Decoder::new(self.wire, self.model.as_str())
    }

    /// A header of the operator's own replaces the key.
    pub(crate) fn headers(&self, key: &ApiKey) -> HeaderMap {
        let mut headers = self.headers.clone();
        let (name, before) = self.wire.key_header();
        let shown = key.shown(before).and_then(|shown| secret(&shown));
        if let Some(shown) = shown
            && !headers.contains_key(AUTHORIZATION)
            && !headers.contains_key(name)
        {
            headers.insert(HeaderName::from_static(name), shown);
        }
        headers
    }
}

fn address(settings: &ModelSettings) -> Result<Url, InvalidModel> {
    let url = Url::parse(&settings.base_url).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| InvalidModel::Address {
        id: settings.id.clone(),
        base_url: settings.base_url.clone(),
    })
}

fn headers(wire: Wire, settings: &ModelSettings) -> Result<HeaderMap, InvalidModel> {
    let mut headers = HeaderMap::new();
    for (name, value) in wire.headers() {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
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
