//! `callgate model test`: whether models answer, and what to do about those that do not.

use std::process::ExitCode;

use callgate_contract::NamedModel;
use callgate_models::{Demo, USUAL_SERVERS, find, named};
use serde_json::json;

use callgate_service::{models::ask, operations::ModelTest};

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
    let mut tests = Vec::new();
    for model in &models {
        let embeds = settings.embedding.as_ref() == Some(&model.id);
        let test = ModelTest::from(ask(&model.id, &*model.model, embeds).await);
        if !common.json {
            say(&test);
        }
        tests.push(test);
    }
    if common.json {
        show::json(&json!(tests));
    }
    if tests.iter().all(|test| test.ok) {
        Ok(ExitCode::SUCCESS)
    } else {
        Ok(ExitCode::FAILURE)
    }
}

fn say(test: &ModelTest) {
    let id = &test.id;
    let Some(error) = &test.error else {
        let text = test.text.as_deref().unwrap_or_default();
        let said = show::shortened(text.trim(), 40);
        let works = paint(Colour::Green, "works");
        let money = test.usage.and_then(|usage| usage.money);
        let cost = match money {
            #[allow(clippy::cast_precision_loss, reason = "a question costs little")]
            Some(money) => format!(", cost {:.6}", money as f64 / 1e6),
            None => String::new(),
        };
        show::line(&format!("{id}: {works} ({} ms{cost}): {said}", test.millis));
        return;
    };
    show::line(&format!("{id}: {}: {error}", paint(Colour::Red, "fails"),));
    let hint = test.hint.as_deref().unwrap_or_default();
    show::note(&format!("hint: {hint}"));
}
