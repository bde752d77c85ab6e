//! `callgate chat`: a conversation at the terminal, or line by line from a pipe.

mod input;
mod questions;
mod screen;

use std::{io::IsTerminal, process::ExitCode, sync::Arc};

use callgate_contract::SessionKey;
use callgate_service::keep_time;
use serde_json::json;
use tokio::{sync::mpsc, task::JoinHandle};

use self::{
    input::{Input, InputEvent, Printer},
    questions::{ApprovalDialog, Questions},
    screen::Screen,
};
use super::{
    run::interrupted,
    send::{self, on_interrupt},
};
use callgate_server::control::Client;
use callgate_service::{
    EventListener, Observer, Settings,
    operations::{ListApprovals, ListModels, SendMessage, StopTurn, TurnSummaryLine},
    request::{Event, Request},
};

use crate::{
    args::{Chat, Common},
    failure::Failure,
    show::{self, Colour, paint_note},
};

pub async fn perform(common: &Common, chat: Chat) -> Result<ExitCode, Failure> {
    let session = chat.on_behalf.session()?;
    let settings = common.settings()?;
    let mut talk = Talk {
        client: send::open(common, &chat.by).await?,
        session,
        chat,
        as_json: common.json,
        questions: Questions::default(),
        clock: None,
        settings,
    };
    let at_terminal = std::io::stdin().is_terminal() && !common.json;
    let mut input = if at_terminal {
        talk.greet().await?;
        Input::terminal(talk.settings.data.join("chat_history"))
    } else {
        Input::lines()
    };
    let talked = talk.run(&mut input).await;
    if let Some(clock) = talk.clock.take() {
        clock.abort();
    }
    talk.client.close().await;
    let all_good = talked?;
    Ok(if at_terminal || all_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

struct Talk {
    client: Client,
    settings: Settings,
    session: SessionKey,
    chat: Chat,
    as_json: bool,
    questions: Questions,
    /// Fires timers while we own the directory and nobody else does it.
    clock: Option<JoinHandle<()>>,
}

impl Talk {
    /// True if every turn was answered, or heard in silence.
    async fn run(&mut self, input: &mut Input) -> Result<bool, Failure> {
        let mut all_good = true;
        self.tell_what_waits().await?;
        loop {
            self.keep_time().await?;
            match self.wait_for_line(input).await {
                InputEvent::Message(text) if text.trim().is_empty() => {}
                InputEvent::Message(text) => match self.say(text, input).await {
                    Ok(turn) => all_good &= send::is_good(&turn),
                    // The conversation goes on, unless nobody is there to hear why it did not.
                    Err(failure) if input.is_terminal() => show::failure(&failure, false),
                    Err(failure) => return Err(failure),
                },
                InputEvent::End => return Ok(all_good),
            }
        }
    }

    /// What was asked here before, told before anything is read: the first line may be its answer.
    async fn tell_what_waits(&mut self) -> Result<(), Failure> {
        let here = ListApprovals {
            session: Some(self.session.clone()),
            ..ListApprovals::default()
        };
        let waiting = self.client.call(here).await?;
        for approval in waiting.items.into_iter().rev() {
            self.questions.tell(approval, self.as_json, show::line);
        }
        Ok(())
    }

    async fn greet(&mut self) -> Result<(), Failure> {
        let models = self.client.call(ListModels {}).await?.items;
        let default = models.iter().find(|model| model.default);
        let default = default.map(|model| model.id.as_str());
        let model = self.chat.by.model.as_deref().or(default).unwrap_or("demo");
        show::note(&format!(
            "{} {} answers in {}. /help shows commands, Ctrl-C stops an answer, Ctrl-D leaves.",
            paint_note(Colour::Bold, "Callgate:"),
            paint_note(Colour::Cyan, model),
            self.session
        ));
        if model == "demo" {
            show::note(
                "No model was found: fixed answers stand in for one. Set OPENAI_API_KEY or \
                 another provider's key, or start Ollama.",
            );
        }
        Ok(())
    }

    async fn keep_time(&mut self) -> Result<(), Failure> {
        if let (None, Some(surfaces)) = (&self.clock, self.client.surfaces()) {
            let agent = surfaces.service.agent().await?;
            let plugins = surfaces.service.plugins().clone();
            self.clock = Some(tokio::spawn(async move {
                let forever = std::future::pending;
                tokio::join!(keep_time(agent, forever()), plugins.keep_time(forever()));
            }));
        }
        Ok(())
    }

    /// What goes out meanwhile, such as the answer to a timer, is shown as it comes.
    async fn wait_for_line(&mut self, input: &mut Input) -> InputEvent {
        let listen = Request::Listen {
            session: self.session.clone(),
        };
        let observer = Observer {
            events: Some(aside(input.printer(), self.as_json, self.questions.clone())),
            ..Observer::default()
        };
        let listening = async {
            // If it ends, messages wait in the outbox for what is said next.
            let _ = self.client.perform(listen, observer).await;
            std::future::pending::<InputEvent>().await
        };
        tokio::select! {
            typed = input.next() => typed,
            typed = listening => typed,
            true = interrupted() => InputEvent::End,
        }
    }

    /// Puts it through; what waits for the operator meanwhile is asked about here.
    async fn say(&mut self, text: String, input: &mut Input) -> Result<TurnSummaryLine, Failure> {
        let message = SendMessage {
            text: Some(text),
            parts: Vec::new(),
            session: self.session.clone(),
            user: Some(self.chat.on_behalf.user.clone()),
            mode: self.chat.by.mode.map(Into::into),
            model: self.chat.by.model.clone(),
            wait: true,
            idempotency_key: None,
        };
        let screen = Arc::new(Screen::new(self.chat.verbose));
        let hear = if self.as_json {
            as_lines()
        } else {
            Screen::ear(&screen)
        };
        // Unbounded: what is asked waits for an answer, and cannot be many.
        let (tell, news) = mpsc::unbounded_channel();
        let observer = Observer {
            events: Some(Arc::new(move |event| match event {
                Event::Approval(approval) => tell.send(*approval).is_ok(),
                event => hear(event),
            })),
            ..Observer::default()
        };
        let asking = ApprovalDialog {
            questions: self.questions.clone(),
            news,
            client: self.client.beside(),
            show: &|text| screen.line(text),
            as_json: self.as_json,
        };
        let stop = StopTurn {
            session: self.session.clone(),
        };
        let outside = self.client.is_outside();
        let elsewhere = outside.then(|| (self.settings.clone(), stop));
        let watching = tokio::spawn(on_interrupt(observer.cancel.clone(), elsewhere));
        let turn = tokio::select! {
            turn = self.client.send_message(message, observer) => turn,
            never = asking.answer_all(input) => match never {},
        };
        watching.abort();
        let turn = turn?;
        if self.as_json {
            show::json(&json!(turn))
        } else {
            screen.end();
            if !send::is_good(&turn) || self.chat.verbose {
                send::show_turn(&turn);
            }
        }
        Ok(turn)
    }
}

fn as_lines() -> EventListener {
    Arc::new(|event| {
        if let Event::Message(message) = event {
            show::json(&send::line(&message));
        }
        true
    })
}

/// Messages that come while a line is being typed.
fn aside(printer: Option<Printer>, as_json: bool, questions: Questions) -> EventListener {
    Arc::new(move |event| {
        match (event, &printer) {
            (Event::Message(message), _) if as_json => show::json(&send::line(&message)),
            (Event::Message(message), Some(printer)) => printer.print(&message.parts),
            (Event::Message(message), None) => send::show_parts(&message.parts),
            (Event::Approval(approval), printer) => {
                questions.tell(*approval, as_json, |text| match printer {
                    Some(printer) => printer.print_text(text),
                    None => show::line(text),
                });
            }
            (Event::Turn(_), _) => {}
        }
        true
    })
}
