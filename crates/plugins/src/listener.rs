//! Plugins as a listener of messages and turns. One step per worker and point, for all its plugins: a
//! worker none of whose plugins wants to hear of a point is not asked. Nothing here can fail a turn.

mod command;
mod contribution;
mod cut_off;
mod hearer;

use std::sync::{Arc, Weak};

use callgate_contract::{
    ArrivalFacts, BoxFuture, Caller, Contribution, Grant, JournalId, Listener, Part, Points,
    Principal, Role, SessionKey, Surface, TurnFacts, Value, Verdict, json,
};
use serde_json::{Value as Json, json};

use self::hearer::{Hearer, NEKRO, points_of};
use crate::{
    WorkerError,
    context::{KnownSpeaker, text},
    failure::described,
    frame::NamedValues,
    host,
    plugins::Inner,
};

/// The kind of platform whose notices Nekro's plugins know.
const ONEBOT: &str = "onebot";

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
            if is_for_others || !hearer.hears(Points::ARRIVED) {
                continue;
            }
            let said = if hearer.is_astrbot() {
                self.event(&hearer, message, &words, &caller).await
            } else if message.row == 0 {
                // What stands in no log is no message: somebody joined, was muted, was poked.
                self.notice(&hearer, message, &context, &caller).await
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

    /// Compat(nekro): its plugins know the notices of OneBot, in OneBot's own words.
    async fn notice(
        &self,
        hearer: &Hearer,
        message: &ArrivalFacts,
        context: &Value,
        caller: &Caller,
    ) -> Verdict {
        let told = message.platform.as_ref().filter(|it| it.kind == ONEBOT);
        let Some(told) = told.filter(|_| hearer.worker.flavour() == NEKRO) else {
            return Verdict::Pass;
        };
        let asked = vec![
            ("context".to_owned(), context.clone()),
            ("message".to_owned(), described_message(message, "")),
            ("raw".to_owned(), data(told.raw.clone())),
        ];
        if let Err(error) = hearer.worker.ask("notice", asked, Some(caller)).await {
            tracing::warn!(worker = hearer.worker.name(), %error, "plugin worker failed on a notice");
        }
        Verdict::Pass
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
