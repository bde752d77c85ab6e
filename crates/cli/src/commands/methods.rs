//! `callgate methods`: what can be called, and how.

use std::process::ExitCode;

use serde_json::Value as Json;

use callgate_service::request::Request;

use crate::{
    args::{Common, Methods},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, methods: Methods) -> Result<ExitCode, Failure> {
    let one = methods.name.is_some();
    let request = match methods.name {
        Some(name) => Request::Method { name },
        None => Request::Methods {
            session: methods.on_behalf.session()?,
        },
    };
    let answer = super::ask(common, Purpose::Look, request).await?;
    match (common.json, one) {
        (true, _) => show::json(&answer),
        (false, true) => show_one(&answer),
        (false, false) => show_all(&answer),
    }
    Ok(ExitCode::SUCCESS)
}

fn show_all(methods: &Json) {
    let rows: Vec<Vec<String>> = methods
        .as_array()
        .into_iter()
        .flatten()
        .map(|method| {
            let text = |field: &str| method[field].as_str().unwrap_or_default().to_owned();
            vec![text("name"), text("kind"), text("origin"), title(method)]
        })
        .collect();
    show::data(&show::table(&rows));
}

/// One without a title of its own is told by what it does.
fn title(method: &Json) -> String {
    let text = |field: &str| method[field].as_str().unwrap_or_default();
    match text("title") {
        title if title != text("name") => title.to_owned(),
        _ => {
            let first = text("description").split(['.', ':', ',']).next();
            first.unwrap_or_default().to_owned()
        }
    }
}

fn show_one(method: &Json) {
    let text = |field: &str| method[field].as_str().unwrap_or_default();
    let head = format!("{}{}", text("name"), text("signature"));
    show::line(&paint(Colour::Bold, &head));
    let about = format!("{}, {}, {}", text("kind"), text("origin"), text("effect"));
    show::line(&paint(Colour::Dim, &about));
    show::line(&format!("\n{}\n\nParameters:", text("doc")));
    let schema = serde_json::to_string_pretty(&method["parameters"]);
    show::line(&schema.unwrap_or_default());
}
