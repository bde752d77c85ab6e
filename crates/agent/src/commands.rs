//! Chat commands. A command is a turn without rounds: stored, answered once, never part of a
//! conversation.

use std::time::Duration;

use callgate_contract::{Allowed, Change, JournalId, Message, Mode, Part, Role, TurnStop};
use callgate_store::{
    ConversationUpdate, Decision, LogRow, NewConversation, Scope, TurnEnd, TurnStart,
};
use serde_json::json;

use crate::{Agent, TurnError, Watch, history::text_of};

const HELP: &str = "/new  begin a new conversation
/reset  forget what was said in this one
/compact  summarise it
/stop  stop what is being done now
/persona [NAME]  show or choose who answers
/model [ID]  show or choose the model
/stats  what this conversation has cost
/approve N [always], /deny N [always]  answer a question of the gate (administrators)
/help  this text";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    New,
    Reset,
    Compact,
    Stop,
    Persona(Option<String>),
    Model(Option<String>),
    Stats,
    Answer {
        id: Option<i64>,
        decision: Decision,
        always: bool,
    },
}

impl Command {
    /// `None` for what is no command of ours: other slashes belong to whoever listens.
    pub(crate) fn read(parts: &[Part]) -> Option<Command> {
        let text = text_of(parts);
        let mut words = text.strip_prefix('/')?.split_whitespace();
        let name = words.next()?;
        let rest: Vec<&str> = words.collect();
        let argument = || (!rest.is_empty()).then(|| rest.join(" "));
        let answer = |decision| Command::Answer {
            id: rest.first().and_then(|id| id.parse().ok()),
            decision,
            always: rest.get(1) == Some(&"always"),
        };
        Some(match name {
            "help" => Command::Help,
            "new" => Command::New,
            "reset" => Command::Reset,
            "compact" => Command::Compact,
            "stop" => Command::Stop,
            "persona" => Command::Persona(argument()),
            "model" => Command::Model(argument()),
            "stats" => Command::Stats,
            "approve" => answer(Decision::Allow),
            "deny" => answer(Decision::Deny),
            _ => return None,
        })
    }
}

impl Agent {
    pub(crate) async fn obey(
        &self,
        command: Command,
        row: &LogRow,
        role: Role,
        watch: Watch,
    ) -> Result<(), TurnError> {
        let id = JournalId::fresh();
        let user = row
            .sender
            .as_ref()
            .map_or_else(String::new, |sender| sender.id.clone());
        let start = TurnStart {
            id,
            session: row.session.clone(),
            conversation: None,
            user: user.clone(),
            role,
            mode: Mode::default(),
            model: String::new(),
            persona: None,
            allowed: Allowed::Only(Vec::new()),
            parent: None,
            depth: 0,
            plan: json!({ "command": text_of(&row.parts) }),
        };
        self.store().turns().begin(&start, &[row.id]).await?;
        let continues = match &command {
            Command::Answer { id: Some(id), .. } if role == Role::Operator => Some(*id),
            _ => None,
        };
        let text = match self.carry_out(command, row, &user, role).await {
            Ok(text) => text,
            Err(error) => error.to_string(),
        };
        let message = Message {
            session: row.session.clone(),
            parts: vec![Part::text(text)],
        };
        let end = TurnEnd {
            stop: TurnStop::Answered,
            report: &json!({}),
            messages: &[],
            changes: &[Change::Send { message }],
            elapsed: Duration::ZERO,
        };
        self.store().turns().finish(id, end).await?;
        self.deliver(&row.session).await;
        if let Some(approval) = continues {
            self.go_on_after(approval, watch).await?;
        }
        Ok(())
    }

    async fn carry_out(
        &self,
        command: Command,
        row: &LogRow,
        user: &str,
        role: Role,
    ) -> Result<String, TurnError> {
        let session = &row.session;
        let conversations = self.store().conversations();
        match command {
            Command::Help => Ok(HELP.to_owned()),
            Command::New => {
                conversations
                    .create(session, NewConversation::default())
                    .await?;
                Ok("A new conversation begins.".into())
            }
            Command::Reset => {
                let update = ConversationUpdate {
                    history: Some(Vec::new()),
                    ..ConversationUpdate::default()
                };
                conversations.update(session, None, update).await?;
                Ok("Forgotten.".into())
            }
            Command::Compact => {
                let conversation = self.conversation(session).await?;
                let persona = self.store().personas().answering(&conversation).await?;
                match self.compact(&conversation, persona.as_ref()).await? {
                    true => Ok("Summarised.".into()),
                    false => Ok("There is nothing to summarise yet.".into()),
                }
            }
            Command::Stop => Ok(match self.stop(session) {
                true => "Stopped.".into(),
                false => "Nothing is being done.".into(),
            }),
            Command::Persona(name) => self.choose_persona(row, name).await,
            Command::Model(id) => self.choose_model(row, id).await,
            Command::Stats => {
                let conversation = self.conversation(session).await?;
                let scope = Scope::Conversation(conversation.id);
                let spent = self.store().turns().spent(scope).await?;
                Ok(format!(
                    "This conversation: {} tokens in, {} out, {} calls, {:.0} s.",
                    spent.tokens_in,
                    spent.tokens_out,
                    spent.calls,
                    Duration::from_millis(spent.millis).as_secs_f64()
                ))
            }
            Command::Answer { .. } if role != Role::Operator => Ok(format!(
                "Only administrators can answer that; {user} is not one."
            )),
            Command::Answer { id: None, .. } => {
                Ok("Say which one: /approve N or /deny N. The question names its number.".into())
            }
            Command::Answer {
                id: Some(id),
                decision,
                always,
            } => {
                self.gate().answer(id, decision, always).await?;
                Ok(match decision {
                    Decision::Allow => "Allowed.".into(),
                    Decision::Deny => "Denied.".into(),
                })
            }
        }
    }

    async fn choose_persona(
        &self,
        row: &LogRow,
        name: Option<String>,
    ) -> Result<String, TurnError> {
        let personas = self.store().personas();
        let Some(name) = name else {
            let now = personas.default(Some(&row.session)).await?.name;
            let all: Vec<String> = personas.list().await?.into_iter().map(|p| p.name).collect();
            return Ok(format!(
                "{now} answers. There are: default, {}",
                all.join(", ")
            ));
        };
        if name != "default" {
            personas.get(&name).await?;
        }
        let chosen = (name != "default").then(|| name.clone());
        let settings = self.store().settings();
        settings
            .change_session(&row.session, |settings| settings.persona = chosen)
            .await?;
        Ok(format!("{name} answers from now on."))
    }

    async fn choose_model(&self, row: &LogRow, id: Option<String>) -> Result<String, TurnError> {
        let settings = self.store().settings();
        let ids = || {
            let all = self.models().all().iter().map(|model| model.id.as_str());
            all.collect::<Vec<_>>().join(", ")
        };
        let Some(id) = id else {
            let choice = settings.session(&row.session).await?.value.model;
            let now = &self.models().choose(choice.as_deref()).id;
            return Ok(format!("The model is {now}. There are: {}", ids()));
        };
        if self.models().get(&id).is_none() {
            return Ok(format!("There is no model '{id}'. There are: {}", ids()));
        }
        let chosen = Some(id.clone());
        settings
            .change_session(&row.session, |settings| settings.model = chosen)
            .await?;
        Ok(format!("The model is {id} from now on."))
    }
}
