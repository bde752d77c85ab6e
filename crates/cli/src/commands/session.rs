//! `callgate session`: chats, and what was said in them.

mod capsule;
mod settings;

use std::process::ExitCode;

use callgate_contract::{Part, SessionKey};
use callgate_service::operations::{
    DescribeSession, ForkSession, ForkedSession, ListSessions, SessionDetails, SessionView,
};
use callgate_store::LogRole;
use jiff::Timestamp;
use serde::Serialize;

use super::run::part;
use crate::{
    args::{Common, Session, SessionCommand},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, session: Session) -> Result<ExitCode, Failure> {
    match session.command {
        SessionCommand::List => {
            let every = |page| ListSessions { page };
            let sessions: Vec<SessionView> = super::list(common, Purpose::Look, every).await?;
            // The latest last, where one looks.
            let lines: Vec<SessionRow> = sessions.iter().rev().map(SessionRow::from).collect();
            common.show(&lines, |lines| show_list(lines));
        }
        SessionCommand::Show { key, limit } => {
            let one = DescribeSession {
                session: key,
                limit,
            };
            let details = super::call(common, Purpose::Look, one).await?;
            common.show(&details, show_one);
        }
        SessionCommand::Fork { key, upto } => {
            let fork = ForkSession { session: key, upto };
            let forked = super::call(common, Purpose::Look, fork).await?;
            common.show(&forked, show_forked);
        }
        SessionCommand::Set { key, values } => {
            let set = super::call(common, Purpose::Look, settings::update(key, &values)?).await?;
            common.show(&set, settings::show);
        }
        SessionCommand::Export(export) => return capsule::export(common, &export).await,
        SessionCommand::Replay(replay) => return capsule::replay(common, &replay).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// A session in a list, without what only a running server knows of it.
#[derive(Serialize)]
struct SessionRow<'a> {
    session: &'a SessionKey,
    conversations: usize,
    last: Option<LastMessage<'a>>,
}

#[derive(Serialize)]
struct LastMessage<'a> {
    at: Timestamp,
    role: LogRole,
    parts: &'a [Part],
}

impl<'a> From<&'a SessionView> for SessionRow<'a> {
    fn from(view: &'a SessionView) -> Self {
        SessionRow {
            session: &view.session,
            conversations: view.conversations,
            last: view.last.as_ref().map(|last| LastMessage {
                at: last.at,
                role: last.role,
                parts: &last.parts,
            }),
        }
    }
}

fn show_list(sessions: &[SessionRow<'_>]) {
    let rows: Vec<Vec<String>> = sessions
        .iter()
        .map(|session| {
            let (at, said) = match &session.last {
                Some(last) => (minute(last.at), words(last.parts)),
                None => Default::default(),
            };
            vec![session.session.to_string(), at, show::shortened(&said, 48)]
        })
        .collect();
    show::data(&show::table(&rows));
    if rows.is_empty() {
        show::note("nothing was said yet; begin with `callgate chat`");
    }
}

fn show_one(session: &SessionDetails) {
    for row in &session.log {
        let who = match (row.role, &row.sender) {
            (LogRole::User, Some(sender)) => sender.id.as_str(),
            (LogRole::User, None) => "user",
            (LogRole::Assistant, _) => "assistant",
            (LogRole::System, _) => "system",
        };
        let head = format!("{} {who}:", minute(row.at));
        let stopped = if row.unfinished {
            paint(Colour::Dim, " [stopped before its end]")
        } else {
            String::new()
        };
        show::line(&format!(
            "{} {}{stopped}",
            paint(Colour::Bold, &head),
            words(&row.parts)
        ));
    }
    show::note(&format!(
        "{}: {} answers; {} conversations, {} turns shown by --json",
        session.session,
        session.persona,
        session.conversations.len(),
        session.turns.len()
    ));
}

fn show_forked(forked: &ForkedSession) {
    show::line(&forked.conversation.to_string());
    show::note(&format!(
        "the session goes on in this copy of {} messages; {} stays as it is",
        forked.messages, forked.from
    ));
}

/// Date and time to the minute.
fn minute(at: Timestamp) -> String {
    at.to_string().chars().take(16).collect()
}

fn words(parts: &[Part]) -> String {
    parts.iter().map(part).collect::<Vec<_>>().join(" ")
}
