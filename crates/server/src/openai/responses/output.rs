//! [`ResponseOutput`]: the items of a response as they come about, and the events that tell of them. Words,
//! thoughts and calls are items of their own; a new one begins where the kind changes.

use axum::response::sse::Event;
use callgate_agent::Completed;
use callgate_contract::{FinishReason, JournalId, Part, ToolCall, Usage};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::super::{Failure, answer::AnswerEvent, input};

pub(super) struct ResponseOutput {
    turn: String,
    /// The response without its items.
    response: Json,
    items: Vec<Json>,
    open: Option<OpenItem>,
    events: Vec<Json>,
    sequence: u64,
}

/// The item that grows.
struct OpenItem {
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Thoughts,
}

impl ResponseOutput {
    /// `about` is what a response repeats of its request.
    pub(super) fn new(turn: JournalId, created: Timestamp, about: &Json) -> Self {
        let turn = turn.0.simple().to_string();
        let mut response = json!({
            "id": format!("resp_{turn}"),
            "object": "response",
            "created_at": created.as_second(),
            "status": "in_progress",
            "error": null,
            "incomplete_details": null,
            "usage": null,
        });
        for (name, value) in about.as_object().into_iter().flatten() {
            response[name] = value.clone();
        }
        ResponseOutput {
            turn,
            response,
            items: Vec::new(),
            open: None,
            events: Vec::new(),
            sequence: 0,
        }
    }

    /// The response as it is now.
    pub(super) fn response(&self) -> Json {
        let mut response = self.response.clone();
        response["output"] = json!(self.items);
        response
    }

    pub(super) fn into_items(self) -> Vec<Json> {
        self.items
    }

    /// The events that tell of a step.
    pub(super) fn write(&mut self, step: AnswerEvent) -> Vec<Json> {
        if self.sequence == 0 {
            for name in ["response.created", "response.in_progress"] {
                self.tell(name, json!({"response": self.response()}));
            }
        }
        match step {
            AnswerEvent::Round => self.close(),
            AnswerEvent::Text(text) => self.grow(Kind::Message, &text),
            AnswerEvent::Thought(text) => self.grow(Kind::Thoughts, &text),
            AnswerEvent::Done(done) => self.finish(&done),
            AnswerEvent::Failed(failure) => self.fail(&failure),
        }
        std::mem::take(&mut self.events)
    }

    fn tell(&mut self, name: &str, mut fields: Json) {
        fields["type"] = json!(name);
        fields["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        self.events.push(fields);
    }

    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{}_{}", self.turn, self.items.len())
    }

    fn grow(&mut self, kind: Kind, text: &str) {
        if self.open.as_ref().is_none_or(|open| open.kind != kind) {
            self.close();
            self.begin(kind);
        }
        if let Some(open) = &mut self.open {
            open.text.push_str(text);
        }
        let at = self.at(kind);
        self.tell(kind.name("delta"), with(at, json!({"delta": text})));
    }

    fn begin(&mut self, kind: Kind) {
        self.open = Some(OpenItem {
            kind,
            text: String::new(),
        });
        let item = self.item(kind, None);
        let index = self.items.len();
        let added = json!({"output_index": index, "item": item});
        self.tell("response.output_item.added", added);
        let at = self.at(kind);
        self.tell(
            kind.part("added"),
            with(at, json!({"part": kind.piece("")})),
        );
    }

    /// The growing item has come to its end.
    fn close(&mut self) {
        let Some(OpenItem { kind, text }) = self.open.take() else {
            return;
        };
        let at = self.at(kind);
        self.tell(kind.name("done"), with(at.clone(), json!({"text": text})));
        self.tell(
            kind.part("done"),
            with(at, json!({"part": kind.piece(&text)})),
        );
        let item = self.item(kind, Some(&text));
        self.add(item);
    }

    fn add(&mut self, item: Json) {
        let index = self.items.len();
        self.items.push(item.clone());
        let done = json!({"output_index": index, "item": item});
        self.tell("response.output_item.done", done);
    }

    /// `text` is none of an item that begins.
    fn item(&self, kind: Kind, text: Option<&str>) -> Json {
        let status = if text.is_some() {
            "completed"
        } else {
            "in_progress"
        };
        let pieces: Vec<Json> = text.map(|text| kind.piece(text)).into_iter().collect();
        match kind {
            Kind::Message => json!({
                "id": self.id("msg"), "type": "message", "role": "assistant",
                "status": status, "content": pieces,
            }),
            Kind::Thoughts => json!({
                "id": self.id("rs"), "type": "reasoning", "status": status, "summary": pieces,
            }),
        }
    }

    /// Where an event belongs.
    fn at(&self, kind: Kind) -> Json {
        let index = self.items.len();
        match kind {
            Kind::Message => json!({
                "item_id": self.id("msg"), "output_index": index, "content_index": 0,
                "logprobs": [],
            }),
            Kind::Thoughts => json!({
                "item_id": self.id("rs"), "output_index": index, "summary_index": 0,
            }),
        }
    }

    fn call(&mut self, call: &ToolCall) {
        let (index, id) = (self.items.len(), self.id("fc"));
        let item = |arguments: &str, status: &str| {
            json!({
                "id": id, "type": "function_call", "call_id": call.id, "name": call.name,
                "arguments": arguments, "status": status,
            })
        };
        let added = json!({"output_index": index, "item": item("", "in_progress")});
        let arguments = input::arguments(call);
        let done = item(&arguments, "completed");
        let at = json!({"item_id": id, "output_index": index});
        self.tell("response.output_item.added", added);
        let delta = with(at.clone(), json!({"delta": arguments}));
        self.tell("response.function_call_arguments.delta", delta);
        let whole = with(at, json!({"name": call.name, "arguments": arguments}));
        self.tell("response.function_call_arguments.done", whole);
        self.add(done);
    }

    fn picture(&mut self, part: &Part) {
        let Part::Image { url } = part else {
            return;
        };
        let data = url.split_once(";base64,").map_or(&**url, |(_, data)| data);
        let (index, id) = (self.items.len(), self.id("ig"));
        let item = |status: &str, result: Option<&str>| json!({"id": id, "type": "image_generation_call", "status": status, "result": result});
        let added = json!({"output_index": index, "item": item("in_progress", None)});
        let made = item("completed", Some(data));
        let at = json!({"item_id": id, "output_index": index});
        self.tell("response.output_item.added", added);
        self.tell("response.image_generation_call.completed", at);
        self.add(made);
    }

    fn finish(&mut self, done: &Completed) {
        self.close();
        for part in &done.media {
            self.picture(part);
        }
        for call in &done.calls {
            self.call(call);
        }
        let cut = match done.finish {
            FinishReason::Length => Some("max_output_tokens"),
            FinishReason::ContentFilter => Some("content_filter"),
            _ => None,
        };
        let status = if cut.is_some() {
            "incomplete"
        } else {
            "completed"
        };
        self.response["status"] = json!(status);
        if let Some(reason) = cut {
            self.response["incomplete_details"] = json!({"reason": reason});
        }
        self.response["usage"] = usage(done.usage);
        let response = json!({"response": self.response()});
        self.tell(&format!("response.{status}"), response);
    }

    fn fail(&mut self, failure: &Failure) {
        self.close();
        self.response["status"] = json!("failed");
        self.response["error"] = failure.in_response();
        let response = json!({"response": self.response()});
        self.tell("response.failed", response);
    }
}

impl Kind {
    fn name(self, what: &str) -> &'static str {
        match (self, what) {
            (Kind::Message, "delta") => "response.output_text.delta",
            (Kind::Message, _) => "response.output_text.done",
            (Kind::Thoughts, "delta") => "response.reasoning_summary_text.delta",
            (Kind::Thoughts, _) => "response.reasoning_summary_text.done",
        }
    }

    fn part(self, what: &str) -> &'static str {
        match (self, what) {
            (Kind::Message, "added") => "response.content_part.added",
            (Kind::Message, _) => "response.content_part.done",
            (Kind::Thoughts, "added") => "response.reasoning_summary_part.added",
            (Kind::Thoughts, _) => "response.reasoning_summary_part.done",
        }
    }

    fn piece(self, text: &str) -> Json {
        match self {
            Kind::Message => {
                json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
            }
            Kind::Thoughts => json!({"type": "summary_text", "text": text}),
        }
    }
}

pub(super) fn event(told: Json) -> Event {
    let name = told["type"].as_str().unwrap_or_default().to_owned();
    Event::default().event(name).data(told.to_string())
}

fn with(mut at: Json, more: Json) -> Json {
    for (name, value) in more.as_object().into_iter().flatten() {
        at[name] = value.clone();
    }
    at
}

fn usage(usage: Option<Usage>) -> Json {
    let Some(usage) = usage else {
        return Json::Null;
    };
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    })
}
