//! `/v1/responses`, whole or as events. A stored response can be gone on from, looked at again and
//! erased: it is the turn itself, found again by its id.

mod items;
mod output;
mod stored;

pub(super) use self::stored::{delete, inputs, show};

use axum::{
    Extension, Json as Body,
    extract::{State, rejection::JsonRejection},
    response::{IntoResponse, Response},
};
use callgate_agent::Keep;
use callgate_contract::{JournalId, ModelMessage};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use self::output::{ResponseOutput, event};
use super::{Failure, OpenAi, access::Asker, input, options, request::flag};

pub(super) async fn create(
    State(openai): State<OpenAi>,
    Extension(asker): Extension<Asker>,
    body: Result<Body<Json>, JsonRejection>,
) -> Result<Response, Failure> {
    let request = openai.request(asker, body).await?;
    let body = &request.body;
    for name in ["background", "conversation", "prompt"] {
        let given = body.get(name);
        if given.is_some_and(|given| !matches!(given, Json::Null | Json::Bool(false))) {
            let message = format!("'{name}' is not known here: leave it out");
            return Err(Failure::bad(name, message));
        }
    }
    let (streams, stores) = (request.streams, flag(body, "store")? != Some(false));
    let given: Option<String> = options::field(body, "previous_response_id", "a text")?;
    let (previous, mut history) = match &given {
        None => (None, Vec::new()),
        Some(id) => {
            let (turn, said) = openai.upto(request.session(), id).await?;
            (Some(turn), said)
        }
    };
    let options = options::of_response(body)?;
    let input = input::items(&openai.0.fetch, &body["input"]).await?;
    let input = openai.restored(request.session(), input).await?;
    history.extend(input.iter().cloned());
    // They hold for this response alone and are not part of what is stored.
    if let Some(text) = options::field::<String>(body, "instructions", "a text")? {
        history.insert(0, ModelMessage::system(text));
    }
    let id = JournalId::fresh();
    let about = about(body, stores);
    let mut output = ResponseOutput::new(id, Timestamp::now(), &about);
    let keep = stores.then_some(Keep {
        previous,
        input,
        about,
    });
    let answering = openai.answer(request.completion(id, history, options, keep))?;
    if streams {
        let answering = answering.begun().await?;
        let write = move |step| output.write(step).into_iter().map(event).collect();
        return Ok(answering.events(write));
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
