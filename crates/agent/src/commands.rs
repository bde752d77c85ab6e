//! Chat commands. A command is a turn without rounds: stored, answered once, never part of a
//! conversation.

mod choose;
mod described;
mod limit;
mod why;

use std::time::Duration;

use callgate_contract::{
    Allowed, Cancel, Change, JournalId, Message, Mode, Part, Points, Role, SessionKey, SessionType,
    TurnStop,
};
use callgate_store::{
    ConversationUpdate, Decision, LogRole, LogRow, NewConversation, Scope, Standing, TurnEnd,
    TurnStart,
};
use serde_json::json;

pub use self::described::{DescribedCommand, described_commands};
use self::limit::{BanArguments, LimitArguments};
use crate::{
    Agent, TurnError, Watch, amount, compact::Asker, history::text_of, language::Language,
    session::ClaimGuard, texts, turn::TurnPlan,
};

/// Every command there is: what is not here is none of ours.
pub const COMMANDS: [&str; 14] = [
    "help", "new", "reset", "compact", "stop", "persona", "model", "stats", "why", "approve",
    "deny", "ban", "unban", "limit",
];

/// Newest rows among which the person's own tell their language.
const NEWEST: u32 = 50;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    Help,
    New,
    Reset,
    Compact,
    Stop,
    Persona(Option<String>),
    Model(Option<String>),
    Stats,
    Why,
    Ban(BanArguments),
    /// The account.
    Unban(Option<String>),
    Limit(LimitArguments),
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
        let mut words = text.trim_start().strip_prefix('/')?.split_whitespace();
        let name = words.next().filter(|name| COMMANDS.contains(name))?;
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
            "why" => Command::Why,
            "ban" => Command::Ban(BanArguments::read(&rest)),
            "unban" => Command::Unban(argument()),
            "limit" => Command::Limit(LimitArguments::read(&rest)),
            "approve" => answer(Decision::Allow),
            "deny" => answer(Decision::Deny),
            _ => return None,
        })
    }

    /// Done whoever else has a command of that name: they are done beside it. To show and choose what is
    /// ours alone is a name that others may use.
    pub(crate) fn is_everywhere(&self) -> bool {
        !matches!(
            self,
            Command::Persona(_)
                | Command::Model(_)
                | Command::Compact
                | Command::Why
                | Command::Ban(_)
                | Command::Unban(_)
                | Command::Limit(_)
        )
    }

    /// Does it change a chat for everybody in it?
    fn is_for_all(&self) -> bool {
        match self {
            Command::New | Command::Reset | Command::Compact => true,
            Command::Persona(name) | Command::Model(name) => name.is_some(),
            Command::Help | Command::Stop | Command::Stats | Command::Why => false,
            Command::Answer { .. } | Command::Ban(_) | Command::Unban(_) => false,
            Command::Limit(_) => false,
        }
    }

    /// Done twice, it does no more than done once.
    fn is_idempotent(&self) -> bool {
        match self {
            Command::Help | Command::Stop | Command::Stats | Command::Reset => true,
            Command::Persona(_) | Command::Model(_) | Command::Why => true,
            Command::Ban(_) | Command::Unban(_) | Command::Limit(_) => true,
            Command::New | Command::Compact | Command::Answer { .. } => false,
        }
    }
}

impl Agent {
    /// False where whoever gave it is beyond a limit. To stop is always allowed.
    pub(crate) async fn run_command(
        &self,
        command: Command,
        row: &LogRow,
        role: Role,
        watch: Watch,
    ) -> Result<bool, TurnError> {
        if command != Command::Stop
            && let Some(refusal) = self.refusal_of(row, role).await?
        {
            self.refuse(row, role, refusal, true).await?;
            return Ok(false);
        }
        let (start, claim) = self.begin_command(row, role).await?;
        claim.ends_with(self.finish_command(command, &start, watch).await)?;
        Ok(true)
    }

    /// After a crash that came between a command and its answer.
    pub(crate) async fn run_command_again(&self, start: &TurnStart) -> Result<(), TurnError> {
        let claim = self.claim_turn(&start.session, start.id);
        let plan = TurnPlan::of(start);
        if let Some(text) = plan.refusal.or(plan.announcement) {
            return claim.ends_with(self.reply(start, text).await);
        }
        let text = plan.command.unwrap_or_default();
        claim.ends_with(match Command::read(&[Part::text(text.as_str())]) {
            Some(command) if command.is_idempotent() => {
                self.finish_command(command, start, Watch::default()).await
            }
            _ => self.reply(start, texts::interrupted(&text)).await,
        })
    }

    pub(crate) async fn begin_command(
        &self,
        row: &LogRow,
        role: Role,
    ) -> Result<(TurnStart, ClaimGuard), TurnError> {
        let plan = TurnPlan {
            command: Some(text_of(&row.parts)),
            ..TurnPlan::default()
        };
        self.begin_without_rounds(row, role, &plan).await
    }

    /// Says what the operator wants to be said. It is a turn without rounds: no model is asked.
    pub(crate) async fn announce(&self, row: &LogRow, role: Role) -> Result<(), TurnError> {
        let text = text_of(&row.parts);
        let plan = TurnPlan {
            announcement: Some(text.clone()),
            ..TurnPlan::default()
        };
        let (start, claim) = self.begin_without_rounds(row, role, &plan).await?;
        claim.ends_with(self.reply(&start, text).await)
    }

    /// A turn without rounds, which takes the row.
    pub(crate) async fn begin_without_rounds(
        &self,
        row: &LogRow,
        role: Role,
        plan: &TurnPlan,
    ) -> Result<(TurnStart, ClaimGuard), TurnError> {
        let start = TurnStart {
            id: JournalId::fresh(),
            session: row.session.clone(),
            conversation: None,
            principal: row.principal(),
            role,
            mode: Mode::default(),
            model: String::new(),
            persona: None,
            allowed: Allowed::Only(Vec::new()),
            parent: None,
            depth: 0,
            unprompted: plan.announcement.is_some() && !row.mentioned,
            plan: plan.to_json(),
        };
        let claim = self.claim_turn(&start.session, start.id);
        self.store().turns().begin(&start, &[row.id]).await?;
        Ok((start, claim))
    }

    /// Ends a turn without rounds by saying this.
    pub(crate) async fn reply(&self, start: &TurnStart, text: String) -> Result<(), TurnError> {
        let message = Message {
            session: start.session.clone(),
            parts: vec![Part::text(text)],
        };
        let end = TurnEnd {
            tainted: false,
            calls: false,
            stop: TurnStop::Answered,
            report: &json!({}),
            messages: &[],
            changes: &[Change::Send { message }],
            elapsed: Duration::ZERO,
        };
        self.store().turns().finish(start.id, end).await?;
        self.deliver(&start.session).await;
        Ok(())
    }

    async fn finish_command(
        &self,
        command: Command,
        start: &TurnStart,
        watch: Watch,
    ) -> Result<(), TurnError> {
        let continues = match &command {
            Command::Answer { id: Some(id), .. } if self.may_answer(*id, start).await? => Some(*id),
            _ => None,
        };
        let language = self.language_in(start).await?;
        let text = match self.carry_out(command, start, language).await {
            Ok(text) => text,
            Err(error) if error.is_temporary() => return Err(error),
            Err(error) => error.to_string(),
        };
        self.reply(start, text).await?;
        if let Some(approval) = continues {
            self.resume_after_approval(approval, watch).await?;
        }
        Ok(())
    }

    /// A private chat is its person's own. Others than administrators may change nothing of a chat that
    /// they share, nor stop what is done for somebody else, nor answer for the operator.
    fn is_permitted(&self, command: &Command, start: &TurnStart) -> bool {
        let session = &start.session;
        let is_shared = session.kind() != SessionType::FriendMessage;
        start.role.administers()
            || match command {
                // Whose one with a number is, `may_answer` says.
                Command::Answer { .. } | Command::Ban(_) | Command::Unban(_) => false,
                Command::Limit(arguments) => *arguments == LimitArguments::List,
                Command::Stop if is_shared => {
                    !self.is_answering(session) || self.is_answering_to(session, &start.principal)
                }
                command => !(is_shared && command.is_for_all()),
            }
    }

    /// Of whoever gave the command: a command itself is the same in every language, so that what its
    /// giver last said decides.
    async fn language_in(&self, start: &TurnStart) -> Result<Language, TurnError> {
        let command = TurnPlan::of(start).command.unwrap_or_default();
        if Language::of(&command) != Language::default() {
            return Ok(Language::of(&command));
        }
        let rows = self.store().log().list(&start.session, NEWEST).await?;
        let is_theirs = |row: &&LogRow| {
            row.role == LogRole::User
                && row.principal() == start.principal
                && Command::read(&row.parts).is_none()
        };
        let last = rows.iter().rev().find(is_theirs);
        Ok(last.map_or_else(Language::default, |row| Language::of_parts(&row.parts)))
    }

    async fn carry_out(
        &self,
        command: Command,
        start: &TurnStart,
        language: Language,
    ) -> Result<String, TurnError> {
        let is_permitted = match &command {
            Command::Answer { id: Some(id), .. } => self.may_answer(*id, start).await?,
            command => self.is_permitted(command, start),
        };
        if !is_permitted {
            return Ok(texts::administrators_only(
                language,
                &start.principal.user(),
            ));
        }
        let session = &start.session;
        let conversations = self.store().conversations();
        match command {
            Command::Help => Ok(texts::help(language).into()),
            Command::New => {
                conversations
                    .create(session, NewConversation::default())
                    .await?;
                self.tell_reset(session).await;
                Ok(texts::new_conversation(language).into())
            }
            Command::Reset => {
                let update = ConversationUpdate {
                    history: Some(Vec::new()),
                    ..ConversationUpdate::default()
                };
                conversations.update(session, None, update).await?;
                self.tell_reset(session).await;
                Ok(texts::forgotten(language).into())
            }
            Command::Compact => {
                let conversation = self.conversation(session).await?;
                let persona = self.store().personas().answering(&conversation).await?;
                let cancel = Cancel::default();
                let asker = Asker {
                    principal: &start.principal,
                    cancel: &cancel,
                };
                let done = self.compact(&conversation, persona.as_ref(), asker).await?;
                Ok(texts::summarised(language, done).into())
            }
            Command::Stop => Ok(texts::stopped(language, self.stop(session)).into()),
            Command::Persona(name) => self.choose_persona(session, name, language).await,
            Command::Model(id) => self.choose_model(session, id, language).await,
            Command::Stats => {
                let conversation = self.conversation(session).await?;
                let scope = Scope::Conversation(conversation.id);
                let spent = self.store().turns().spent(scope).await?;
                let money = spent.money.map(amount);
                let cost = texts::Cost {
                    tokens_in: spent.tokens_in,
                    tokens_out: spent.tokens_out,
                    calls: spent.calls,
                    seconds: Duration::from_millis(spent.millis).as_secs_f64(),
                    money: money.as_deref(),
                    at_least: spent.unpriced > 0,
                };
                Ok(texts::cost(language, &cost))
            }
            Command::Why => self.why(start, language).await,
            Command::Ban(arguments) => self.ban(start, arguments, language).await,
            Command::Limit(arguments) => self.limit(start, arguments, language).await,
            Command::Unban(account) => self.unban(session, account, language).await,
            Command::Answer { id: None, .. } => Ok(texts::which_approval(language).into()),
            Command::Answer {
                id: Some(id),
                decision,
                always,
            } => {
                let who = start.principal.to_string();
                let gate = self.gate();
                let standing = always.then(Standing::default);
                gate.answer_as(Some(&who), id, decision, standing).await?;
                Ok(texts::answered(language, decision == Decision::Allow).into())
            }
        }
    }

    async fn tell_reset(&self, session: &SessionKey) {
        for listener in self.listeners(Points::RESET) {
            listener.reset(session).await;
        }
    }
}
