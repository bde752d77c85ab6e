//! Whether a model answers: one question, a clear verdict, and what to do if it does not.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use callgate_contract::{Model, ModelError, ModelMessage, ModelRequest, NamedModel, Usage};
use callgate_models::{Demo, USUAL_SERVERS, find, named};
use serde::Serialize;

use crate::{
    args::{Common, TestModel},
    failure::Failure,
    show::{self, Colour, paint},
};

/// Local servers load a model before its first word.
const PATIENCE: Duration = Duration::from_secs(120);

/// What came of asking one model.
#[derive(Debug, Serialize)]
pub(super) struct Verdict {
    id: String,
    pub(super) ok: bool,
    pub(super) millis: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(flatten)]
    pub(super) failure: Option<Failure>,
    /// The server knows the key, whatever else is wrong.
    #[serde(skip)]
    pub(super) key_is_good: bool,
}

pub(super) async fn perform(common: &Common, test: TestModel) -> Result<ExitCode, Failure> {
    let mut settings = common.settings()?.config.models()?;
    for model in &mut settings.list {
        // A replacement must not answer for a model that fails, nor patience hide that it does.
        model.fallback.clear();
        model.retries = 0;
    }
    let found = find(&settings, |name| std::env::var(name).ok(), USUAL_SERVERS).await?;
    let models: Vec<NamedModel> = match test.ids.as_slice() {
        [] => found.all().to_vec(),
        ids => ids
            .iter()
            .map(|id| named(&found, id))
            .collect::<Result<_, _>>()?,
    };
    if test.ids.is_empty() && models.iter().all(|model| model.id == Demo::ID) {
        let hint = "set OPENAI_API_KEY or another provider's key, or `callgate model add`";
        return Err(Failure::new("there is no model to test", hint));
    }
    let mut verdicts = Vec::new();
    for model in &models {
        let embeds = settings.embedding.as_ref() == Some(&model.id);
        let verdict = ask(&model.id, &*model.model, embeds).await;
        if !common.json {
            say(&verdict);
        }
        verdicts.push(verdict);
    }
    if common.json {
        show::json(&serde_json::to_value(&verdicts).unwrap_or_default());
    }
    match verdicts.iter().all(|verdict| verdict.ok) {
        true => Ok(ExitCode::SUCCESS),
        false => Ok(ExitCode::FAILURE),
    }
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
    let timeout = ModelError::Timeout { silence: PATIENCE };
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
            verdict.failure = Some(Failure::new(error.to_string(), hint(&error)));
        }
    }
    verdict
}

fn say(verdict: &Verdict) {
    let id = &verdict.id;
    let Some(failure) = &verdict.failure else {
        let text = verdict.text.as_deref().unwrap_or_default();
        let said = show::shortened(text.trim(), 40);
        let works = paint(Colour::Green, "works");
        let money = verdict.usage.and_then(|usage| usage.money);
        let cost = match money {
            #[allow(clippy::cast_precision_loss, reason = "a question costs little")]
            Some(money) => format!(", cost {:.6}", money as f64 / 1e6),
            None => String::new(),
        };
        show::line(&format!(
            "{id}: {works} ({} ms{cost}): {said}",
            verdict.millis
        ));
        return;
    };
    show::line(&format!(
        "{id}: {}: {}",
        paint(Colour::Red, "fails"),
        failure.error
    ));
    show::note(&format!("hint: {}", failure.hint));
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
