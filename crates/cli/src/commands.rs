//! One file for each command: it makes a request of what was typed and shows the answer.

mod approval;
mod backup;
mod call;
mod chat;
mod client;
mod cost;
mod demo;
pub mod doctor;
mod import;
mod key;
mod limit;
mod manual;
mod mcp;
mod methods;
mod model;
mod open;
mod outbox;
mod persona;
mod platform;
mod plugin;
mod prompt;
mod rule;
mod run;
mod sandbox;
mod send;
mod serve;
mod session;
mod timer;

use std::{path::PathBuf, process::ExitCode};

use callgate_contract::{SessionKey, SessionType};
use serde::Serialize;
use serde_json::{Value as Json, json};

use callgate_service::{
    Operation, Settings,
    config::Config,
    operations::{List, Page},
};

use crate::{
    args::{Arguments, Command, Common, OnBehalf, PluginCommand, SessionCommand},
    connect::{self, Purpose},
    failure::Failure,
    logs, running, show,
};

pub async fn perform(arguments: Arguments) -> Result<ExitCode, Failure> {
    let Arguments {
        mut common,
        command,
    } = arguments;
    if common.data.is_none() && is_for_any_folder(&command) {
        common.data = Some(running::find(common.json)?);
    }
    match command {
        Command::Serve(serve) => serve::perform(&common, serve).await,
        Command::Open(open) => open::perform(&common, open).await,
        Command::Chat(chat) => chat::perform(&common, chat).await,
        Command::Send(send) => send::perform(&common, send).await,
        Command::Run(run) => run::perform(&common, run).await,
        Command::Call(call) => call::perform(&common, call).await,
        Command::Methods(methods) => methods::perform(&common, methods).await,
        Command::Approval(approval) => approval::perform(&common, approval).await,
        Command::Rule(rule) => rule::perform(&common, rule).await,
        Command::Limit(limit) => limit::perform(&common, limit).await,
        Command::Platform(platform) => platform::perform(&common, platform).await,
        Command::Outbox(outbox) => outbox::perform(&common, outbox).await,
        Command::Timer(timer) => timer::perform(&common, timer).await,
        Command::Sandbox(sandbox) => sandbox::perform(&common, sandbox).await,
        Command::Doctor(_) => doctor::perform(&common).await,
        Command::Demo(_) => demo::perform(&common).await,
        Command::Backup(backup) => backup::create(&common, backup).await,
        Command::Verify(verify) => backup::verify(&common, &verify).await,
        Command::Restore(restore) => backup::restore(&common, restore).await,
        Command::Import(import) => import::perform(&common, import).await,
        Command::Plugin(plugin) => plugin::perform(&common, plugin).await,
        Command::Key(key) => key::perform(&common, key).await,
        Command::Client(client) => client::perform(&common, client).await,
        Command::Session(session) => session::perform(&common, session).await,
        Command::Persona(persona) => persona::perform(&common, persona).await,
        Command::Prompt(prompt) => prompt::perform(&common, prompt).await,
        Command::Model(model) => model::perform(&common, model).await,
        Command::Cost(cost) => cost::perform(&common, cost).await,
        Command::Mcp(mcp) => mcp::perform(&common, mcp).await,
        Command::Help(asked) => manual::help(&asked),
        Command::Completions(asked) => Ok(manual::completions(asked.shell)),
        Command::Man(asked) => manual::manual(&asked),
    }
}

/// Does it ask a server of this user's, wherever that was started? The others make a directory their own, or need none.
fn is_for_any_folder(command: &Command) -> bool {
    match command {
        Command::Serve(_)
        | Command::Demo(_)
        | Command::Verify(_)
        | Command::Restore(_)
        | Command::Help(_)
        | Command::Completions(_)
        | Command::Man(_) => false,
        Command::Plugin(plugin) => !matches!(
            plugin.command,
            PluginCommand::Check(_) | PluginCommand::Test(_) | PluginCommand::New(_)
        ),
        Command::Session(session) => !matches!(session.command, SessionCommand::Replay(_)),
        _ => true,
    }
}

impl Common {
    /// As scripts read it, or as people do.
    fn show<T: Serialize + ?Sized>(&self, response: &T, in_words: impl FnOnce(&T)) {
        if self.json {
            show::json(&json!(response));
        } else {
            in_words(response);
        }
    }

    fn data(&self) -> PathBuf {
        self.data.clone().map_or_else(running::here, running::whole)
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let data = self.data();
        let config = Config::load(&data, self.config.as_deref())?;
        Ok(Settings {
            file: Config::file(&data, self.config.as_deref()),
            data,
            config,
            model: None,
            only_model: None,
            plugins: self.plugin.clone(),
            given: Vec::new(),
            logs: logs::kept().clone(),
        })
    }
}

impl OnBehalf {
    fn session(&self) -> Result<SessionKey, Failure> {
        match &self.session {
            Some(session) => Ok(session.clone()),
            None => SessionKey::new("cli", SessionType::FriendMessage, &self.user)
                .map_err(|error| Failure::new(error.to_string(), "choose another --user")),
        }
    }
}

/// One operation, from opening the client to closing it.
async fn call<O: Operation>(
    common: &Common,
    purpose: Purpose,
    operation: O,
) -> Result<O::Response, Failure> {
    let mut client = connect::open(&common.settings()?, purpose).await?;
    let response = client.call(operation).await;
    client.close().await;
    Ok(response?)
}

/// The same for all pages of a list.
async fn list<O, T>(
    common: &Common,
    purpose: Purpose,
    of_page: impl Fn(Page) -> O,
) -> Result<Vec<T>, Failure>
where
    O: Operation<Response = List<T>>,
{
    let mut client = connect::open(&common.settings()?, purpose).await?;
    let mut page = Page {
        limit: Some(u32::MAX),
        ..Page::default()
    };
    let mut items = Vec::new();
    let read = loop {
        match client.call(of_page(page.clone())).await {
            Ok(list) => {
                items.extend(list.items);
                page.cursor = list.next;
                if page.cursor.is_none() {
                    break Ok(items);
                }
            }
            Err(error) => break Err(error),
        }
    };
    client.close().await;
    Ok(read?)
}

/// An answer of another shape than this version expects.
fn read<T: serde::de::DeserializeOwned>(answer: Json) -> Result<T, Failure> {
    serde_json::from_value(answer).map_err(|error| {
        Failure::new(
            format!("the running callgate answered what this one cannot read: {error}"),
            "use the same version of callgate for both",
        )
    })
}
