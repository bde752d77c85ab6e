//! [`TurnOptions`]: how a turn differs from the usual where a plugin asked for it: other words, tools of
//! its own, and the plugin itself as a companion that hears, changes and delivers.

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    Budget, Message, Messages, Method, MethodError, Mode, ModelMessage, Part, Peer, Points,
    SessionKey, Shared, ToolSpec, TurnStop, Value, json,
};
use callgate_gate::AdHoc;
use callgate_store::LogRole;
use serde_json::{Value as Json, json};

use super::{Returned, Turn, TurnPlan, collect::full_name};
use crate::{
    Agent, TurnError, TurnReport,
    history::{from_json, text_of, to_plugins_json},
    host,
    when::Prompting,
};

/// What is `None` is as usual.
#[derive(Default)]
pub(crate) struct TurnOptions {
    /// Before the persona's words and ours.
    pub(crate) system: Option<String>,
    /// In place of the conversation's history.
    pub(crate) history: Option<Messages>,
    /// The history is all there is to ask with.
    pub(crate) bare: bool,
    /// In place of the methods that the grant holds.
    pub(crate) tools: Option<Vec<Tool>>,
    /// Of the methods that code mode has, in full, those that are not among these.
    pub(crate) withheld: Vec<String>,
    pub(crate) rounds: Option<u32>,
    /// What the model is told when no tool can be called any more.
    pub(crate) last_words: Option<String>,
    pub(crate) call_timeout: Option<Duration>,
    /// What it may spend, shared with whoever asked.
    pub(crate) budget: Option<Budget>,
    pub(crate) companion: Option<Companion>,
    /// The answer goes back to whoever asked.
    pub(crate) returned: Option<Returned>,
    /// The companion wants no answer after all.
    pub(crate) stopped: bool,
    pub(crate) prompting: Prompting,
}

/// Methods, and how a model sees them.
type Offered = (Vec<Arc<dyn Method>>, Shared<ToolSpec>);

/// A tool of one loop.
#[derive(Clone)]
pub(crate) struct Tool {
    pub(crate) spec: ToolSpec,
    /// `None`: the gate's method of that name.
    pub(crate) ad_hoc: Option<AdHoc>,
}

impl Tool {
    /// A method of the gate of which the plugin said no more than its name.
    fn is_only_named(&self) -> bool {
        self.ad_hoc.is_none() && self.spec.description.is_empty()
    }
}

/// The plugin that asked for the turn and waits for it.
pub(crate) struct Companion {
    pub(crate) peer: Peer,
    /// The plugin's own name for what it asked.
    pub(crate) reference: Json,
    /// It wants to see the request before it is asked.
    pub(crate) sees_request: bool,
    /// It wants the model's words piece by piece.
    pub(crate) hears_pieces: bool,
    /// The answer is its to send.
    pub(crate) delivers: bool,
}

impl Companion {
    /// One that only waits, and answers for its tools.
    pub(crate) fn silent(peer: Peer, reference: Json) -> Self {
        Companion {
            peer,
            reference,
            sees_request: false,
            hears_pieces: false,
            delivers: false,
        }
    }

    pub(crate) async fn tell(&self, item: Json) -> Result<(), MethodError> {
        self.peer.item(value(item)?).await
    }

    pub(crate) async fn ask(&self, step: &str, fields: Json) -> Result<Json, MethodError> {
        let Json::Object(mut fields) = fields else {
            return Err(MethodError::new("a step has named arguments"));
        };
        fields.insert("ref".into(), self.reference.clone());
        let fields = fields.into_iter();
        let arguments = fields.map(|(name, field)| Ok((name, value(field)?)));
        let arguments: Result<Vec<(String, Value)>, MethodError> = arguments.collect();
        let answer = self.peer.ask(step, arguments?).await?;
        Ok(json::to_json(&answer))
    }
}

fn value(json: Json) -> Result<Value, MethodError> {
    json::from_json(json).map_err(|error| MethodError::new(error.to_string()))
}

impl Agent {
    /// Somebody else sends an answer whose companion is gone; false if nobody does.
    pub(crate) async fn deliver_for(
        &self,
        session: &SessionKey,
        reference: &Json,
        answer: &[Part],
    ) -> bool {
        for listener in self.listeners(Points::DELIVER) {
            if listener.deliver(session, reference, answer).await {
                return true;
            }
        }
        false
    }

    /// Returns once the companion has sent the answer of a turn. If it ended instead, somebody else
    /// sends it, and if there is nobody, we do.
    pub(crate) async fn see_delivered(
        &self,
        companion: &Peer,
        reference: &Json,
        report: &TurnReport,
    ) -> Result<(), TurnError> {
        // Whoever takes another item has dealt with the one before.
        let end = value(json!({"type": "end"}));
        let waits = async { companion.item(end?).await };
        if report.text.is_empty() || waits.await.is_ok() {
            return Ok(());
        }
        let start = self.store().turns().get(report.turn).await?.start;
        let rows = self.store().log();
        let rows = rows
            .since(&start.session, TurnPlan::of(&start).mark, 200)
            .await?;
        if rows.iter().any(|row| row.role == LogRole::Assistant) {
            return Ok(());
        }
        let answer = [Part::text(report.text.as_str())];
        if !self.deliver_for(&start.session, reference, &answer).await {
            let message = Message {
                session: start.session,
                parts: answer.into(),
            };
            let outbox = self.store().outbox();
            outbox.send(report.turn, &message, true).await?;
            self.deliver(&message.session).await;
        }
        Ok(())
    }
}

impl Turn {
    /// The methods of a round and how the model sees them: a tool as the plugin describes it, a method
    /// that it only named as the gate declares it.
    pub(crate) fn offered(&mut self) -> Option<Offered> {
        let tools = self.options.tools.clone()?;
        let found = tools.into_iter();
        let found = found.filter_map(|tool| self.method_of(&tool).map(|method| (tool, method)));
        let found: Vec<(Tool, Arc<dyn Method>)> = found.collect();
        let named = found.iter().filter(|(tool, _)| tool.is_only_named());
        let named: Vec<Arc<dyn Method>> = named.map(|(_, method)| method.clone()).collect();
        let declared = self.declared(&named);
        let spec = |(tool, method): &(Tool, Arc<dyn Method>)| {
            if !tool.is_only_named() {
                return Some(tool.spec.clone());
            }
            let name = &method.info().name;
            let spec = declared.iter().find(|spec| spec.name == *name)?.clone();
            Some(ToolSpec {
                name: tool.spec.name.clone(),
                ..spec
            })
        };
        let specs = found.iter().filter_map(spec).collect();
        let methods = found.into_iter().map(|(_, method)| method).collect();
        Some((methods, specs))
    }

    fn method_of(&self, tool: &Tool) -> Option<Arc<dyn Method>> {
        match &tool.ad_hoc {
            Some(ad_hoc) if !self.agent.gate().offers(&self.caller, ad_hoc) => None,
            Some(ad_hoc) => Some(ad_hoc.method().clone()),
            None => self.agent.gate().offer(&self.caller, &tool.spec.name),
        }
    }

    pub(crate) fn ad_hoc(&self, name: &str) -> Option<&AdHoc> {
        let tools = self.options.tools.as_ref()?;
        let tool = tools.iter().find(|tool| tool.spec.name == name)?;
        tool.ad_hoc.as_ref()
    }

    /// A plugin said which tools there are, and it is none of them.
    pub(crate) fn is_withheld(&self, name: &str) -> bool {
        let tools = self.options.tools.as_ref();
        tools.is_some_and(|tools| tools.iter().all(|tool| tool.spec.name != name))
    }

    /// Text of a round that goes on.
    pub(crate) async fn tell_text(&self, text: &str) {
        if let Some(companion) = &self.options.companion
            && !text.trim().is_empty()
            && let Err(error) = companion
                .tell(json!({"type": "text", "text": text, "final": false}))
                .await
        {
            tracing::debug!(%error, "the plugin that asked for a turn does not listen");
        }
    }

    /// True if the companion has taken the answer.
    pub(crate) async fn hand_over(&self, stop: TurnStop, answer: &[Part]) -> bool {
        match &self.options.companion {
            Some(companion) if companion.delivers => {
                let item = json!({
                    "type": "text", "text": text_of(answer),
                    "parts": answer, "final": true, "role": host::role(Some(stop)),
                });
                match companion.tell(item).await {
                    Ok(()) => true,
                    Err(_) => {
                        let session = &self.facts.session;
                        let agent = &self.agent;
                        agent
                            .deliver_for(session, &companion.reference, answer)
                            .await
                    }
                }
            }
            _ => false,
        }
    }

    /// Lets the companion change what the first round is asked. `said` is what the user said; what
    /// the conversation keeps of it comes back.
    pub(crate) async fn show_request(&mut self, said: Vec<Part>) -> Vec<Part> {
        let Some(companion) = self.options.companion.as_ref().filter(|c| c.sees_request) else {
            return said;
        };
        let messages = &self.state.request.messages;
        let system = match messages.first() {
            Some(ModelMessage::System { text }) => text.as_str(),
            _ => "",
        };
        let begin = usize::from(!system.is_empty());
        let end = messages.len().saturating_sub(1).max(begin);
        let history = messages.get(begin..end).unwrap_or_default();
        let image = |part: &Part| match part {
            Part::Image { url } => Some(url.clone()),
            _ => None,
        };
        let shown = json!({ "request": {
            "prompt": text_of(&said),
            "images": said.iter().filter_map(image).collect::<Vec<_>>(),
            "system_prompt": system,
            "contexts": history.iter().map(to_plugins_json).collect::<Vec<_>>(),
            "model": self.model.id,
            "tools": self.tool_names(),
            "conversation": self.told_conversation().await,
        }});
        match companion.ask("request", shown).await {
            Ok(changed) if changed["stop"] == true => {
                self.options.stopped = true;
                said
            }
            Ok(changed) => {
                let before = self.state.request.messages.clone();
                let kept = self.change_words(said, &changed);
                self.change_request(&changed, begin..end);
                let (past, now) = (&mut self.context.past, &self.state.request.messages);
                *past = past.take().and_then(|past| past.found_in(&before, now));
                kept
            }
            Err(error) => {
                tracing::warn!(%error, "plugin hook failed on a request");
                said
            }
        }
    }

    async fn told_conversation(&self) -> Option<Json> {
        let id = self.facts.conversation?;
        let found = self.agent.store().conversations().get(id).await;
        let found = found.ok().flatten()?;
        Some(json!({
            "id": id.to_string(),
            "title": found.title,
            "persona": found.persona,
            "created_at": found.created_at.as_second(),
            "updated_at": found.updated_at.as_second(),
        }))
    }

    /// What the user says from now on: another text, further parts.
    fn change_words(&mut self, said: Vec<Part>, changed: &Json) -> Vec<Part> {
        let mut kept = said;
        if let Some(new) = changed["prompt"].as_str()
            && new != text_of(&kept)
        {
            self.change_prompt(new);
            kept.retain(|part| !matches!(part, Part::Text { .. }));
            kept.insert(0, Part::text(new));
        }
        let extra = crate::host::user_parts(&changed["extra_user_content_parts"]);
        if let Some(ModelMessage::User { parts }) = self.state.request.messages.last_mut() {
            let moment = parts.len().saturating_sub(1);
            parts.splice(moment..moment, extra.iter().map(|(part, _)| part.clone()));
        }
        let lasting = extra.into_iter().filter(|(_, keeps)| *keeps);
        kept.extend(lasting.map(|(part, _)| part));
        kept
    }

    fn tool_names(&self) -> Vec<String> {
        let methods: Vec<Arc<dyn Method>> = match &self.options.tools {
            Some(tools) => tools
                .iter()
                .filter_map(|tool| self.method_of(tool))
                .collect(),
            None => self.agent.gate().catalogue(&self.caller),
        };
        methods.iter().map(|m| m.info().name.clone()).collect()
    }

    /// In place of what was said; where the whole chat is shown, beside it.
    fn change_prompt(&mut self, prompt: &str) {
        let shows_chat = self.shows_chat();
        let Some(ModelMessage::User { parts }) = self.state.request.messages.last_mut() else {
            return;
        };
        if !shows_chat {
            let moment = parts.len().saturating_sub(1);
            let mut place = 0;
            parts.retain(|part| {
                place += 1;
                place > moment || !matches!(part, Part::Text { .. })
            });
        }
        parts.insert(0, Part::text(prompt));
    }

    fn change_request(&mut self, changed: &Json, history: std::ops::Range<usize>) {
        let messages = &mut self.state.request.messages;
        if let Some(contexts) = changed["contexts"].as_array() {
            let contexts: Vec<ModelMessage> = contexts.iter().filter_map(from_json).collect();
            messages.splice(history, contexts);
        }
        if let Some(system) = changed["system_prompt"].as_str() {
            match messages.first_mut() {
                Some(ModelMessage::System { text }) => system.clone_into(text),
                _ if system.is_empty() => {}
                _ => messages.insert(0, ModelMessage::system(system)),
            }
        }
        if let Some(model) = changed["model"].as_str()
            && let Some(model) = self.agent.models().get(model)
        {
            self.model = model.clone();
        }
        if let Some(tools) = changed.get("tools").filter(|tools| tools.is_array())
            && let Some(companion) = &self.options.companion
        {
            match crate::host::offered(tools, &companion.peer, &companion.reference) {
                Ok(tools) => {
                    self.options.tools = Some(tools);
                    self.withhold();
                }
                Err(error) => tracing::warn!(%error, "plugin tools rejected"),
            }
        }
    }

    /// Code is neither told of what a plugin left out, nor can it call it.
    fn withhold(&mut self) {
        if self.facts.mode != Mode::Code {
            return;
        }
        let methods = self.agent.gate().catalogue(&self.caller);
        let infos = methods.iter().map(|method| method.info());
        let left_out = infos.filter(|info| self.is_withheld(&info.name));
        let left_out: Vec<String> = left_out.map(full_name).collect();
        if left_out.is_empty() {
            return;
        }
        let before = self.system_prompt();
        self.options.withheld = left_out;
        let after = self.system_prompt();
        if let Some(ModelMessage::System { text }) = self.state.request.messages.first_mut() {
            *text = text.replacen(&before, &after, 1);
        }
    }
}
