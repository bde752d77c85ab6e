//! The model of a scenario: gives the answers of a step in order and remembers what it was asked.

use std::{collections::VecDeque, mem, sync::Arc};

use callgate_contract::{
    Accepts, BoxFuture, CallArguments, FinishReason, Model, ModelError, ModelEvent, ModelRequest,
    ModelStream, NamedModel, ToolCall,
};
use parking_lot::Mutex;
use serde_json::{Map, Value as Json};

/// A mutex, since plugins may ask from several tasks; held for a push.
#[derive(Clone, Default)]
pub struct ScriptedModel(Arc<Mutex<ScriptState>>);

#[derive(Default)]
struct ScriptState {
    answers: VecDeque<Vec<ModelEvent>>,
    asked: Vec<ModelRequest>,
}

impl ScriptedModel {
    pub fn named(&self) -> NamedModel {
        NamedModel {
            id: "scripted".to_owned(),
            model: Arc::new(self.clone()),
        }
    }

    /// The answers of the next step; what is left of the last one is forgotten.
    pub fn answer_with(&self, answers: &[Json]) {
        let mut state = self.0.lock();
        state.answers = answers.iter().map(events).collect();
        state.asked.clear();
    }

    pub fn asked(&self) -> Vec<ModelRequest> {
        mem::take(&mut self.0.lock().asked)
    }
}

/// `{"text"}` or `{"calls": [{"name", "args"}]}`.
fn events(answer: &Json) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    if let Some(text) = answer["text"].as_str() {
        let text = text.to_owned();
        events.push(ModelEvent::TextDelta { text });
    }
    let calls = answer["calls"].as_array().into_iter().flatten();
    for (index, call) in calls.enumerate() {
        let arguments = match &call["args"] {
            Json::Object(fields) => CallArguments::Object(fields.clone()),
            Json::Null => CallArguments::Object(Map::new()),
            other => CallArguments::Malformed(other.as_str().unwrap_or_default().to_owned()),
        };
        events.push(ModelEvent::ToolCall(ToolCall {
            id: format!("call_{index}"),
            name: call["name"].as_str().unwrap_or_default().to_owned(),
            arguments,
            extra: None,
        }));
    }
    let reason = if answer["calls"].is_array() {
        FinishReason::ToolCalls
    } else {
        FinishReason::Stop
    };
    events.push(ModelEvent::Finished { reason });
    events
}

impl Model for ScriptedModel {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let mut state = self.0.lock();
        state.asked.push(request);
        let answer = state.answers.pop_front();
        let stream = answer.map(ModelStream::of).ok_or_else(|| {
            let message = "the step has no answer left for the model".to_owned();
            ModelError::Exhausted { message }
        });
        Box::pin(std::future::ready(stream))
    }

    fn accepts(&self) -> Accepts {
        Accepts {
            image: true,
            audio: true,
        }
    }
}
