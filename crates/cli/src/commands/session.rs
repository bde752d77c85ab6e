//! `callgate session`: chats, and what was said in them.

mod capsule;

use std::process::ExitCode;

use callgate_contract::Part;
use serde_json::Value as Json;

use super::run::part;
use callgate_service::request::Request;

use crate::{
    args::{Common, Session, SessionCommand},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, session: Session) -> Result<ExitCode, Failure> {
    let request = match &session.command {
        SessionCommand::List => Request::Sessions,
        SessionCommand::Show { key, limit } => Request::Session {
            session: key.clone(),
            limit: *limit,
        },
        SessionCommand::Fork { key, upto } => Request::Fork {
            session: key.clone(),
            upto: *upto,
        },
        SessionCommand::Export(export) => return capsule::export(common, export).await,
        SessionCommand::Replay(replay) => return capsule::replay(common, replay).await,
    };
    let answer = super::ask(common, Purpose::Look, request).await?;
    if common.json {
        show::json(&answer);
        return Ok(ExitCode::SUCCESS);
    }
    match session.command {
        SessionCommand::List => show_list(&answer),
        SessionCommand::Show { .. } => show_one(&answer),
        SessionCommand::Fork { .. } => {
            let text = |field: &str| answer[field].as_str().unwrap_or_default();
            show::line(text("conversation"));
            show::note(&format!(
                "the session goes on in this copy of {} messages; {} stays as it is",
                answer["messages"],
                text("from")
            ));
        }
        // Done above.
        SessionCommand::Export(_) | SessionCommand::Replay(_) => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn show_list(sessions: &Json) {
    let sessions = sessions.as_array().map(Vec::as_slice).unwrap_or_default();
    let rows: Vec<Vec<String>> = sessions
        .iter()
        .map(|session| {
            let key = session["session"].as_str().unwrap_or_default();
            let last = &session["last"];
            let at = last["at"].as_str().unwrap_or_default();
            vec![
                key.to_owned(),
                minute(at).to_owned(),
                show::shortened(&words(&last["parts"]), 48),
            ]
        })
        .collect();
    show::data(&show::table(&rows));
    if rows.is_empty() {
        show::note("nothing was said yet; begin with `callgate chat`");
    }
}

fn show_one(session: &Json) {
    for row in session["log"].as_array().into_iter().flatten() {
        let text = |field: &str| row[field].as_str().unwrap_or_default();
        let who = match text("role") {
            "user" => row["sender"]["id"].as_str().unwrap_or("user"),
            role => role,
        };
        let head = format!("{} {who}:", minute(text("at")));
        let stopped = if row["unfinished"] == true {
            paint(Colour::Dim, " [stopped before its end]")
        } else {
            String::new()
        };
        show::line(&format!(
            "{} {}{stopped}",
            paint(Colour::Bold, &head),
            words(&row["parts"])
        ));
    }
    let text = |field: &str| session[field].as_str().unwrap_or_default();
    let count = |field: &str| session[field].as_array().map_or(0, Vec::len);
    show::note(&format!(
        "{}: {} answers; {} conversations, {} turns shown by --json",
        text("session"),
        text("persona"),
        count("conversations"),
        count("turns")
    ));
}

/// Date and time to the minute, of an RFC 3339 time.
fn minute(at: &str) -> &str {
    at.get(..16).unwrap_or(at)
}

fn words(parts: &Json) -> String {
    let parts: Vec<Part> = serde_json::from_value(parts.clone()).unwrap_or_default();
    parts.iter().map(part).collect::<Vec<_>>().join(" ")
}
