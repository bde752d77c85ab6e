//! What listeners add to a round of code mode: text for the prompt, and methods that are left out
//! of it, of the code's stubs and of its grant.

use std::sync::Arc;

use callgate_contract::{
    Allowed, Caller, Grant, MethodInfo, ModelMessage, ModelRequest, Part, Points,
};

use super::Turn;

impl Turn {
    /// Asks the listeners anew: what they say holds for one round.
    pub(crate) async fn collect(&mut self) {
        self.context.contribution = Default::default();
        for listener in self.agent.listeners(Points::COLLECT) {
            let more = listener.collect(&self.facts).await;
            if !more.prompt.is_empty() {
                self.note_plugins();
            }
            self.context.contribution.prompt.extend(more.prompt);
            self.context.contribution.hidden.extend(more.hidden);
        }
    }

    pub(crate) fn contribute(&self, request: &mut ModelRequest) {
        if !self.context.contribution.hidden.is_empty()
            && let Some(ModelMessage::System { text }) = request.messages.first_mut()
        {
            // Around it may stand what a plugin added.
            let usual = self.system_prompt_of(&self.caller_without(&self.options.withheld));
            *text = text.replacen(&usual, &self.system_prompt(), 1);
        }
        let texts = self.context.contribution.prompt.iter();
        let texts: Vec<String> = texts
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(plugin, text)| format!("## {plugin}\n{text}"))
            .collect();
        if texts.is_empty() {
            return;
        }
        let part = Part::text(format!("# From plugins\n{}", texts.join("\n\n")));
        match request.messages.last_mut() {
            Some(ModelMessage::User { parts }) => parts.push(part),
            _ => request
                .messages
                .push(ModelMessage::User { parts: vec![part] }),
        }
    }

    /// On whose behalf this round acts: the turn's caller, without what is hidden.
    pub(crate) fn round_caller(&self) -> Caller {
        let hidden = [
            &self.options.withheld[..],
            &self.context.contribution.hidden[..],
        ]
        .concat();
        self.caller_without(&hidden)
    }

    fn caller_without(&self, hidden: &[String]) -> Caller {
        let mut caller = self.caller.clone();
        if !hidden.is_empty() {
            let methods = self.agent.gate().catalogue(&caller);
            let names = methods.iter().map(|method| full_name(method.info()));
            let shown = names.filter(|name| !hidden.contains(name));
            caller.grant = Arc::new(Grant {
                methods: Allowed::Only(shown.collect()),
                ..Grant::clone(&caller.grant)
            });
        }
        caller
    }
}

pub(crate) fn full_name(info: &MethodInfo) -> String {
    format!("{}/{}", info.origin, info.name)
}
