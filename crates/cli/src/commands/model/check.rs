//! `callgate model test`: whether models answer, and what to do about those that do not.

use std::process::ExitCode;

use callgate_contract::NamedModel;
use callgate_models::{Demo, USUAL_SERVERS, find, named};

use callgate_service::models::{Verdict, ask};

use crate::{
    args::{Common, TestModel},
    failure::Failure,
    show::{self, Colour, paint},
};

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
    if verdicts.iter().all(|verdict| verdict.ok) {
        Ok(ExitCode::SUCCESS)
    } else {
        Ok(ExitCode::FAILURE)
    }
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
        failure.message
    ));
    show::note(&format!("hint: {}", failure.hint));
}
