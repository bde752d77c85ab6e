//! `/v1/responses`, whole or as events. A stored response can be gone on from: it is the turn itself,
//! found again by its id.

mod output;

use axum::{
    Extension, Json as Body,
    extract::{State, rejection::JsonRejection},
    response::{IntoResponse, Response},
};
use callgate_agent::{Completion, Keep, Watch};
use callgate_contract::{Cancel, JournalId, ModelMessage, ModelRequest};
use serde_json::{Value as Json, json};

use self::output::Output;
use super::{
    Failure, OpenAi,
    access::Asker,
    chat::{events, model_of, read},
    input, options,
};

pub(super) async fn create(
    State(openai): State<OpenAi>,
    Extension(asker): Extension<Asker>,
    body: Result<Body<Json>, JsonRejection>,
) -> Result<Response, Failure> {
    let body = read(body)?;
    let model = model_of(&body)?;
    for name in ["background", "conversation", "prompt"] {
        let given = body.get(name);
        if given.is_some_and(|given| !matches!(given, Json::Null | Json::Bool(false))) {
            let message = format!("'{name}' is not known here: leave it out");
            return Err(Failure::bad(name, message));
        }
    }
    let flag = |name: &str| options::field::<bool>(&body, name, "true or false");
    let (streams, stores) = (flag("stream")? == Some(true), flag("store")? != Some(false));
    let chosen = openai.choose(&asker, &model).await?;
    let given: Option<String> = options::field(&body, "previous_response_id", "a text")?;
    let (previous, mut history) = match &given {
        None => (None, Vec::new()),
        Some(id) => {
            let (turn, said) = openai.upto(&asker.session, id).await?;
            (Some(turn), said)
        }
    };
    let options = options::of_response(&body)?;
    let tools = input::tools(&body["tools"])?;
    let input = input::items(&openai.0.fetch, &body["input"]).await?;
    let input = openai.restored(&asker.session, input).await?;
    history.extend(input.iter().cloned());
    // They hold for this response alone and are not part of what is stored.
    if let Some(text) = options::field::<String>(&body, "instructions", "a text")? {
        history.insert(0, ModelMessage::system(text));
    }
    let id = JournalId::fresh();
    let answering = openai.answer(Completion {
        id,
        session: asker.session,
        user: asker.user,
        role: asker.role,
        persona: chosen.persona,
        model: chosen.model,
        methods: chosen.methods,
        request: ModelRequest {
            messages: history.into(),
            tools: tools.into(),
            options,
        },
        parent: asker.parent,
        keep: stores.then_some(Keep { previous, input }),
        watch: Watch::default(),
        cancel: Cancel::default(),
    })?;
    let mut output = Output::new(id, about(&body, stores));
    if streams {
        let answering = answering.begun().await?;
        return Ok(events(answering, move |step| output.write(step)));
    }
    for step in answering.whole().await? {
        output.write(step);
    }
    Ok(Body(output.response()).into_response())
}

/// What a response repeats of its request.
fn about(body: &Json, stores: bool) -> Json {
    let or = |name: &str, otherwise: Json| match body.get(name) {
        None | Some(Json::Null) => otherwise,
        Some(given) => given.clone(),
    };
    json!({
        "model": body["model"],
        "instructions": or("instructions", Json::Null),
        "max_output_tokens": or("max_output_tokens", Json::Null),
        "metadata": or("metadata", json!({})),
        "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
        "previous_response_id": or("previous_response_id", Json::Null),
        "reasoning": or("reasoning", json!({"effort": null, "summary": null})),
        "store": stores,
        "temperature": or("temperature", Json::Null),
        "text": or("text", json!({"format": {"type": "text"}})),
        "tool_choice": or("tool_choice", json!("auto")),
        "tools": or("tools", json!([])),
        "top_p": or("top_p", Json::Null),
        "truncation": "disabled",
        "user": or("user", Json::Null),
    })
}
