//! [`Request`]: what every request for an answer has in common, by whichever of the two APIs it
//! comes: who asks, which model, whether in pieces, with which tools.

use axum::{Json as Body, extract::rejection::JsonRejection};
use callgate_agent::{Completion, Keep, Watch};
use callgate_contract::{
    Cancel, JournalId, ModelMessage, ModelOptions, ModelRequest, SessionKey, ToolSpec,
};
use serde_json::Value as Json;

use super::{Failure, OpenAi, access::Asker, input, models::ModelSelection, options};

pub(super) struct Request {
    pub(super) body: Json,
    /// As the asker calls it.
    pub(super) model: String,
    pub(super) streams: bool,
    tools: Vec<ToolSpec>,
    chosen: ModelSelection,
    asker: Asker,
}

impl OpenAi {
    pub(super) async fn request(
        &self,
        asker: Asker,
        body: Result<Body<Json>, JsonRejection>,
    ) -> Result<Request, Failure> {
        let body = read(body)?;
        let model = model_of(&body)?;
        Ok(Request {
            streams: flag(&body, "stream")?.unwrap_or(false),
            tools: input::tools(&body["tools"])?,
            chosen: self.choose(&asker, &model).await?,
            asker,
            body,
            model,
        })
    }
}

impl Request {
    pub(super) fn session(&self) -> &SessionKey {
        &self.asker.session
    }

    /// The turn that answers it.
    pub(super) fn completion(
        self,
        id: JournalId,
        messages: Vec<ModelMessage>,
        options: ModelOptions,
        keep: Option<Keep>,
    ) -> Completion {
        Completion {
            id,
            session: self.asker.session,
            principal: self.asker.principal,
            role: self.asker.role,
            persona: self.chosen.persona,
            model: self.chosen.model,
            methods: self.chosen.methods,
            request: ModelRequest {
                messages: messages.into(),
                tools: self.tools.into(),
                options,
                output_limit: None,
            },
            parent: self.asker.parent,
            keep,
            streamed: self.streams,
            watch: Watch::default(),
            cancel: Cancel::default(),
        }
    }
}

pub(super) fn read(body: Result<Body<Json>, JsonRejection>) -> Result<Json, Failure> {
    let Body(body) = body.map_err(|error| Failure::unreadable(error.body_text()))?;
    if body.is_object() {
        Ok(body)
    } else {
        Err(Failure::unreadable("the body is a JSON object"))
    }
}

pub(super) fn model_of(body: &Json) -> Result<String, Failure> {
    let model = options::field::<String>(body, "model", "a text")?;
    let named = model.filter(|model| !model.is_empty());
    named.ok_or_else(|| Failure::bad("model", "say which model: GET /v1/models lists them"))
}

pub(super) fn flag(body: &Json, name: &str) -> Result<Option<bool>, Failure> {
    options::field(body, name, "true or false")
}
