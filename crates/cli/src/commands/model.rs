//! `callgate model`: the models at hand, one more of them, and whether they answer.

mod add;
mod check;

use std::process::ExitCode;

use serde_json::Value as Json;

use callgate_service::request::Request;

use crate::{
    args::{Common, Model, ModelCommand},
    connect::Purpose,
    failure::Failure,
    show,
};

pub async fn perform(common: &Common, model: Model) -> Result<ExitCode, Failure> {
    match model.command {
        ModelCommand::List => list(common).await,
        ModelCommand::Add(new) => add::perform(common, new).await,
        ModelCommand::Test(test) => check::perform(common, test).await,
    }
}

async fn list(common: &Common) -> Result<ExitCode, Failure> {
    let models = super::ask(common, Purpose::Look, Request::Models).await?;
    if common.json {
        show::json(&models)
    } else {
        show_list(&models)
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
             provider's key, start Ollama, or add a model with `callgate model add`",
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
    let default = if model["default"] == true {
        "default".to_owned()
    } else {
        String::new()
    };
    let there = format!("{} {}", text("wire"), text("name"));
    vec![
        text("id"),
        there.trim().to_owned(),
        accepts,
        price(&model["price"]),
        text("source"),
        default,
    ]
}

/// For a million tokens in and out.
fn price(price: &Json) -> String {
    match (price["input"].as_f64(), price["output"].as_f64()) {
        (Some(input), Some(output)) => format!("{input} in, {output} out"),
        _ => "price unknown".to_owned(),
    }
}
