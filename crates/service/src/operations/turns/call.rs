//! Calls as a journal recorded them, each with who decided about it.

use callgate_contract::{Arguments, JournalId, Kind, codec, json as value_json};
use callgate_gate::recorded_arguments;
use callgate_store::{ApprovalState, DecidedBy as Decider, RecordedCall, Turn};
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
    /// Of calls in a turn's journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<DecidedBy>,
}

/// By whose word a call was made or refused, as it was decided then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum DecidedBy {
    /// Somebody was asked about this call.
    Approval {
        /// Its number.
        approval: i64,
        /// `pending`, `allowed` or `denied`.
        #[schemars(with = "String")]
        state: ApprovalState,
        /// Who answered.
        who: Option<String>,
        #[schemars(with = "Option<String>")]
        at: Option<Timestamp>,
    },
    /// A rule, or an answer that was given for good.
    Rule {
        /// Its number; rules of the configuration file have none.
        rule: Option<i64>,
        /// What it says; none once it was taken back.
        text: Option<String>,
        /// Who made it.
        who: Option<String>,
    },
    /// No rule speaks of it, and the turn's persona holds the method.
    Persona { persona: Option<String> },
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
            decided_by: None,
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

/// The calls of one journal of the turn, each with who decided about it.
pub(super) async fn of_journal(
    service: &Service,
    turn: &Turn,
    journal: JournalId,
) -> Result<Vec<CallView>, ServiceError> {
    let store = service.store();
    let asked = store.approvals().of(journal).await?;
    let rules = store.rules().list().await?;
    let calls = store.journal().recorded(journal).await?;
    Ok(calls
        .into_iter()
        .map(|call| {
            let sequence = call.intent.sequence;
            let asked = asked.iter().find(|it| it.ask.sequence == sequence);
            let decided_by = match (asked, &call.intent.decided_by) {
                (Some(approval), _) => DecidedBy::Approval {
                    approval: approval.id,
                    state: approval.state,
                    who: approval.answered_by.clone(),
                    at: approval.answered_at,
                },
                (None, Some(Decider::Rule(id))) => {
                    let rule = rules.iter().find(|rule| rule.id == *id);
                    DecidedBy::Rule {
                        rule: Some(*id),
                        text: rule.map(|rule| rule.rule.to_string()),
                        who: rule.and_then(|rule| rule.made_by.clone()),
                    }
                }
                (None, Some(Decider::Configured(text))) => DecidedBy::Rule {
                    rule: None,
                    text: Some(text.clone()),
                    who: None,
                },
                // An approval belongs to the journal it was asked in: it was found above.
                (None, Some(Decider::Approval(_)) | None) => DecidedBy::Persona {
                    persona: turn.start.persona.clone(),
                },
            };
            CallView {
                decided_by: Some(decided_by),
                ..CallView::from(call)
            }
        })
        .collect())
}
