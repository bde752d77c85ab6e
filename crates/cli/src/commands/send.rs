//! `callgate send`: one message through the whole pipeline.

use std::{io::Read, process::ExitCode, sync::Arc};

use callgate_agent::ModelFailure;
use callgate_contract::{Cancel, Message, Part};
use callgate_store::ApprovalState;
use serde_json::{Value as Json, json};

use super::run::{INTERRUPTED, interrupted, part, tell_asked};
use callgate_server::control::{Client, call_running};
use callgate_service::{
    Event, EventListener, Observer, Settings,
    operations::{SendMessage, StopTurn, TurnSummaryLine},
};

use crate::{
    args::{Common, ModelArguments, Send},
    connect::{self, Purpose},
    failure::Failure,
    show::{self, Colour, paint_note},
};

pub async fn perform(common: &Common, send: Send) -> Result<ExitCode, Failure> {
    let message = SendMessage {
        text: Some(read_text(send.text)?),
        parts: Vec::new(),
        session: send.on_behalf.session()?,
        user: Some(send.on_behalf.user),
        mode: send.by.mode.map(Into::into),
        model: send.by.model.clone(),
        wait: true,
        idempotency_key: None,
    };
    let mut client = open(common, &send.by).await?;
    let as_json = common.json;
    let hear: EventListener = Arc::new(move |event| {
        match event {
            Event::Message(message) if as_json => show::json(&line(&message)),
            Event::Message(message) => show_parts(&message.parts),
            Event::Approval(approval) if approval.state == ApprovalState::Pending => {
                tell_asked(approval.id, &approval.method);
            }
            Event::Approval(_) | Event::Turn(_) => {}
        }
        true
    });
    let observer = Observer {
        events: Some(hear),
        ..Observer::default()
    };
    let settings = common.settings()?;
    let stop = StopTurn {
        session: message.session.clone(),
    };
    let elsewhere = client.is_outside().then_some((settings, stop));
    let watching = tokio::spawn(on_interrupt(observer.cancel.clone(), elsewhere));
    let turn = client.send_message(message, observer).await;
    watching.abort();
    let shown = turn.map(|turn| {
        common.show(&turn, show_turn);
        exit_code(&turn)
    });
    client.close().await;
    Ok(shown?)
}

/// Opens the data directory to talk. A model of our own needs a process of our own.
pub async fn open(common: &Common, by: &ModelArguments) -> Result<Client, Failure> {
    let mut settings = common.settings()?;
    settings.model = by.model.clone();
    let client = connect::open(&settings, Purpose::Talk).await?;
    if by.model.is_some() && client.is_outside() {
        return Err(Failure::new(
            "another callgate is running on this data directory, with models of its own",
            "leave out --model and say /model ID, or choose another directory with --data DIR",
        ));
    }
    Ok(client)
}

fn read_text(text: String) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text);
    }
    let mut text = String::new();
    match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(text.trim_end().to_owned()),
        Err(error) => Err(Failure::new(
            format!("cannot read standard input: {error}"),
            "give the message itself instead of -",
        )),
    }
}

/// The first signal stops the turn, wherever it runs; the second ends us as we are.
pub async fn on_interrupt(cancel: Cancel, elsewhere: Option<(Settings, StopTurn)>) {
    if !interrupted().await {
        return;
    }
    show::note("stopping; once more to leave at once");
    cancel.cancel();
    if let Some((settings, stop)) = elsewhere {
        // If it cannot be told, the second signal still works.
        let _ = call_running(&settings.data, &stop).await;
    }
    if interrupted().await {
        // What was under way goes on from its record at the next start.
        std::process::exit(INTERRUPTED);
    }
}

pub fn line(message: &Message) -> Json {
    json!({ "type": "message", "session": message.session, "parts": message.parts })
}

pub fn show_message(parts: &Json) {
    let parts: Vec<Part> = serde_json::from_value(parts.clone()).unwrap_or_default();
    show_parts(&parts);
}

pub fn show_parts(parts: &[Part]) {
    for shown in parts.iter().map(part) {
        show::line(&shown);
    }
}

/// How the turn ended, in a line.
pub fn show_turn(turn: &TurnSummaryLine) {
    let stop = turn.stop.as_str();
    let colour = if is_good(turn) {
        Colour::Green
    } else {
        Colour::Red
    };
    show::note(&format!(
        "{} {}, {}",
        paint_note(colour, &format!("{stop}:")),
        show::count(turn.rounds.into(), "round"),
        show::count(turn.calls.len() as u64, "call"),
    ));
    let hint = match &turn.failure {
        Some(failure) => Some(looked_after(failure)),
        None => hint(stop).map(str::to_owned),
    };
    if let Some(hint) = hint {
        show::note(&format!("{} {hint}", paint_note(Colour::Cyan, "hint:")));
    }
}

/// For whoever looks after the model: the provider's words, and the way on.
pub fn looked_after(failure: &ModelFailure) -> String {
    let ModelFailure { model, message, .. } = failure;
    format!(
        "{message}; `callgate model test {model}` tries it again, `callgate model add` gives it another key"
    )
}

fn hint(stop: &str) -> Option<&'static str> {
    Some(match stop {
        "approval" => "see `callgate approval list`; the turn goes on when you answer",
        "limit" => "agent.rounds in callgate.toml says how often a model is asked",
        "budget" => "[budget] in callgate.toml says how much may be spent",
        _ => return None,
    })
}

/// Answered, or heard in silence.
pub fn is_good(turn: &TurnSummaryLine) -> bool {
    turn.stop == "answered" || turn.stop == "silent"
}

fn exit_code(turn: &TurnSummaryLine) -> ExitCode {
    if is_good(turn) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
