//! `/v1/chat/completions`, whole or in chunks.

use axum::{
    Extension, Json as Body,
    extract::{State, rejection::JsonRejection},
    response::{IntoResponse, Response, sse::Event},
};
use callgate_agent::Completed;
use callgate_contract::{FinishReason, JournalId, Part, ToolCall, Usage};
use serde_json::{Map, Value as Json, json};

use super::{
    Failure, OpenAi,
    access::Asker,
    answer::{AnswerEvent, AnswerStream},
    input, options,
};

pub(super) async fn create(
    State(openai): State<OpenAi>,
    Extension(asker): Extension<Asker>,
    body: Result<Body<Json>, JsonRejection>,
) -> Result<Response, Failure> {
    let request = openai.request(asker, body).await?;
    let options = options::of_chat(&request.body)?;
    let messages = input::messages(&openai.0.fetch, &request.body["messages"]).await?;
    let messages = openai.restored(request.session(), messages).await?;
    let (id, streams) = (JournalId::fresh(), request.streams);
    let wants_usage = request.body["stream_options"]["include_usage"] == true;
    let said = ChatAnswer::new(id, request.model.clone(), wants_usage);
    let answering = openai.answer(request.completion(id, messages, options, None))?;
    if streams {
        let answering = answering.begun().await?;
        return Ok(stream(answering, said));
    }
    let steps = answering.whole().await?;
    Ok(Body(said.whole(steps)).into_response())
}

fn stream(answering: AnswerStream, mut said: ChatAnswer) -> Response {
    let mut first = true;
    answering.events(move |step| {
        let mut chunks = Vec::new();
        if std::mem::take(&mut first) {
            chunks.push(said.chunk(json!({"role": "assistant", "content": ""}), None));
        }
        match step {
            AnswerEvent::Round => said.round(),
            AnswerEvent::Text(text) => {
                let text = said.text(text);
                chunks.push(said.chunk(json!({"content": text}), None));
            }
            AnswerEvent::Thought(text) => {
                chunks.push(said.chunk(json!({"reasoning_content": text}), None));
            }
            AnswerEvent::Failed(failure) => {
                said.ended = true;
                chunks.push(failure.to_json());
            }
            AnswerEvent::Done(done) => chunks.extend(said.last(&done)),
        }
        let texts = chunks.into_iter().map(|chunk| chunk.to_string());
        let done = said.ended.then(|| "[DONE]".to_owned());
        let texts = texts.chain(done);
        texts.map(|text| Event::default().data(text)).collect()
    })
}

/// An answer in the making.
struct ChatAnswer {
    id: String,
    created: i64,
    model: String,
    wants_usage: bool,
    /// Words so far, all rounds together.
    spoke: bool,
    /// The next words begin a paragraph.
    apart: bool,
    ended: bool,
}

impl ChatAnswer {
    fn new(id: JournalId, model: String, wants_usage: bool) -> Self {
        ChatAnswer {
            id: format!("chatcmpl-{}", id.0.simple()),
            created: jiff::Timestamp::now().as_second(),
            model,
            wants_usage,
            spoke: false,
            apart: false,
            ended: false,
        }
    }

    fn round(&mut self) {
        self.apart = self.spoke;
    }

    fn text(&mut self, text: String) -> String {
        self.spoke = true;
        if std::mem::take(&mut self.apart) {
            format!("\n\n{text}")
        } else {
            text
        }
    }

    fn chunk(&self, delta: Json, finish: Option<&str>) -> Json {
        let mut chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "system_fingerprint": null,
            "choices": [
                {"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish},
            ],
        });
        if self.wants_usage {
            chunk["usage"] = Json::Null;
        }
        chunk
    }

    fn last(&mut self, done: &Completed) -> Vec<Json> {
        self.ended = true;
        let mut chunks = Vec::new();
        for (index, call) in done.calls.iter().enumerate() {
            let mut begun = made(call);
            begun["function"]["arguments"] = json!("");
            begun["index"] = json!(index);
            chunks.push(self.chunk(json!({"tool_calls": [begun]}), None));
            let arguments = json!({"arguments": input::arguments(call)});
            let rest = json!({"index": index, "function": arguments});
            chunks.push(self.chunk(json!({"tool_calls": [rest]}), None));
        }
        if let Some(images) = images(&done.media) {
            chunks.push(self.chunk(json!({"images": images}), None));
        }
        chunks.push(self.chunk(json!({}), Some(finish_reason(done))));
        if self.wants_usage {
            let mut counted = self.chunk(Json::Null, None);
            counted["choices"] = json!([]);
            counted["usage"] = usage(done.usage);
            chunks.push(counted);
        }
        chunks
    }

    fn whole(mut self, steps: Vec<AnswerEvent>) -> Json {
        let (mut content, mut thoughts) = (String::new(), Vec::new());
        let mut ended = None;
        for step in steps {
            match step {
                AnswerEvent::Round => self.round(),
                AnswerEvent::Text(text) => content.push_str(&self.text(text)),
                AnswerEvent::Thought(text) => thoughts.push(text),
                AnswerEvent::Done(done) => ended = Some(done),
                AnswerEvent::Failed(_) => {}
            }
        }
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        let done = ended.as_deref();
        let calls = done.map_or(&[][..], |done| &done.calls);
        let silent = content.is_empty() && !calls.is_empty();
        message.insert(
            "content".into(),
            if silent { Json::Null } else { json!(content) },
        );
        message.insert("refusal".into(), Json::Null);
        if !thoughts.is_empty() {
            message.insert("reasoning_content".into(), json!(thoughts.join("\n\n")));
        }
        if !calls.is_empty() {
            let calls: Vec<Json> = calls.iter().map(made).collect();
            message.insert("tool_calls".into(), json!(calls));
        }
        if let Some(images) = done.and_then(|done| images(&done.media)) {
            message.insert("images".into(), images);
        }
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "system_fingerprint": null,
            "choices": [{
                "index": 0,
                "message": message,
                "logprobs": null,
                "finish_reason": done.map(finish_reason),
            }],
            "usage": usage(done.and_then(|done| done.usage)),
        })
    }
}

fn made(call: &ToolCall) -> Json {
    let function = json!({"name": call.name, "arguments": input::arguments(call)});
    json!({"id": call.id, "type": "function", "function": function})
}

/// OpenAI's wire has no pictures in answers; this is how others that speak it add them.
fn images(media: &[Part]) -> Option<Json> {
    let image = |part: &Part| match part {
        Part::Image { url } => Some(json!({"type": "image_url", "image_url": {"url": url}})),
        _ => None,
    };
    let images: Vec<Json> = media.iter().filter_map(image).collect();
    (!images.is_empty()).then(|| json!(images))
}

fn finish_reason(done: &Completed) -> &'static str {
    match &done.finish {
        _ if !done.calls.is_empty() => "tool_calls",
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other(_) => "stop",
    }
}

/// Of all rounds together; null where the provider never said.
fn usage(usage: Option<Usage>) -> Json {
    let Some(usage) = usage else {
        return Json::Null;
    };
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}
