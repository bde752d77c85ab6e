//! [`Stage`]: one loaded plugin, and each step of a scenario done to it the way the product does it:
//! calls pass the gate, the rest are steps of its worker.

use std::{cmp::Reverse, path::PathBuf, sync::Arc};

use callgate_agent::prompt::{PromptContext, system_prompt};
use callgate_contract::{
    Arguments, Caller, Grant, JournalId, Kind, MethodInfo, Mode, Principal, Role, SessionKey,
    Surface, Value, json as value_json,
};
use callgate_gate::{CallError, Gate, Outcome, python_text};
use callgate_plugins::{
    Plugins, Worker, WorkerError,
    scenario::{Action, SystemPrompts, asked, sent as told},
};
use callgate_store::Persona;
use serde_json::{Map, Value as Json, json};

use super::{heard::SentMessages, pipeline, python_json::dumps, script::ScriptedModel};
use callgate_service::Service;

use crate::failure::Failure;

/// Where scenarios play, unless a step says otherwise.
const CHAT: &str = "onebot_v11-group_123";
const USER: &str = "u1";

pub struct Stage<'a> {
    service: &'a Service,
    model: ScriptedModel,
    plugins: &'a Plugins,
    gate: &'a Gate,
    plugin: String,
    worker: Arc<Worker>,
    /// Its working directory.
    root: PathBuf,
    heard: SentMessages,
    chat: SessionKey,
    /// What the scenario says that the plugin adds to system prompts.
    additions: Vec<String>,
}

type Observations = Map<String, Json>;

impl<'a> Stage<'a> {
    pub fn new(
        service: &'a Service,
        plugin: String,
        model: ScriptedModel,
        additions: Vec<String>,
    ) -> Result<Self, Failure> {
        let lost = || Failure::new("the plugin's worker is gone", "see `callgate plugin check`");
        let chat = CHAT.parse::<SessionKey>().map_err(|_| lost())?;
        Ok(Stage {
            service,
            model,
            plugins: service.plugins(),
            gate: service.gate(),
            worker: service.plugins().worker_of(&plugin).ok_or_else(lost)?,
            root: service.plugins().home_of(&plugin).ok_or_else(lost)?,
            heard: SentMessages::listen(service.gate()),
            plugin,
            chat,
            additions,
        })
    }

    /// Does it; what came of it, or why it could not be done.
    pub async fn perform(
        &mut self,
        action: Action,
        step: &Observations,
    ) -> Result<Observations, String> {
        // What the plugin does by itself belongs to no step.
        self.heard.take();
        let answers = step.get("llm").and_then(Json::as_array);
        self.model.answer_with(answers.map_or(&[], Vec::as_slice));
        let here = self.caller(self.chat.clone(), USER, Role::Member);
        let expected = step.get("sent").cloned().unwrap_or_default();
        let mut observed = match action {
            Action::Call {
                method,
                positional,
                named,
            } => self.call(&here, &method, positional, named).await?,
            Action::Command {
                name,
                raw_args,
                is_operator,
            } => {
                let role = if is_operator {
                    Role::Operator
                } else {
                    Role::Member
                };
                let caller = self.caller(self.chat.clone(), USER, role);
                self.command(&caller, &name, &raw_args).await?
            }
            Action::UserMessage(message) => self.message(&message).await?,
            Action::Inject => self.step(&here, "inject", true).await?,
            Action::MethodsPrompt => self.step(&here, "prompt", true).await?,
            Action::Cleanup => self.step(&here, "cleanup", false).await?,
            Action::Reset => {
                let context = self.context(&here).await?;
                let asked = self.worker.ask("reset", vec![context], Some(&here)).await;
                result(asked)
            }
            Action::Python(source) => {
                let arguments = vec![
                    self.named(),
                    self.context(&here).await?,
                    ("source".to_owned(), Value::from(source)),
                ];
                let told = result(self.worker.ask("run", arguments, Some(&here)).await);
                // AstrBot's scenarios call it `value`.
                let value = told.get("result").cloned().unwrap_or_default();
                Map::from_iter(told.into_iter().chain([("value".to_owned(), value)]))
            }
            Action::Message(step) => {
                let here = pipeline::session(&step)?.to_string();
                let sent = pipeline::send(self.service, &step).await?;
                let all = self.heard.said().into_iter();
                let all = all.map(|(session, parts)| (session != here).then_some(parts));
                let sent = told(&expected, sent, all.collect(), &self.root);
                Map::from_iter([("sent".to_owned(), sent)])
            }
        };
        // Messages as AstrBot's scenarios tell them.
        if expected[0].is_array() && !observed.contains_key("sent") {
            let said = self.heard.said().into_iter().map(|(_, parts)| parts);
            let said = told(&expected, said.collect(), Vec::new(), &self.root);
            observed.insert("sent".to_owned(), said);
        }
        let (sent, pushed) = self.heard.take();
        observed.entry("sent").or_insert_with(|| json!(sent));
        let expected = step.get("llm_requests").cloned().unwrap_or_default();
        let prompts = SystemPrompts {
            bases: self.base_prompts().await?,
            additions: self.additions.clone(),
        };
        let asked = asked(&expected, &self.model.asked(), &prompts);
        observed.insert("llm_requests".to_owned(), asked);
        let after = observed
            .remove("system_pushed")
            .unwrap_or_else(|| json!([]));
        let all = pushed
            .into_iter()
            .chain(after.as_array().cloned().unwrap_or_default());
        observed.insert("system_pushed".to_owned(), all.collect());
        Ok(observed)
    }

    /// The system prompts of turns to which nobody has added anything, for each persona, the longest first.
    async fn base_prompts(&self) -> Result<Vec<String>, String> {
        let agent = self
            .service
            .agent()
            .await
            .map_err(|failure| failure.message)?;
        let made = agent.store().personas().list().await;
        let made = made.map_err(|error| error.to_string())?;
        let mut caller = self.caller(self.chat.clone(), USER, Role::Member);
        caller.surface = Surface::ToolCall;
        let methods = self.gate.catalogue(&caller);
        let methods: Vec<&MethodInfo> = methods.iter().map(|method| method.info()).collect();
        let prompt = |persona: &str| {
            system_prompt(&PromptContext {
                mode: Mode::Tools,
                persona,
                methods: &methods,
                packages: &[],
            })
        };
        let personas = made.iter().map(|persona| persona.system_prompt.as_str());
        let built_in = Persona::built_in().system_prompt;
        let mut bases: Vec<String> = personas
            .chain([built_in.as_str(), ""])
            .map(prompt)
            .collect();
        bases.sort_by_key(|base| Reverse(base.len()));
        Ok(bases)
    }

    async fn call(
        &self,
        caller: &Caller,
        method: &str,
        positional: Vec<Json>,
        named: Map<String, Json>,
    ) -> Result<Observations, String> {
        let read = |json| value_json::from_json(json).map_err(|error| error.to_string());
        let named = named
            .into_iter()
            .map(|(name, value)| Ok((name, read(value)?)));
        let arguments = Arguments {
            positional: positional.into_iter().map(read).collect::<Result<_, _>>()?,
            named: named.collect::<Result<_, String>>()?,
        };
        // In full, so that no other method of that name is meant.
        let full = format!("plugin:{}/{method}", self.plugin);
        let known = self.gate.find(&full).is_some();
        let name = if known { full.as_str() } else { method };
        let kind = self.gate.find(name).map(|method| method.info().kind);
        let made = self.gate.call(caller, 1, name, arguments).await;
        let mut observed = match made {
            Ok(outcome) => self.outcome(caller, &outcome),
            Err(error) => Map::from_iter([
                ("result".to_owned(), Json::Null),
                ("error".to_owned(), json!(message(&error))),
            ]),
        };
        observed.insert("type".to_owned(), json!(kind));
        Ok(observed)
    }

    fn outcome(&self, caller: &Caller, outcome: &Outcome) -> Observations {
        let value = value_json::to_json(&outcome.value);
        let result = match (outcome.kind, &outcome.value) {
            // Compat(nekro): how the sandbox hands parts over.
            (Kind::MultimodalAgent, _) => {
                json!(format!("<AGENT_RESULT>{}</AGENT_RESULT>", dumps(&value)))
            }
            (_, Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_)) => value,
            (_, Value::List(_) | Value::Dict(_)) => value,
            (_, other) => json!(python_text(other)),
        };
        let pushed: Vec<Json> = outcome
            .text
            .iter()
            .map(|text| {
                json!({
                    "chat_key": caller.session.chat_key(),
                    "msg": text,
                    "trigger": false,
                })
            })
            .collect();
        Map::from_iter([
            ("result".to_owned(), result),
            ("error".to_owned(), json!("")),
            ("system_pushed".to_owned(), json!(pushed)),
        ])
    }

    async fn command(
        &self,
        caller: &Caller,
        name: &str,
        raw_args: &str,
    ) -> Result<Observations, String> {
        let arguments = vec![
            self.context(caller).await?,
            ("name".to_owned(), Value::from(name)),
            ("raw_args".to_owned(), Value::from(raw_args)),
        ];
        let mut said = Vec::new();
        let streamed = async {
            let mut answers = self
                .worker
                .stream("command", arguments, Some(caller))
                .await?;
            while let Some(item) = answers.next().await? {
                let item = value_json::to_json(&item);
                said.push(json!([item["status"], item["message"]]));
            }
            Ok::<_, WorkerError>(Value::Null)
        };
        let mut observed = result(streamed.await);
        if observed["error"] == "" {
            observed.insert("result".to_owned(), json!(said));
        }
        Ok(observed)
    }

    async fn message(&self, message: &Map<String, Json>) -> Result<Observations, String> {
        let text = |key: &str| message.get(key).and_then(Json::as_str);
        let sender = text("sender_id").unwrap_or(USER);
        let chat = match (text("chat_key"), text("chat_type")) {
            (Some(key), _) => key.parse(),
            (None, Some("private")) => format!("onebot_v11-private_{sender}").parse(),
            (None, _) => Ok(self.chat.clone()),
        };
        let chat = chat.map_err(|error| error.to_string())?;
        let caller = self.caller(chat, sender, Role::Member);
        let name = text("sender_name")
            .or(text("sender_nickname"))
            .unwrap_or(sender);
        let written = text("text").unwrap_or_default();
        let told = json!({
            "id": text("message_id").unwrap_or("1"),
            "text": written,
            "parts": [{ "type": "text", "text": written }],
            "sender": { "id": sender, "name": name, "nickname": name },
            "to_me": message.get("is_tome").is_some_and(|it| *it != false && *it != 0),
            "time": jiff::Timestamp::now().as_second(),
            "reference": null,
            "raw": {},
        });
        let told = value_json::from_json(told).map_err(|error| error.to_string())?;
        let arguments = vec![self.context(&caller).await?, ("message".to_owned(), told)];
        let mut observed = result(self.worker.ask("message", arguments, Some(&caller)).await);
        if let Some(signal) = observed.get("result").and_then(|it| it.get("signal")) {
            let signal = signal.clone();
            observed.insert("result".to_owned(), signal);
        }
        Ok(observed)
    }

    /// A step that is about the plugin alone.
    async fn step(
        &self,
        caller: &Caller,
        step: &str,
        in_context: bool,
    ) -> Result<Observations, String> {
        let mut arguments = vec![self.named()];
        if in_context {
            arguments.push(self.context(caller).await?);
        }
        Ok(result(self.worker.ask(step, arguments, Some(caller)).await))
    }

    fn named(&self) -> (String, Value) {
        ("plugin".to_owned(), Value::from(self.plugin.as_str()))
    }

    async fn context(&self, caller: &Caller) -> Result<(String, Value), String> {
        let context = self.plugins.context(caller).await;
        let context = context.map_err(|error| error.to_string())?;
        Ok(("context".to_owned(), context))
    }

    fn caller(&self, session: SessionKey, user: &str, role: Role) -> Caller {
        Caller {
            principal: Principal::person(&session, user),
            session,
            role,
            surface: Surface::Code,
            journal: JournalId::fresh(),
            depth: 0,
            grant: Arc::new(Grant::everything()),
        }
    }
}

fn result(asked: Result<Value, WorkerError>) -> Observations {
    let (result, error) = match asked {
        Ok(value) => (value_json::to_json(&value), String::new()),
        Err(WorkerError::Raised(failure)) => (Json::Null, failure.message),
        Err(error) => (Json::Null, error.to_string()),
    };
    Map::from_iter([
        ("result".to_owned(), result),
        ("error".to_owned(), json!(error)),
    ])
}

/// The exception's own text, without its type.
fn message(error: &CallError) -> String {
    let text = error.to_string();
    if !matches!(error, CallError::Failed { .. }) {
        return text;
    }
    let is_type = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    match text.split_once(": ") {
        Some((kind, message)) if is_type(kind) => message.to_owned(),
        _ => text,
    }
}
