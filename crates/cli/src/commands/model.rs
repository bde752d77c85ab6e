//! `callgate model`: the models at hand, one more of them, and whether they answer.

mod add;
mod check;

use std::process::ExitCode;

use callgate_contract::Price;
use callgate_service::operations::{ListModels, ModelView};

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
    let models = super::call(common, Purpose::Look, ListModels {}).await?;
    common.show(&models.items, |models| show_list(models));
    Ok(ExitCode::SUCCESS)
}

fn show_list(models: &[ModelView]) {
    let rows: Vec<Vec<String>> = models.iter().map(row).collect();
    show::data(&show::table(&rows));
    if models.iter().all(|model| model.id == "demo") {
        show::note(
            "no model was found, so fixed answers stand in for one. Set OPENAI_API_KEY or another \
             provider's key, start Ollama, or add a model with `callgate model add`",
        );
    }
}

fn row(model: &ModelView) -> Vec<String> {
    let mut accepts = vec!["text"];
    accepts.extend(model.accepts.image.then_some("image"));
    accepts.extend(model.accepts.audio.then_some("audio"));
    let there = [&model.wire, &model.name];
    let there: Vec<&str> = there.into_iter().flatten().map(String::as_str).collect();
    let default = if model.default { "default" } else { "" };
    vec![
        model.id.clone(),
        there.join(" "),
        accepts.join(", "),
        model.price.map_or("price unknown".to_owned(), price),
        model.source.clone(),
        default.to_owned(),
    ]
}

/// For a million tokens in and out.
fn price(price: Price) -> String {
    format!("{} in, {} out", price.input, price.output)
}
