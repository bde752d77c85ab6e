//! Turns and their journal: what was asked, what was answered, what was called.

use std::collections::HashMap;

use axum::{Json as Body, extract::State};
use callgate_contract::{
    Arguments, JournalId, Mode, Part, SessionKey, TurnStop, Usage, codec, json as value_json,
};
use callgate_gate::recorded_arguments;
use callgate_store::{LogRow, RecordedCall, Round, Turn};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{
    Api, Outcome,
    input::{Params, Path},
    list::{List, Piece},
    problem::Problem,
    route::{Routes, Verb},
    view::{AllowedBy, CallView, Permit, id},
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Get, "/api/turns", "Turns, the latest first", list)
        .query::<Which>()
        .gives::<List<TurnView>>();
    routes
        .add(
            Verb::Get,
            "/api/turns/{id}",
            "One turn with its journal",
            show,
        )
        .gives::<Whole>();
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Which {
    session: Option<SessionKey>,
    /// `said`: also how what was asked begins.
    with: Option<With>,
    #[serde(flatten)]
    piece: Piece,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum With {
    Said,
}

/// Characters of what was asked that a list shows.
const SHOWN: usize = 160;

#[derive(Debug, Serialize, JsonSchema)]
struct TurnView {
    id: String,
    session: SessionKey,
    conversation: Option<String>,
    user: String,
    mode: Mode,
    model: String,
    persona: Option<String>,
    /// The turn whose agent this one is.
    parent: Option<String>,
    #[schemars(with = "String")]
    started_at: Timestamp,
    #[schemars(with = "Option<String>")]
    ended_at: Option<Timestamp>,
    /// None while it runs, or waits for an approval.
    stop: Option<TurnStop>,
    /// The beginning of what was asked: of one turn, and in lists asked `with=said`. None for agents.
    said: Option<String>,
}

impl From<Turn> for TurnView {
    fn from(turn: Turn) -> Self {
        let Turn {
            start,
            started_at,
            finish,
        } = turn;
        TurnView {
            id: id(start.id),
            session: start.session,
            conversation: start.conversation.map(|id| id.to_string()),
            user: start.user,
            mode: start.mode,
            model: start.model,
            persona: start.persona,
            parent: start.parent.map(id),
            started_at,
            ended_at: finish.as_ref().map(|finish| finish.at),
            stop: finish.map(|finish| finish.stop),
            said: None,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct Whole {
    #[serde(flatten)]
    turn: TurnView,
    rounds: Vec<RoundView>,
    /// Of tool mode; those of code are in its runs.
    calls: Vec<CallView>,
    runs: Vec<CodeView>,
    /// Turns of the agents it called.
    children: Vec<TurnView>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RoundView {
    number: u32,
    /// What the model was asked, where that is kept. With `after`: the first so many messages of the
    /// request before it, then these `messages`; and the same `tools` unless there are others.
    request: Option<Json>,
    reply: Option<Json>,
    usage: Option<Usage>,
    /// In millionths of the operator's currency, where a price is known.
    money: Option<u64>,
    /// More than 1 after a crash that hid an answer.
    attempts: u32,
    #[schemars(with = "String")]
    asked_at: Timestamp,
    #[schemars(with = "Option<String>")]
    answered_at: Option<Timestamp>,
}

impl From<Round> for RoundView {
    fn from(round: Round) -> Self {
        let answer = round.answer;
        RoundView {
            number: round.number,
            request: round.request,
            usage: answer.as_ref().and_then(|answer| answer.usage),
            money: answer.as_ref().and_then(|answer| answer.money),
            answered_at: answer.as_ref().map(|answer| answer.at),
            reply: answer.map(|answer| answer.reply),
            attempts: round.attempts,
            asked_at: round.asked_at,
        }
    }
}

/// Code of a turn, and what it did.
#[derive(Debug, Serialize, JsonSchema)]
struct CodeView {
    run: String,
    round: u32,
    code: String,
    /// The report of the run; none while it runs.
    report: Option<Json>,
    calls: Vec<CallView>,
}

impl From<RecordedCall> for CallView {
    fn from(call: RecordedCall) -> Self {
        let arguments = recorded_arguments(&call.intent.arguments).unwrap_or_default();
        let arguments = shown(&arguments);
        let (result, detail, micros) = match call.outcome {
            Some(outcome) => (Some(outcome.result), outcome.detail, outcome.micros),
            None => (None, None, 0),
        };
        let value = |bytes: &[u8]| codec::decode_trusted(bytes).ok();
        let (value, error) = match result {
            Some(Ok(success)) => (
                value(&success.value).map(|it| value_json::to_json(&it)),
                None,
            ),
            Some(Err(error)) => (None, Some(error)),
            None => (None, Some("nobody knows how this call ended".to_owned())),
        };
        CallView {
            method: call.intent.method,
            kind: Some(call.intent.kind),
            arguments,
            value,
            error,
            detail,
            micros,
            allowed_by: None,
        }
    }
}

/// By position where nothing was named, else by name.
fn shown(arguments: &Arguments) -> Json {
    let positional = arguments.positional.iter().map(value_json::to_json);
    if arguments.named.is_empty() {
        return positional.collect();
    }
    let numbered = positional
        .enumerate()
        .map(|(place, value)| (place.to_string(), value));
    let named = arguments.named.iter();
    let named = named.map(|(name, value)| (name.clone(), value_json::to_json(value)));
    Json::Object(numbered.chain(named).collect())
}

async fn list(State(api): State<Api>, Params(which): Params<Which>) -> Outcome<List<TurnView>> {
    let (before, limit) = (which.piece.text(), which.piece.limit());
    let turns = api.store().turns();
    let mut found = turns
        .before(which.session.as_ref(), before, limit + 1)
        .await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = more
        .then(|| found.last().map(|turn| id(turn.start.id)))
        .flatten();
    let said = match which.with {
        Some(With::Said) => said(&api, &found).await?,
        None => HashMap::new(),
    };
    let view = |turn: Turn| TurnView {
        said: said.get(&turn.start.id).cloned(),
        ..TurnView::from(turn)
    };
    let items = found.into_iter().map(view).collect();
    Ok(Body(List { items, next }))
}

/// How what each turn was asked begins.
async fn said(api: &Api, turns: &[Turn]) -> Result<HashMap<JournalId, String>, Problem> {
    let ids: Vec<JournalId> = turns.iter().map(|turn| turn.start.id).collect();
    let rows = api.store().log().asked(&ids).await?;
    let brief = |row: LogRow| {
        let texts = row.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.trim()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join(" ");
        Some((row.turn?, text.chars().take(SHOWN).collect()))
    };
    Ok(rows.into_iter().filter_map(brief).collect())
}

async fn show(State(api): State<Api>, Path(name): Path<String>) -> Outcome<Whole> {
    let missing = || Problem::missing(format!("no turn {name}"));
    let turn = JournalId(name.parse().map_err(|_| missing())?);
    let turns = api.store().turns();
    let found = turns.get(turn).await?;
    let mut runs = Vec::new();
    for run in turns.runs(turn).await? {
        runs.push(CodeView {
            run: id(run.start.id),
            round: run.start.turn.map_or(0, |(_, round)| round),
            calls: calls(&api, &found, run.start.id).await?,
            code: run.start.code.unwrap_or_default(),
            report: run.finish.map(|finish| finish.report),
        });
    }
    let rounds = callgate_agent::rounds(api.store(), turn).await?;
    let calls = calls(&api, &found, turn).await?;
    let children = turns.children(turn).await?;
    let mut said = said(&api, std::slice::from_ref(&found)).await?;
    Ok(Body(Whole {
        turn: TurnView {
            said: said.remove(&turn),
            ..found.into()
        },
        rounds: rounds.into_iter().map(RoundView::from).collect(),
        calls,
        runs,
        children: children.into_iter().map(TurnView::from).collect(),
    }))
}

/// The calls of one journal of the turn, each with what let it pass.
async fn calls(api: &Api, turn: &Turn, journal: JournalId) -> Result<Vec<CallView>, Problem> {
    let approvals = api.store().approvals();
    let asked = approvals.of(journal).await?;
    let mut views = Vec::new();
    for call in api.store().journal().recorded(journal).await? {
        let (sequence, method) = (call.intent.sequence, call.intent.method.clone());
        let mut allowed = AllowedBy {
            by: Permit::Persona,
            approval: None,
            state: None,
            who: None,
            at: None,
            persona: turn.start.persona.clone(),
        };
        if let Some(found) = asked.iter().find(|it| it.ask.sequence == sequence) {
            allowed.by = Permit::Approval;
            allowed.approval = Some(found.id);
            allowed.state = Some(found.state);
            allowed.who.clone_from(&found.answered_by);
            allowed.at = found.answered_at;
        } else if api.gate().asks_for(&method)
            && approvals
                .rule(&turn.start.session, &method)
                .await?
                .is_some()
        {
            allowed.by = Permit::Rule;
        }
        views.push(CallView {
            allowed_by: Some(allowed),
            ..CallView::from(call)
        });
    }
    Ok(views)
}
