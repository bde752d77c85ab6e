//! Plugins as a listener of messages and turns. One step per worker and point, for all its plugins: a
//! worker none of whose plugins wants to hear of a point is not asked. Nothing here can fail a turn.

mod cut_off;
mod hearer;

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use callgate_contract::{
    Arguments, ArrivalFacts, BoxFuture, Caller, Contribution, Grant, JournalId, Listener,
    MethodError, Part, Points, Principal, Role, SessionKey, Surface, TurnFacts, Value, Verdict,
    json,
};
use serde_json::{Value as Json, json};
use tokio::time::timeout;

use self::hearer::{Hearer, NEKRO, points_of};
use crate::{
    WorkerError,
    context::{KnownSpeaker, text},
    failure::described,
    frame::NamedValues,
    host,
    plugins::Inner,
};

/// How long all plugins of a worker together may take to speak up in a round.
const COLLECT: Duration = Duration::from_secs(15);

pub(crate) struct PluginListener(pub(crate) Weak<Inner>);

impl PluginListener {
    async fn context(
        &self,
        session: &SessionKey,
        speaker: KnownSpeaker,
        turn: Option<JournalId>,
    ) -> Option<Value> {
        let inner = self.0.upgrade()?;
        let facts = inner.contexts.of(session, speaker, turn).await;
        let told =
            facts.inspect_err(|error| tracing::warn!(%session, %error, "plugin hook failed"));
        let mut facts = told.ok()?;
        let off = inner.switches.off_in(session);
        if let (Value::Dict(facts), false) = (&mut facts, off.is_empty()) {
            // A worker hears of a message once, for all its plugins but these.
            facts.push((text("off"), data(json!(off))));
        }
        Some(facts)
    }

    async fn hear(&self, message: &ArrivalFacts) -> Verdict {
        let speaker = KnownSpeaker {
            id: message.user.clone(),
            name: Some(message.name.clone()),
            role: Some(message.role),
        };
        let Some(context) = self.context(&message.session, speaker, None).await else {
            return Verdict::Pass;
        };
        let caller = caller(&message.session, &message.principal, message.role);
        let words = words(&message.parts);
        let mut verdict = Verdict::Pass;
        if self.is_shunned(message).await {
            verdict = Verdict::NoTurn;
        }
        for hearer in self.hearers(&message.session) {
            let is_for_others = message.obeyed && hearer.command(&words).is_none();
            // What stands in no log is no message: somebody joined, was muted. AstrBot's plugins know such events.
            let is_unknown_here = message.row == 0 && !hearer.is_astrbot();
            if is_for_others || is_unknown_here || !hearer.hears(Points::ARRIVED) {
                continue;
            }
            let said = if hearer.is_astrbot() {
                self.event(&hearer, message, &words, &caller).await
            } else if let Some((name, rest)) = hearer.command(&words) {
                self.command(&hearer, name, rest, &context, &caller).await
            } else {
                let asked = vec![
                    ("context".to_owned(), context.clone()),
                    ("message".to_owned(), described_message(message, &words)),
                ];
                let answer = hearer.worker.ask("message", asked, Some(&caller)).await;
                answer.map(|answer| signal(&described(&answer))).unwrap_or_else(|error| {
                    tracing::warn!(worker = hearer.worker.name(), %error, "plugin worker failed on a message");
                    Verdict::Pass
                })
            };
            verdict = verdict.max(said);
            if matches!(verdict, Verdict::Hide | Verdict::Taken) {
                break;
            }
        }
        verdict
    }

    /// Compat(nekro): a plugin may keep a person from being answered, by a date in their row.
    async fn is_shunned(&self, message: &ArrivalFacts) -> bool {
        let platform = message.session.platform();
        match self.0.upgrade() {
            Some(inner) => host::is_shunned(&inner.store, platform, &message.user).await,
            None => false,
        }
    }

    async fn event(
        &self,
        hearer: &Hearer,
        message: &ArrivalFacts,
        words: &str,
        caller: &Caller,
    ) -> Verdict {
        let inner = self.0.upgrade();
        let facts = json!({
            "off": inner.map(|inner| inner.switches.off_in(&message.session)).unwrap_or_default(),
            "row": message.row,
            "role": message.role.to_plugins(),
            "wake": message.mentioned || message.prefix.is_some(),
            "wanted": message.wanted,
            "obeyed": message.obeyed,
            "prefix": message.prefix,
            "adapter": message.platform.as_ref().map(|it| json!({
                "kind": it.kind, "bot": it.bot, "chat_name": it.chat_name, "raw": it.raw,
            })),
        });
        let asked = vec![
            ("ref".to_owned(), text(message.row.to_string())),
            ("message".to_owned(), described_message(message, words)),
            ("facts".to_owned(), data(facts)),
        ];
        match hearer.worker.ask("event", asked, Some(caller)).await {
            Ok(answer) => match described(&answer)["verdict"].as_str() {
                Some("taken") => Verdict::Taken,
                _ => Verdict::Pass,
            },
            Err(error) => {
                tracing::warn!(worker = hearer.worker.name(), %error, "plugin worker failed on an event");
                match error {
                    WorkerError::Ended { .. } => self.cut_off(message, caller, &error).await,
                    _ => Verdict::Pass,
                }
            }
        }
    }

    /// Runs a command and sends each of its answers as it comes.
    async fn command(
        &self,
        hearer: &Hearer,
        name: &str,
        rest: &str,
        context: &Value,
        caller: &Caller,
    ) -> Verdict {
        let asked = vec![
            ("context".to_owned(), context.clone()),
            ("name".to_owned(), text(name)),
            ("raw_args".to_owned(), text(rest)),
            ("said".to_owned(), text(format!("/{name} {rest}"))),
        ];
        let mut sequence = 0;
        let sending = async {
            let mut answers = hearer.worker.stream("command", asked, Some(caller)).await?;
            while let Some(answer) = answers.next().await? {
                sequence += 1;
                let parts = described(&answer)["parts"].take();
                self.send(caller, sequence, parts).await?;
            }
            Ok::<_, MethodError>(())
        };
        if let Err(error) = sending.await {
            tracing::warn!(command = name, error = error.message, "command failed");
            let told = json!([{ "type": "text", "text": format!("/{name}: {}", error.message) }]);
            if let Err(error) = self.send(caller, sequence + 1, told).await {
                tracing::warn!(
                    command = name,
                    error = error.message,
                    "could not report a failed command"
                );
            }
        }
        Verdict::Taken
    }

    async fn send(&self, caller: &Caller, sequence: u64, parts: Json) -> Result<(), MethodError> {
        if parts.as_array().is_none_or(Vec::is_empty) {
            return Ok(());
        }
        let gone = || MethodError::new("the product is being stopped");
        let inner = self.0.upgrade().ok_or_else(gone)?;
        let arguments = Arguments::by_name(vec![
            ("session".to_owned(), text(caller.session.to_string())),
            ("parts".to_owned(), data(parts)),
            ("record".to_owned(), Value::Bool(false)),
        ]);
        let sent = inner
            .gate
            .call(caller, sequence, "message_send", arguments)
            .await;
        sent.map(drop)
            .map_err(|error| MethodError::new(error.to_string()))
    }

    async fn contribute(&self, turn: &TurnFacts) -> Contribution {
        let mut contribution = Contribution::default();
        let speaker = KnownSpeaker {
            id: turn.user.clone(),
            ..KnownSpeaker::default()
        };
        let mut context = None;
        for hearer in self.hearers(&turn.session) {
            if !hearer.hears(Points::COLLECT) {
                continue;
            }
            if context.is_none() {
                let turn_id = Some(turn.turn);
                context = self.context(&turn.session, speaker.clone(), turn_id).await;
            }
            let Some(context) = context.clone() else {
                return contribution;
            };
            let caller = caller(&turn.session, &turn.principal, Role::Member);
            let asked = vec![("context".to_owned(), context)];
            let answer = hearer.worker.ask("collect", asked, Some(&caller));
            match timeout(COLLECT, answer).await {
                Ok(Ok(answer)) => add(&mut contribution, &hearer, &described(&answer)),
                Ok(Err(error)) => {
                    tracing::warn!(worker = hearer.worker.name(), %error, "plugin hook failed; adding nothing");
                }
                Err(_) => {
                    tracing::warn!(
                        worker = hearer.worker.name(),
                        "plugins exceeded the time limit of a hook"
                    );
                }
            }
        }
        contribution
    }

    /// A step whose answer is a signal, or nothing.
    async fn tell(
        &self,
        point: Points,
        step: &str,
        session: &SessionKey,
        more: NamedValues,
    ) -> Verdict {
        let mut verdict = Verdict::Pass;
        for hearer in self.hearers(session) {
            if hearer.is_astrbot() || !hearer.hears(point) {
                continue;
            }
            let Some(context) = self.context(session, KnownSpeaker::default(), None).await else {
                return verdict;
            };
            let mut asked = vec![("context".to_owned(), context)];
            asked.extend(more.clone());
            let caller = caller(session, &Principal::System, Role::Member);
            match hearer.worker.ask(step, asked, Some(&caller)).await {
                Ok(answer) => verdict = verdict.max(signal(&described(&answer))),
                Err(error) => {
                    tracing::warn!(worker = hearer.worker.name(), step, %error, "plugin hook failed");
                }
            }
        }
        verdict
    }
}

impl Listener for PluginListener {
    fn points(&self) -> Points {
        let mut points = Points::NONE;
        if let Some(inner) = self.0.upgrade() {
            for plugin in inner.enabled() {
                points |= points_of(&plugin);
                // Whoever one of them shuns is not answered.
                if plugin.source.flavour == NEKRO {
                    points |= Points::ARRIVED;
                }
            }
        }
        points
    }

    fn arrived<'a>(&'a self, message: &'a ArrivalFacts) -> BoxFuture<'a, Verdict> {
        Box::pin(self.hear(message))
    }

    fn has_command(&self, session: &SessionKey, text: &str) -> bool {
        let hearers = self.hearers(session);
        hearers.iter().any(|hearer| hearer.command(text).is_some())
    }

    fn collect<'a>(&'a self, turn: &'a TurnFacts) -> BoxFuture<'a, Contribution> {
        Box::pin(self.contribute(turn))
    }

    fn deliver<'a>(
        &'a self,
        session: &'a SessionKey,
        reference: &'a Json,
        parts: &'a [Part],
    ) -> BoxFuture<'a, bool> {
        Box::pin(self.resume(session, reference, parts))
    }

    fn system_row<'a>(&'a self, session: &'a SessionKey, said: &'a str) -> BoxFuture<'a, Verdict> {
        let more = vec![("text".to_owned(), text(said))];
        Box::pin(self.tell(Points::SYSTEM_ROW, "system_message", session, more))
    }

    fn reset<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, ()> {
        Box::pin(async {
            self.tell(Points::RESET, "reset", session, Vec::new()).await;
        })
    }
}

fn add(contribution: &mut Contribution, hearer: &Hearer, answer: &Json) {
    let string = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    for prompt in answer["prompts"].as_array().into_iter().flatten() {
        contribution
            .prompt
            .push((string(&prompt["plugin"]), string(&prompt["text"])));
    }
    for chosen in answer["methods"].as_array().into_iter().flatten() {
        let shown = chosen["names"].as_array().map_or(&[][..], Vec::as_slice);
        let plugin = hearer
            .plugins
            .iter()
            .find(|plugin| chosen["plugin"] == plugin.loaded.id.as_str());
        for method in plugin.iter().flat_map(|plugin| &plugin.loaded.methods) {
            if !shown.iter().any(|name| name == method.name.as_str()) {
                let id = string(&chosen["plugin"]);
                contribution
                    .hidden
                    .push(format!("plugin:{id}/{}", method.name));
            }
        }
    }
}

/// Compat(nekro): the signals' names are upstream's.
fn signal(answer: &Json) -> Verdict {
    if answer["taken"] == true {
        return Verdict::Taken;
    }
    match answer["signal"].as_str() {
        Some("BLOCK_ALL") => Verdict::Hide,
        Some("BLOCK_TRIGGER") => Verdict::NoTurn,
        Some("FORCE_TRIGGER") => Verdict::Force,
        _ => Verdict::Pass,
    }
}

fn words(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn described_message(message: &ArrivalFacts, words: &str) -> Value {
    let reference = message.parts.iter().find_map(|part| match part {
        Part::Reply { to, .. } => Some(to.as_str()),
        _ => None,
    });
    data(json!({
        "id": message.message_id.clone().unwrap_or_else(|| message.row.to_string()),
        "session": message.session,
        "self_id": message.platform.as_ref().map(|it| it.bot.as_str()),
        "chat_name": message.platform.as_ref().and_then(|it| it.chat_name.as_deref()),
        "sender": { "id": message.user, "name": message.name, "nickname": message.name },
        "text": words,
        "parts": message.parts,
        "to_me": message.mentioned,
        "time": message.at / 1000,
        "reference": reference,
    }))
}

fn data(json: Json) -> Value {
    json::from_json(json).unwrap_or(Value::Null)
}

/// A message's handlers act for its sender, with a budget of their own.
fn caller(session: &SessionKey, principal: &Principal, role: Role) -> Caller {
    Caller {
        session: session.clone(),
        principal: principal.clone(),
        role,
        surface: Surface::Plugin,
        journal: JournalId::fresh(),
        depth: 0,
        grant: Arc::new(Grant::everything()),
    }
}
