//! [`Draft`]: an answer as it grows, whatever its wire. What it gives away ends with a finish
//! reason or not at all.

use callgate_contract::{FinishReason, ModelEvent, Part, Usage};
use serde_json::Value as Json;

use crate::{
    calls::CallDrafts,
    opaque_blocks::{self, OpaqueBlock},
    surrogates,
    wire::Wire,
};

#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Said, and not yet given away.
    events: Vec<ModelEvent>,
    /// Characters said so far.
    text: usize,
    media: usize,
    kept: Vec<OpaqueBlock>,
    pub(crate) calls: CallDrafts,
    pub(crate) usage: Option<Usage>,
    /// The answer is whole; only its usage may be missing.
    pub(crate) finish: Option<FinishReason>,
    /// The server has said that nothing follows.
    pub(crate) done: bool,
}

impl Draft {
    pub(crate) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            let whole = |c: &char| !surrogates::is_second_half(*c);
            self.text += text.chars().filter(whole).count();
            let text = text.to_owned();
            self.events.push(ModelEvent::TextDelta { text });
        }
    }

    pub(crate) fn think(&mut self, text: &str) {
        if !text.is_empty() {
            let text = text.to_owned();
            self.events.push(ModelEvent::ReasoningDelta { text });
        }
    }

    pub(crate) fn show(&mut self, part: Part) {
        self.media += 1;
        self.events.push(ModelEvent::Media(part));
    }

    /// What the provider wants back at this place.
    pub(crate) fn keep(&mut self, block: Json) {
        self.kept.push(OpaqueBlock {
            text: self.text,
            media: self.media,
            calls: self.calls.count(),
            block,
        });
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text == 0 && self.media == 0 && self.calls.count() == 0
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.done || self.finish.is_some()
    }

    /// What was said since the last time.
    pub(crate) fn take(&mut self) -> Vec<ModelEvent> {
        std::mem::take(&mut self.events)
    }

    /// The last events. `model` is who wants back what was kept.
    pub(crate) fn end(&mut self, wire: Wire, model: &str) -> Vec<ModelEvent> {
        let mut events = self.take();
        let called = self.calls.count() > 0;
        events.extend(self.calls.take().into_iter().map(ModelEvent::ToolCall));
        let extra = opaque_blocks::extra(wire, model, std::mem::take(&mut self.kept));
        events.extend(extra.map(|extra| ModelEvent::Extra { extra }));
        events.extend(self.usage.map(ModelEvent::Usage));
        let reason = match self.finish.take().unwrap_or_default() {
            // Some servers say "stop" after tool calls too.
            FinishReason::Stop if called => FinishReason::ToolCalls,
            reason => reason,
        };
        events.push(ModelEvent::Finished { reason });
        events
    }
}
