//! [`Failure`]: why a command did not succeed, in one line, and what to do about it in another: by which
//! command of ours that is done, where the service only says what.

use callgate_service::{ErrorCode, Hint, Listing, ServiceError};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub error: String,
    pub hint: String,
}

impl Failure {
    pub fn new(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure {
            error: one_line(&error.into()),
            hint: one_line(&hint.into()),
        }
    }
}

/// Scripts and logs read errors by the line.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

impl<E: Into<ServiceError>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = error.into();
        let hint = match error.hint {
            Hint::None => usual_hint(error.code).to_owned(),
            hint => hint_text(&hint),
        };
        Failure::new(error.message, hint)
    }
}

/// What to do where nobody knew better.
fn usual_hint(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NotFound | ErrorCode::Invalid => "add --help to see what can be given",
        ErrorCode::Conflict => "look again: it has changed meanwhile, or is in use",
        ErrorCode::Busy | ErrorCode::Deadline | ErrorCode::Unavailable => "try again later",
        ErrorCode::StorageFull => "make room where the data directory is, and try again",
        _ => "`callgate doctor` looks at this machine, `callgate --help` lists commands",
    }
}

fn hint_text(hint: &Hint) -> String {
    match hint {
        Hint::None => "`callgate --help` lists commands".to_owned(),
        Hint::Text(text) => text.clone(),
        Hint::List(listing) => match listing {
            Listing::Approvals => "see what waits for an answer with `callgate approval list`",
            Listing::Limits => "see the limits with `callgate limit list`",
            Listing::Outbox => "see what was not delivered with `callgate outbox list`",
            Listing::Rules => "see the rules with `callgate rule list`, standing answers with `callgate approval rules`",
            Listing::Clients => "see the clients with `callgate client list`",
            Listing::Keys => "see the keys with `callgate key list`",
            Listing::Methods => "see them all with `callgate methods`",
            Listing::Models => "see the models with `callgate model list`",
            Listing::Personas => "see the personas with `callgate persona list`",
            Listing::Platforms => "see the platforms with `callgate platform list`",
            Listing::Plugins => "see them all with `callgate plugin list`",
            Listing::Sessions | Listing::Conversations => {
                "see the sessions with `callgate session list`"
            }
            Listing::Turns => "see the turns with `callgate cost --by turn`",
            Listing::Timers => "see the timers with `callgate timer list`",
            Listing::Files => "files of a session lie in /app/shared and /app/uploads",
        }
        .to_owned(),
        Hint::DescribeMethod(name) => {
            format!("`callgate methods {name}` shows how the method is called")
        }
        Hint::Arguments => {
            "give --args as a JSON object by name, or an array by position".to_owned()
        }
        Hint::Budgets => "[budget] in callgate.toml says how much may be spent".to_owned(),
        Hint::AnswerApproval(id) => {
            format!("`callgate approval allow {id}` makes the call, `deny {id}` drops it")
        }
        Hint::PersonaPrompt => "give --prompt TEXT, or --prompt @FILE".to_owned(),
        Hint::OtherNameOrReplace => {
            "choose another name with --name NAME, or overwrite it with --replace".to_owned()
        }
        Hint::NewKey(scope) => format!("`callgate key new --scope {scope}` makes one that does"),
        Hint::NewClientKey => {
            "`callgate key new --client ID` makes a key for it and hands the id over".to_owned()
        }
        Hint::KnownProviders(names) => {
            format!(
                "those known are {}; others need --base-url",
                names.join(", ")
            )
        }
        Hint::GiveModelKey(variables) => format!(
            "set {}, or give --key-env or --key-stdin",
            variables.join(" or ")
        ),
        Hint::SetKeyVariable(name) => format!("export {name}=..., or give the key by --key-stdin"),
        Hint::AddUnchecked(hint) => format!("{hint}; --no-check writes it down all the same"),
        Hint::PluginSettings => {
            "`callgate plugin config NAME` shows the settings and their types".to_owned()
        }
        Hint::Replace => "add --replace to put the new one in its place".to_owned(),
        Hint::Doctor => "run `callgate doctor` to see what is missing".to_owned(),
        other => other.to_string(),
    }
}
