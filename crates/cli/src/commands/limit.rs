//! `callgate limit`: how much people may ask for.

use std::process::ExitCode;

use callgate_contract::Limit;
use callgate_service::operations::{AddLimit, LimitView, ListLimits, RemoveLimit};
use serde_json::Value as Json;

use crate::{
    args::{Common, LimitArguments, LimitCommand},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint, paint_note},
};

pub async fn perform(common: &Common, limit: LimitArguments) -> Result<ExitCode, Failure> {
    match limit.command {
        LimitCommand::List => {
            let limits = super::list(common, Purpose::Look, |page| ListLimits { page }).await?;
            common.show(&limits, |limits| show_limits(limits));
        }
        LimitCommand::Add(new) => {
            let limit = new.limit();
            let added = super::call(common, Purpose::Look, AddLimit { limit }).await?;
            common.show(&added, |added| show_one("added", added));
        }
        LimitCommand::Remove { id } => {
            let removed = super::call(common, Purpose::Look, RemoveLimit { id }).await?;
            common.show(&removed, |removed| show_one("removed", removed));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show_limits(limits: &[LimitView]) {
    for view in limits {
        let id = view.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let source = match (view.made_at, &view.made_by) {
            (Some(at), Some(by)) => format!("made {at} by {by}"),
            _ => "callgate.toml".to_owned(),
        };
        let (id, limit) = (paint(Colour::Bold, &id), sentence(&view.limit));
        show::line(&format!("{id}  {limit}\n   {source}"));
    }
    if limits.is_empty() {
        show::note("no limits: everybody may ask for as much as the budgets hold");
    }
}

fn show_one(done: &str, view: &LimitView) {
    let id = view.id.unwrap_or_default();
    let done = paint_note(Colour::Bold, &format!("{done}:"));
    show::note(&format!("{done} limit {id}, {}", sentence(&view.limit)));
}

/// `20 messages per hour, role=member`; `banned, person=onebot:10001 until=…`.
fn sentence(limit: &Limit) -> String {
    let Ok(Json::Object(mut fields)) = serde_json::to_value(limit) else {
        return String::new();
    };
    let word = |value: &Json| {
        let text = value.as_str().map(str::to_owned);
        text.unwrap_or_else(|| value.to_string())
    };
    let per = fields.remove("per").as_ref().map(word).unwrap_or_default();
    let amounts = ["messages", "tokens", "money"].map(|name| {
        let amount = fields.remove(name)?;
        Some(format!("{} {name}", word(&amount)))
    });
    let amounts: Vec<String> = amounts.into_iter().flatten().collect();
    let bounded = if limit.is_ban() {
        "banned".to_owned()
    } else {
        format!("{} per {per}", amounts.join(", "))
    };
    let whom = fields.iter().map(|(name, value)| match value {
        Json::Bool(_) => name.clone(),
        value => format!("{name}={}", word(value)),
    });
    let whom = whom.collect::<Vec<_>>().join(" ");
    match whom.as_str() {
        "" => format!("{bounded}, everybody"),
        whom => format!("{bounded}, {whom}"),
    }
}
