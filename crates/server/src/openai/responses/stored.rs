//! Responses that were stored: looked at, told again event by event, their input, and erased. Each
//! key sees its own.

use std::collections::HashMap;

use axum::{
    Extension, Json as Body,
    extract::{Path, Query, State},
    response::{IntoResponse, Response},
};
use callgate_contract::JournalId;
use futures_util::stream;
use serde_json::{Value as Json, json};

use super::{
    super::{
        Failure, OpenAi,
        access::Asker,
        answer::{AnswerEvent, told},
        history::{StoredResponse, turn_of_response},
    },
    items,
    output::{ResponseOutput, event},
};

type QueryParameters = Query<HashMap<String, String>>;

/// Items of one page, and the most there may be.
const PAGE: usize = 20;
const LARGEST: usize = 100;

/// `GET /v1/responses/{id}`.
pub(in super::super) async fn show(
    State(openai): State<OpenAi>,
    Extension(asker): Extension<Asker>,
    Path(id): Path<String>,
    Query(wanted): QueryParameters,
) -> Result<Response, Failure> {
    let missing = || Failure::not_stored(&id);
    let turn = turn_of_response(&id).ok_or_else(missing)?;
    let answer = openai.stored(&asker.session, turn).await?;
    let (output, events) = retold(answer.ok_or_else(missing)?);
    if wanted.get("stream").is_none_or(|it| it != "true") {
        return Ok(Body(output.response()).into_response());
    }
    // Events are numbered from zero.
    let seen = number(&wanted, "starting_after")?.map_or(0, |last| last.saturating_add(1));
    Ok(told(stream::iter(events.into_iter().skip(seen).map(event))))
}

/// `DELETE /v1/responses/{id}`.
pub(in super::super) async fn delete(
    State(openai): State<OpenAi>,
    Extension(asker): Extension<Asker>,
    Path(id): Path<String>,
) -> Result<Body<Json>, Failure> {
    let forgotten = match turn_of_response(&id) {
        Some(turn) => openai.agent()?.forget(&asker.session, turn).await?,
        None => false,
    };
    if forgotten {
        Ok(Body(
            json!({"id": id, "object": "response", "deleted": true}),
        ))
    } else {
        Err(Failure::not_stored(&id))
    }
}

/// `GET /v1/responses/{id}/input_items`: all that the response was made from, also by those before
/// it, newest first unless asked otherwise.
pub(in super::super) async fn inputs(
    State(openai): State<OpenAi>,
    Extension(asker): Extension<Asker>,
    Path(id): Path<String>,
    Query(wanted): QueryParameters,
) -> Result<Body<Json>, Failure> {
    let missing = || Failure::not_stored(&id);
    let turn = turn_of_response(&id).ok_or_else(missing)?;
    let chain = openai.chain(&asker.session, turn).await?;
    let mut items = made_from(turn, chain.ok_or_else(missing)?);
    match wanted.get("order").map(String::as_str) {
        None | Some("desc") => items.reverse(),
        Some("asc") => {}
        Some(_) => return Err(Failure::bad("order", "order is asc or desc")),
    }
    if let Some(after) = wanted.get("after") {
        let at = items.iter().position(|item| item["id"] == after.as_str());
        let at = at.ok_or_else(|| Failure::bad("after", "no such item: leave it out"))?;
        items.drain(..=at);
    }
    let limit = match number(&wanted, "limit")? {
        None => PAGE,
        Some(limit @ 1..=LARGEST) => limit,
        Some(_) => return Err(Failure::bad("limit", "limit is between 1 and 100")),
    };
    let has_more = items.len() > limit;
    items.truncate(limit);
    let id_of = |item: Option<&Json>| item.map_or(Json::Null, |item| item["id"].clone());
    Ok(Body(json!({
        "object": "list",
        "first_id": id_of(items.first()),
        "last_id": id_of(items.last()),
        "has_more": has_more,
        "data": items,
    })))
}

fn number(wanted: &HashMap<String, String>, name: &str) -> Result<Option<usize>, Failure> {
    let given = wanted.get(name).map(|given| given.parse());
    let given = given.transpose();
    given.map_err(|_| Failure::bad(name, format!("{name} is a whole number")))
}

/// The response as it was given, and the events that told of it.
fn retold(answer: StoredResponse) -> (ResponseOutput, Vec<Json>) {
    let mut output = ResponseOutput::new(answer.turn, answer.at, &answer.stored.about);
    let steps = answer.stored.told.into_iter().map(AnswerEvent::from);
    let steps = steps.chain([AnswerEvent::from(answer.stored.completed)]);
    let events = steps.flat_map(|step| output.write(step)).collect();
    (output, events)
}

fn made_from(last: JournalId, chain: Vec<StoredResponse>) -> Vec<Json> {
    let mut made_from = Vec::new();
    for answer in chain {
        let turn = answer.turn;
        made_from.extend(items::of(turn, &answer.input));
        if turn != last {
            made_from.extend(retold(answer).0.into_items());
        }
    }
    made_from
}
