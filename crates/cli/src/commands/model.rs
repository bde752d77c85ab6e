//! `callgate model`: the models at hand.

use std::process::ExitCode;

use serde_json::Value as Json;

use crate::{
    args::{Common, Model, ModelCommand},
    door::Purpose,
    failure::Failure,
    request::Request,
    show,
};

pub async fn perform(common: &Common, model: Model) -> Result<ExitCode, Failure> {
    let ModelCommand::List = model.command;
    let models = super::ask(common, Purpose::Look, Request::Models).await?;
    match common.json {
        true => show::json(&models),
        false => show_list(&models),
    }
    Ok(ExitCode::SUCCESS)
}

fn show_list(models: &Json) {
    let models = models.as_array().map(Vec::as_slice).unwrap_or_default();
    let rows: Vec<Vec<String>> = models.iter().map(row).collect();
    show::data(&show::table(&rows));
    if models.iter().all(|model| model["id"] == "demo") {
        show::note(
            "no model was found, so fixed answers stand in for one. Set OPENAI_API_KEY or another \
             provider's key, start Ollama, or write a model into callgate.toml \
             (docs/configuration.md)",
        );
    }
}

fn row(model: &Json) -> Vec<String> {
    let text = |field: &str| model[field].as_str().unwrap_or_default().to_owned();
    let takes = |what: &&str| model["accepts"][*what] == true;
    let media: Vec<&str> = ["image", "audio"].into_iter().filter(takes).collect();
    let accepts = match media.as_slice() {
        [] => "text".to_owned(),
        media => format!("text, {}", media.join(", ")),
    };
    let default = match model["default"] == true {
        true => "default".to_owned(),
        false => String::new(),
    };
    vec![text("id"), accepts, text("source"), default]
}
