//! Sending a message, and what became of it.

use callgate_agent::{Arrived, CallReport, ModelFailure, TurnReport};
use callgate_contract::{Mode, Part, SessionKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::journal_id;
use crate::{Capability, Listing, Observer, Operation, Requester, Service, ServiceError};

/// It goes through the whole pipeline, like one from any chat platform.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessage {
    pub session: SessionKey,
    pub text: Option<String>,
    /// Besides or instead of the text.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// Who speaks, with that one's rights; whoever asks where nobody is named.
    pub user: Option<String>,
    pub mode: Option<Mode>,
    pub model: Option<String>,
    /// False answers as soon as the message is stored; what follows is heard at /api/events.
    #[serde(default = "yes")]
    pub wait: bool,
    /// The sender's own name for this message. Sent again under the same name, it is the same message
    /// and gets the same answer.
    pub idempotency_key: Option<String>,
}

impl Operation for SendMessage {
    type Response = SendMessageResponse;
    const NAME: &'static str = "sessions.send";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        if let (Some(model), Some(agent)) = (&self.model, service.running_agent()) {
            let known = agent.models().all();
            if !known.iter().any(|it| it.id == *model) {
                let error = format!("no model '{model}'");
                return Err(ServiceError::not_found(error, Listing::Models));
            }
        }
        let sent = service.send_message(requester, self, Observer::default());
        Ok(match sent.await? {
            Some(sent) => sent.arrived.into(),
            None => SendMessageResponse::short("accepted"),
        })
    }
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SendMessageResponse {
    /// `answered`, `silent`, `limit`, `budget`, `cancelled`, `error`, `approval`, `command`,
    /// `joined`, `heard`, `taken` or `accepted`.
    pub stop: String,
    pub turn: Option<String>,
    pub rounds: u32,
    pub calls: u64,
    /// The answer in words.
    pub text: String,
}

impl SendMessageResponse {
    fn short(stop: &str) -> Self {
        SendMessageResponse {
            stop: stop.to_owned(),
            turn: None,
            rounds: 0,
            calls: 0,
            text: String::new(),
        }
    }
}

impl From<Arrived> for SendMessageResponse {
    fn from(arrived: Arrived) -> Self {
        match arrived {
            Arrived::Repeated | Arrived::Heard => SendMessageResponse::short("heard"),
            Arrived::Command => SendMessageResponse::short("command"),
            Arrived::Joined => SendMessageResponse::short("joined"),
            Arrived::Taken => SendMessageResponse::short("taken"),
            Arrived::Turn(report) => SendMessageResponse {
                stop: stop_word(&report),
                turn: Some(journal_id(report.turn)),
                rounds: report.rounds,
                calls: report.calls,
                text: report.text,
            },
        }
    }
}

/// What became of a message, for whoever followed it.
#[derive(Debug)]
pub struct SentMessage {
    pub arrived: Arrived,
    pub calls: Vec<CallReport>,
    /// Also of a turn that a plugin asked for.
    pub ended: Option<TurnReport>,
}

/// The last line of a message that was followed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "turn")]
pub struct TurnSummaryLine {
    pub rounds: u32,
    pub stop: String,
    pub calls: Vec<CallReport>,
    /// Why its model gave no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ModelFailure>,
}

impl From<SentMessage> for TurnSummaryLine {
    fn from(sent: SentMessage) -> Self {
        let mut failure = None;
        let (rounds, stop) = match (&sent.arrived, &sent.ended) {
            (Arrived::Turn(report), _) | (Arrived::Taken, Some(report)) => {
                failure.clone_from(&report.failure);
                (report.rounds, stop_word(report))
            }
            (Arrived::Command | Arrived::Joined | Arrived::Taken, _) => (0, "answered".to_owned()),
            (Arrived::Heard | Arrived::Repeated, _) => (0, "silent".to_owned()),
        };
        TurnSummaryLine {
            rounds,
            stop,
            calls: sent.calls,
            failure,
        }
    }
}

fn stop_word(report: &TurnReport) -> String {
    let stop = report.stop.map_or(json!("approval"), |stop| json!(stop));
    stop.as_str().unwrap_or_default().to_owned()
}
