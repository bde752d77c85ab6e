//! [`Returned`]: a turn whose answer goes back to whoever asked, and not to the chat. The asker may
//! run tools of its own: a call of one ends the turn and is left to it.

use callgate_contract::{
    Allowed, FinishReason, JournalId, ModelError, ModelMessage, ModelOptions, Shared, ToolCall,
    ToolSpec, TurnStop, Usage,
};
use serde_json::{Value as Json, json};

use super::{Turn, TurnReport, voice::Voice};
use crate::completion::{Completed, Exchange, Keep, Stored};

pub(crate) struct Returned {
    pub(crate) id: JournalId,
    pub(crate) methods: Allowed,
    /// The asker's own.
    pub(crate) tools: Shared<ToolSpec>,
    pub(crate) options: ModelOptions,
    pub(crate) keep: Option<Keep>,
    /// Words are with the asker as soon as they are told.
    pub(crate) streamed: bool,
    /// Calls that are left to the asker.
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) finish: FinishReason,
    pub(crate) failure: Option<ModelError>,
    /// What the asker hears.
    pub(crate) voice: Voice,
}

impl Default for Returned {
    fn default() -> Self {
        Returned {
            id: JournalId::fresh(),
            methods: Allowed::Only(Vec::new()),
            tools: Shared::default(),
            options: ModelOptions::default(),
            keep: None,
            streamed: false,
            calls: Vec::new(),
            finish: FinishReason::default(),
            failure: None,
            voice: Voice::default(),
        }
    }
}

impl Turn {
    /// The answer is the asker's and nobody else hears it.
    pub(crate) fn is_returned(&self) -> bool {
        self.options.returned.is_some()
    }

    /// Has the asker heard words of this round that it cannot take back?
    pub(crate) fn is_heard(&self) -> bool {
        let asker = self.options.returned.as_ref();
        asker.is_some_and(|asker| asker.streamed && asker.voice.has_begun())
    }

    /// The asker's tools beside the methods; one of its own goes before a method of that name.
    pub(crate) fn with_own(&self, tools: Shared<ToolSpec>) -> Shared<ToolSpec> {
        match &self.options.returned {
            Some(asker) if !asker.tools.is_empty() => {
                let shadowed = |tool: &&ToolSpec| asker.tools.iter().all(|it| it.name != tool.name);
                let methods = tools.iter().filter(shadowed);
                asker.tools.iter().chain(methods).cloned().collect()
            }
            _ => tools,
        }
    }

    /// What a later request may go on from.
    pub(crate) fn exchange(&self, report: &TurnReport) -> Option<Json> {
        let asker = self.options.returned.as_ref()?;
        if asker.keep.is_none() && asker.calls.is_empty() {
            return None;
        }
        let answer = asker.keep.as_ref().map(|kept| Stored {
            about: kept.about.clone(),
            told: asker.voice.told(),
            completed: self.completed(report),
        });
        let kept = asker.keep.clone().unwrap_or_default();
        Some(json!(Exchange {
            previous: kept.previous,
            input: kept.input,
            added: self.state.added.clone(),
            answer,
        }))
    }

    /// What came of a returned turn.
    pub(crate) fn completed(&self, report: &TurnReport) -> Completed {
        let media = match self.state.request.messages.last() {
            Some(ModelMessage::Assistant { media, .. }) => media.clone(),
            _ => Vec::new(),
        };
        let asker = self.options.returned.as_ref();
        Completed {
            turn: self.facts.turn,
            stop: report.stop.unwrap_or(TurnStop::Error),
            text: report.text.clone(),
            failure: asker.and_then(|asker| asker.failure.clone()),
            calls: asker.map(|asker| asker.calls.clone()).unwrap_or_default(),
            media,
            finish: asker.map(|asker| asker.finish.clone()).unwrap_or_default(),
            usage: (self.progress.usage != Usage::default()).then_some(self.progress.usage),
            rounds: self.state.round,
            model: self.facts.model.clone(),
        }
    }
}
