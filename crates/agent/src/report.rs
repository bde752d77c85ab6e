//! [`RunReport`]: what came of one run, in the options the command line and the API show.

use callgate_contract::{Arguments, CodeCall, JournalId, Kind, Method, Part, Report, Stop, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    pub run: JournalId,
    pub stop: Stop,
    pub stdout: String,
    pub error: Option<String>,
    /// The line of the code that `error` points at.
    pub line: Option<u32>,
    /// What the next round gets: of a run that an `agent` or `multimodal_agent` call ended.
    pub observation: Option<Observation>,
    pub calls: Vec<CallReport>,
    pub wall_ms: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Observation {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CallReport {
    pub method: String,
    /// Unknown for a name that is no method.
    pub kind: Option<Kind>,
    pub arguments: Json,
    pub value: Option<Json>,
    pub error: Option<String>,
    pub micros: u64,
    /// Answered from the journal, not made again.
    pub replayed: bool,
}

impl CallReport {
    /// The call as it was made; its answer is filled in later.
    pub(crate) fn of(call: &CodeCall, method: Option<&dyn Method>) -> Self {
        CallReport {
            method: call.method.clone(),
            kind: method.map(|method| method.info().kind),
            arguments: by_name(&call.arguments, method),
            value: None,
            error: None,
            micros: 0,
            replayed: false,
        }
    }
}

/// Positional arguments get the names of the parameters they stand for, as far as there are any.
pub(crate) fn by_name(arguments: &Arguments, method: Option<&dyn Method>) -> Json {
    let properties = method.and_then(|method| method.info().parameters["properties"].as_object());
    let mut names = properties.into_iter().flat_map(Map::keys);
    let mut object = Map::new();
    for (place, value) in arguments.positional.iter().enumerate() {
        let name = names.next().cloned().unwrap_or_else(|| place.to_string());
        object.insert(name, json::to_json(value));
    }
    for (name, value) in &arguments.named {
        object.insert(name.clone(), json::to_json(value));
    }
    Json::Object(object)
}

impl RunReport {
    pub(crate) fn new(
        run: JournalId,
        report: Report,
        calls: Vec<CallReport>,
        observation: Option<Observation>,
        diverged: Option<String>,
    ) -> Self {
        RunReport {
            run,
            stop: report.stop,
            stdout: report.stdout,
            error: diverged.or(report.error),
            line: report.line,
            observation,
            calls,
            wall_ms: report.wall.as_secs_f64() * 1e3,
        }
    }
}
