//! Whether a model answers: one question, a clear verdict, and what to do if it does not.

use std::time::{Duration, Instant};

use callgate_contract::{Model, ModelError, ModelMessage, ModelRequest, Usage};
use callgate_models::{USUAL_SERVERS, find, named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Capability, Listing, Operation, Requester, Service, ServiceError};

/// Local servers load a model before its first word.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks it something small.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestModel {
    pub id: String,
}

impl Operation for TestModel {
    type Response = ModelTest;
    const NAME: &'static str = "models.test";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let mut settings = service.configured().models()?;
        for model in &mut settings.list {
            // A replacement must not answer for a model that fails, nor patience hide that it does.
            model.fallback.clear();
            model.retries = 0;
        }
        let embeds = settings.embedding.as_ref() == Some(&self.id);
        let at_hand = service.models_for(requester).await?;
        let alone = find(&settings, |name| std::env::var(name).ok(), USUAL_SERVERS).await?;
        let model = named(&alone, &self.id).or_else(|error| {
            let known = at_hand.get(&self.id).cloned();
            known.ok_or_else(|| ServiceError::not_found(error.to_string(), Listing::Models))
        })?;
        Ok(ask(&self.id, &*model.model, embeds).await.into())
    }
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

/// What came of asking one model.
pub(super) struct Verdict {
    id: String,
    ok: bool,
    millis: u64,
    text: Option<String>,
    usage: Option<Usage>,
    pub(super) failure: Option<ServiceError>,
    /// The server knows the key, whatever else is wrong.
    pub(super) key_is_good: bool,
}

/// `embeds`: it is there for vectors, and need not be able to talk.
pub(super) async fn ask(id: &str, model: &dyn Model, embeds: bool) -> Verdict {
    let begun = Instant::now();
    let asked = async {
        if embeds {
            let made = model.embed(vec!["OK".to_owned()]).await?;
            let length = made.vectors.first().map_or(0, Vec::len);
            return Ok((format!("vectors of {length} numbers"), made.usage));
        }
        let question = ModelMessage::user("Answer with the one word OK.");
        let reply = model.complete(ModelRequest::new(vec![question])).await?;
        Ok((reply.text, reply.usage))
    };
    let timeout = ModelError::Timeout {
        read_timeout: PATIENCE,
    };
    let answer = tokio::time::timeout(PATIENCE, asked).await;
    let answer = answer.unwrap_or(Err(timeout));
    let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut verdict = Verdict {
        id: id.to_owned(),
        ok: answer.is_ok(),
        millis,
        text: None,
        usage: None,
        failure: None,
        key_is_good: true,
    };
    match answer {
        Ok((text, usage)) => (verdict.text, verdict.usage) = (Some(text), usage),
        Err(error) => {
            verdict.key_is_good = matches!(
                error,
                ModelError::RateLimited { .. } | ModelError::Credits { .. }
            );
            verdict.failure = Some(ServiceError::refused(error.to_string(), hint(&error)));
        }
    }
    verdict
}

fn hint(error: &ModelError) -> &'static str {
    match error {
        ModelError::Auth { .. } => {
            "see that the key is whole, belongs to this provider, and may use this model"
        }
        ModelError::Credits { .. } => "the key is right; its account needs credit",
        ModelError::RateLimited { .. } => "the key is right; try again later",
        ModelError::BadRequest { .. } => {
            "see that the model's name is one the provider knows, and that base_url and wire fit"
        }
        ModelError::Unreachable { .. } => "see that base_url is right and its server runs",
        ModelError::Malformed { .. } => "see that base_url and wire fit each other",
        ModelError::Timeout { .. } | ModelError::CutStream | ModelError::Server { .. } => {
            "the server has trouble of its own; try again later"
        }
        ModelError::ContextLength { .. } | ModelError::Exhausted { .. } => {
            "this model cannot be used for anything"
        }
    }
}
