//! Calls as a journal recorded them, each with what let it pass.

use callgate_contract::{Arguments, JournalId, Kind, codec, json as value_json};
use callgate_gate::recorded_arguments;
use callgate_store::{ApprovalState, RecordedCall, Turn};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{Service, ServiceError};

/// One call through the gate.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CallView {
    pub method: String,
    pub kind: Option<Kind>,
    pub arguments: Json,
    pub value: Option<Json>,
    pub error: Option<String>,
    /// For the operator: a traceback, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub micros: u64,
    /// Whose word let it pass; of calls in a turn's journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_by: Option<AllowedBy>,
}

/// What let a call pass, or kept it from passing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AllowedBy {
    pub by: Permit,
    /// Its number, where somebody was asked.
    pub approval: Option<i64>,
    /// `pending`, `allowed` or `denied`, where somebody was asked.
    #[schemars(with = "Option<String>")]
    pub state: Option<ApprovalState>,
    /// Who answered.
    pub who: Option<String>,
    #[schemars(with = "Option<String>")]
    pub at: Option<Timestamp>,
    /// The persona that holds the method.
    pub persona: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permit {
    /// The operator was asked.
    Approval,
    /// The operator's word for all calls of the method in this session.
    Rule,
    /// The turn's persona holds it.
    Persona,
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

/// The calls of one journal of the turn, each with what let it pass.
pub(super) async fn of_journal(
    service: &Service,
    turn: &Turn,
    journal: JournalId,
) -> Result<Vec<CallView>, ServiceError> {
    let approvals = service.store().approvals();
    let asked = approvals.of(journal).await?;
    let mut views = Vec::new();
    for call in service.store().journal().recorded(journal).await? {
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
        } else if service.gate().asks_for(&method)
            && service.gate().is_answered(&turn.start.session, &method)
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
