//! What a replay made against what was recorded, walked in the order things happened: the first
//! difference is the one that explains the others.

use callgate_contract::{
    Arguments, CallArguments, JournalId, Mode, ModelReply, Stop, ToolCall, TurnStop, json,
};
use callgate_gate::{Gate, recorded_arguments};
use callgate_store::{Run, TurnFinish};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::format::{CallRecord, RunRecord, TurnRecord};
use crate::{CallReport, RunReport, extract, history::from_json, host, turn::altered};

/// Where in the capsule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    pub turn: Option<JournalId>,
    pub round: Option<u32>,
    pub run: Option<JournalId>,
    /// Counts from 1, within its run or, in tool mode, within its turn.
    pub call: Option<u64>,
    pub file: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    #[serde(flatten)]
    pub place: Place,
    /// code, call, value, error, stop, stdout, observation, message, answer or file.
    pub what: String,
    pub expected: Json,
    pub found: Json,
}

/// What a turn's replay left in the store.
pub(super) struct Found {
    pub(super) finish: Option<TurnFinish>,
    pub(super) runs: Vec<Run>,
    pub(super) messages: Vec<Json>,
}

pub(super) fn compare_turn(gate: &Gate, turn: &TurnRecord, found: &Found) -> Option<Difference> {
    let mut sequence = 0;
    for round in &turn.rounds {
        let place = Place {
            turn: Some(turn.id),
            round: Some(round.number),
            ..Place::default()
        };
        let Some(answer) = &round.answer else {
            // What came of a model that did not answer cannot be had again.
            return compare_messages(turn, found, false);
        };
        let Ok(reply) = serde_json::from_value::<ModelReply>(answer.reply.clone()) else {
            return differs(
                &place,
                "reply",
                json!("a reply of a model"),
                answer.reply.clone(),
            );
        };
        let difference = match turn.mode {
            Mode::Code => compare_code(&place, &reply, turn, found),
            Mode::Tools => compare_calls(gate, &place, &reply, turn, &mut sequence),
        };
        if difference.is_some() {
            return difference;
        }
    }
    let finish = turn.finish.as_ref()?;
    let repeatable = !matches!(finish.stop, TurnStop::Cancelled | TurnStop::Budget);
    compare_messages(turn, found, repeatable).or_else(|| {
        if repeatable {
            compare_end(turn, found)
        } else {
            None
        }
    })
}

/// The reply's code is the code that ran, and ran as it did.
fn compare_code(
    place: &Place,
    reply: &ModelReply,
    turn: &TurnRecord,
    found: &Found,
) -> Option<Difference> {
    let of_round = |run: &&RunRecord| run.round == place.round;
    let run = turn.runs.iter().find(of_round);
    let written = extract(&reply.text).code;
    let ran = run.map(|run| run.code.clone());
    // A turn that was stopped may not have come to its code.
    if ran != written && (ran.is_some() || !is_stopped(turn)) {
        return differs(place, "code", json!(ran), json!(written));
    }
    let run = run?;
    let place = Place {
        run: Some(run.id),
        ..place.clone()
    };
    let again = found.runs.iter().find(|again| again.start.id == run.id);
    let report = again.and_then(|again| Some(&again.finish.as_ref()?.report));
    compare_run(&place, run, report.unwrap_or(&Json::Null))
}

fn is_stopped(turn: &TurnRecord) -> bool {
    let stop = turn.finish.as_ref().map(|finish| finish.stop);
    matches!(stop, Some(TurnStop::Cancelled | TurnStop::Budget))
}

/// Calls in order, then how it ended, then what it printed and gave.
pub(super) fn compare_run(place: &Place, run: &RunRecord, found: &Json) -> Option<Difference> {
    if run.obstacle().is_some() {
        return None;
    }
    let recorded = &run.finish.as_ref()?.report;
    let Ok(expected) = serde_json::from_value::<RunReport>(recorded.clone()) else {
        return None;
    };
    let Ok(found) = serde_json::from_value::<RunReport>(found.clone()) else {
        let found = found["error"].clone();
        return differs(place, "stop", json!(expected.stop), found);
    };
    for (sequence, (was, is)) in (1..).zip(expected.calls.iter().zip(&found.calls)) {
        let place = Place {
            call: Some(sequence),
            ..place.clone()
        };
        let difference = compare_call(&place, was, is);
        if difference.is_some() {
            return difference;
        }
    }
    let next = Place {
        call: Some(expected.calls.len().min(found.calls.len()) as u64 + 1),
        ..place.clone()
    };
    let missing = expected.calls.get(found.calls.len()).map(made);
    if found.stop == Stop::Diverged {
        return differs(&next, "call", json!(missing), json!(found.error));
    }
    if let Some(more) = found.calls.get(expected.calls.len()) {
        return differs(&next, "call", Json::Null, made(more));
    }
    if expected.stop != found.stop {
        let place = if missing.is_some() { &next } else { place };
        let ended = |report: &RunReport| json!({ "stop": report.stop, "error": report.error });
        return differs(place, "stop", ended(&expected), ended(&found));
    }
    if missing.is_some() {
        return differs(&next, "call", json!(missing), Json::Null);
    }
    let fields = [
        ("stdout", json!(expected.stdout), json!(found.stdout)),
        ("error", json!(expected.error), json!(found.error)),
        (
            "observation",
            json!(expected.observation),
            json!(found.observation),
        ),
    ];
    fields
        .into_iter()
        .find_map(|(what, was, is)| differing(place, what, was, is))
}

fn compare_call(place: &Place, was: &CallReport, is: &CallReport) -> Option<Difference> {
    differing(place, "call", made(was), made(is))
        .or_else(|| differing(place, "error", json!(was.error), json!(is.error)))
        .or_else(|| differing(place, "value", json!(was.value), json!(is.value)))
}

fn made(call: &CallReport) -> Json {
    json!({ "method": call.method, "arguments": call.arguments })
}

/// The calls of a reply are those that were made.
fn compare_calls(
    gate: &Gate,
    place: &Place,
    reply: &ModelReply,
    turn: &TurnRecord,
    sequence: &mut u64,
) -> Option<Difference> {
    // The last reply of a turn at its limit is not acted on.
    let limit = turn.finish.as_ref()?.stop == TurnStop::Limit;
    let last = turn.rounds.last().map(|round| round.number) == place.round;
    if limit && last || is_stopped(turn) {
        return None;
    }
    for call in &reply.tool_calls {
        *sequence += 1;
        let Some(recorded) = turn.calls.iter().find(|it| it.sequence == *sequence) else {
            // Malformed or refused before it was a call, or it took too long.
            continue;
        };
        let place = Place {
            call: Some(*sequence),
            ..place.clone()
        };
        let (name, arguments) = (&call.name, arguments(turn, *sequence, call));
        let known_as = if host::is_of_loop(&recorded.method, name) {
            &recorded.method
        } else {
            name
        };
        let is_it = arguments.as_ref().is_some_and(|arguments| {
            gate.is_recorded(&recorded.call(turn.id), known_as, arguments.clone())
        });
        if !is_it {
            let found = json!({ "method": name, "arguments": call.arguments });
            return differs(&place, "call", shown(recorded), found);
        }
    }
    None
}

/// What the call was made with: what the model wrote, or what plugins made of it.
fn arguments(turn: &TurnRecord, sequence: u64, call: &ToolCall) -> Option<Arguments> {
    let made = turn.altered.get(&altered::arguments_of(sequence));
    let object = match (made, &call.arguments) {
        (Some(made), _) => made.as_object()?,
        (None, CallArguments::Object(written)) => written,
        (None, CallArguments::Malformed(_)) => return None,
    };
    let named = object.iter().map(|(name, value)| {
        let value = json::from_json(value.clone()).ok()?;
        Some((name.clone(), value))
    });
    Some(Arguments {
        positional: Vec::new(),
        named: named.collect::<Option<_>>()?,
    })
}

fn shown(call: &CallRecord) -> Json {
    let arguments = recorded_arguments(&call.arguments.0).unwrap_or_default();
    let named = arguments.named.iter();
    let named: serde_json::Map<String, Json> = named
        .map(|(name, value)| (name.clone(), json::to_json(value)))
        .collect();
    json!({ "method": call.method, "arguments": named })
}

/// What the turn added to its conversation; the numbers of rounds are those of the replies in it.
fn compare_messages(turn: &TurnRecord, found: &Found, whole: bool) -> Option<Difference> {
    // Erased, or replaced by a plugin.
    if turn.messages.is_empty() {
        return None;
    }
    let (mut round, mut sequence) = (0, 0);
    for (was, is) in turn.messages.iter().zip(&found.messages) {
        let role = was["role"].as_str();
        round += u32::from(role == Some("assistant"));
        sequence += u64::from(role == Some("tool"));
        let place = Place {
            turn: Some(turn.id),
            round: Some(round.max(1)),
            call: (role == Some("tool")).then_some(sequence),
            ..Place::default()
        };
        let excused = role == Some("tool") && is_excused(turn, sequence);
        if !excused && !is_same(was, is) {
            return differs(&place, "message", was.clone(), is.clone());
        }
    }
    if !whole || turn.messages.len() == found.messages.len() {
        return None;
    }
    let place = Place {
        turn: Some(turn.id),
        round: Some(round.max(1)),
        ..Place::default()
    };
    let (was, is) = (turn.messages.len(), found.messages.len());
    let next = |messages: &[Json], place: usize| messages.get(place).cloned().unwrap_or_default();
    let place_of = was.min(is);
    let (was, is) = (
        next(&turn.messages, place_of),
        next(&found.messages, place_of),
    );
    differs(&place, "message", was, is)
}

/// A turn that a plugin asked for keeps its words in the plugin's options, one replayed without it in ours.
fn is_same(was: &Json, is: &Json) -> bool {
    was == is || from_json(was).is_some_and(|was| Some(was) == from_json(is))
}

/// A call whose outcome nobody recorded has no text to have again.
fn is_excused(turn: &TurnRecord, sequence: u64) -> bool {
    let call = turn.calls.iter().find(|call| call.sequence == sequence);
    call.is_none_or(|call| call.outcome.is_none())
}

fn compare_end(turn: &TurnRecord, found: &Found) -> Option<Difference> {
    let expected = turn.finish.as_ref()?;
    let place = Place {
        turn: Some(turn.id),
        round: turn.rounds.last().map(|round| round.number),
        ..Place::default()
    };
    let Some(found) = &found.finish else {
        return differs(&place, "stop", json!(expected.stop), Json::Null);
    };
    differing(&place, "stop", json!(expected.stop), json!(found.stop)).or_else(|| {
        let text = |report: &Json| report["text"].clone();
        differing(
            &place,
            "answer",
            text(&expected.report),
            text(&found.report),
        )
    })
}

fn differing(place: &Place, what: &str, expected: Json, found: Json) -> Option<Difference> {
    if expected == found {
        None
    } else {
        differs(place, what, expected, found)
    }
}

fn differs(place: &Place, what: &str, expected: Json, found: Json) -> Option<Difference> {
    Some(Difference {
        place: place.clone(),
        what: what.to_owned(),
        expected,
        found,
    })
}
