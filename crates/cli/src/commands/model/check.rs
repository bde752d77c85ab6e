//! `callgate model test`: whether models answer, and what to do about those that do not.

use std::process::ExitCode;

use callgate_models::Demo;
use callgate_server::control::Client;
use callgate_service::operations::{ListModels, ModelTest, TestModel as TestRequest};
use serde_json::json;

use crate::{
    args::{Common, TestModel},
    connect::{self, Purpose},
    failure::Failure,
    show::{self, Colour, paint},
};

pub(super) async fn perform(common: &Common, test: TestModel) -> Result<ExitCode, Failure> {
    let mut client = connect::open(&common.settings()?, Purpose::Look).await?;
    let tests = test_all(common, test.ids, &mut client).await;
    client.close().await;
    let tests = tests?;
    if common.json {
        show::json(&json!(tests));
    }
    if tests.iter().all(|test| test.ok) {
        Ok(ExitCode::SUCCESS)
    } else {
        Ok(ExitCode::FAILURE)
    }
}

/// Each is told as soon as it is known.
async fn test_all(
    common: &Common,
    mut ids: Vec<String>,
    client: &mut Client,
) -> Result<Vec<ModelTest>, Failure> {
    if ids.is_empty() {
        let models = client.call(ListModels {}).await?.items;
        ids = models.into_iter().map(|model| model.id).collect();
        if ids.iter().all(|id| id == Demo::ID) {
            let hint = "set OPENAI_API_KEY or another provider's key, or `callgate model add`";
            return Err(Failure::new("there is no model to test", hint));
        }
    }
    let mut tests = Vec::new();
    for id in ids {
        let test = client.call(TestRequest { id }).await?;
        if !common.json {
            say(&test);
        }
        tests.push(test);
    }
    Ok(tests)
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
