//! `callgate methods`: what can be called, and how.

use std::process::ExitCode;

use callgate_contract::Kind;
use callgate_service::operations::{GetMethod, ListMethods, MethodView};
use serde::Serialize;

use crate::{
    args::{Common, Methods},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, methods: Methods) -> Result<ExitCode, Failure> {
    if let Some(name) = methods.name {
        let details = super::call(common, Purpose::Look, GetMethod { name }).await?;
        common.show(&details.method, show_one);
        return Ok(ExitCode::SUCCESS);
    }
    let session = methods.on_behalf.session()?;
    let every = |page| ListMethods {
        session: Some(session.clone()),
        page,
        ..ListMethods::default()
    };
    let methods: Vec<MethodView> = super::list(common, Purpose::Look, every).await?;
    let mut lines: Vec<MethodRow> = methods.iter().map(MethodRow::from).collect();
    // Of several of one name the first is what the name alone calls.
    lines.dedup_by(|one, other| one.name == other.name);
    common.show(&lines, |lines| show_all(lines));
    Ok(ExitCode::SUCCESS)
}

/// A method in a list: what is called how, without all that a model reads of it.
#[derive(Serialize)]
struct MethodRow<'a> {
    name: &'a str,
    kind: Kind,
    origin: &'a str,
    title: &'a str,
    description: &'a str,
    signature: &'a str,
}

impl<'a> From<&'a MethodView> for MethodRow<'a> {
    fn from(method: &'a MethodView) -> Self {
        MethodRow {
            name: &method.name,
            kind: method.kind,
            origin: &method.origin,
            title: &method.title,
            description: &method.description,
            signature: &method.signature,
        }
    }
}

fn show_all(methods: &[MethodRow<'_>]) {
    let rows: Vec<Vec<String>> = methods
        .iter()
        .map(|method| {
            vec![
                method.name.to_owned(),
                show::word(&method.kind),
                method.origin.to_owned(),
                title(method).to_owned(),
            ]
        })
        .collect();
    show::data(&show::table(&rows));
}

/// One without a title of its own is told by what it does.
fn title<'a>(method: &MethodRow<'a>) -> &'a str {
    if method.title != method.name {
        return method.title;
    }
    let first = method.description.split(['.', ':', ',']).next();
    first.unwrap_or_default()
}

fn show_one(method: &MethodView) {
    let head = format!("{}{}", method.name, method.signature);
    show::line(&paint(Colour::Bold, &head));
    let (kind, effect) = (show::word(&method.kind), show::word(&method.effect));
    let about = format!("{kind}, {}, {effect}", method.origin);
    show::line(&paint(Colour::Dim, &about));
    show::line(&format!("\n{}\n\nParameters:", method.doc));
    let schema = serde_json::to_string_pretty(&method.parameters);
    show::line(&schema.unwrap_or_default());
}
