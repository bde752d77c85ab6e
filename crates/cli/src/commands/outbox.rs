//! `callgate outbox`: messages that were not delivered.

use std::process::ExitCode;

use callgate_service::operations::{
    ListUndelivered, Resolution, ResolveUndelivered, ResolvedMessage, UndeliveredView,
};

use crate::{
    args::{Common, OutboxArguments, OutboxCommand},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint, paint_note},
};

pub async fn perform(common: &Common, outbox: OutboxArguments) -> Result<ExitCode, Failure> {
    let (id, action) = match outbox.command {
        OutboxCommand::List { state } => {
            let every = |page| ListUndelivered { state, page };
            let messages = super::list(common, Purpose::Look, every).await?;
            common.show(&messages, |messages| show_messages(messages));
            return Ok(ExitCode::SUCCESS);
        }
        OutboxCommand::Resend { id } => (id, Resolution::Resend),
        OutboxCommand::Drop { id } => (id, Resolution::Drop),
    };
    let resolve = ResolveUndelivered { id, action };
    let resolved = super::call(common, Purpose::Look, resolve).await?;
    common.show(&resolved, show_resolved);
    Ok(ExitCode::SUCCESS)
}

fn show_messages(messages: &[UndeliveredView]) {
    for message in messages {
        let id = paint(Colour::Bold, &message.id.to_string());
        let state = show::word(&message.state);
        let why = message.reason.as_ref();
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        let text = message.text.replace('\n', "\n   ");
        let (session, since) = (&message.session, message.since);
        show::line(&format!(
            "{id}  {state}{why}\n   {text}\n   {session}, since {since}"
        ));
    }
    if messages.is_empty() {
        show::note("everything was delivered");
    }
}

fn show_resolved(resolved: &ResolvedMessage) {
    let ResolvedMessage { id, session, .. } = resolved;
    let (done, what) = match resolved.action {
        Resolution::Resend => ("queued:", "it is sent as soon as its chat can be reached"),
        Resolution::Drop => ("dropped:", "the session's log keeps it"),
    };
    let done = paint_note(Colour::Bold, done);
    show::note(&format!("{done} message {id} of {session}; {what}"));
}
