//! Scenarios: what is done to a plugin, step by step, and what must come of it. Owns the format and
//! the comparison; whoever drives the plugin says what came. Format: see docs/scenarios.md.

mod asked;
mod compare;
mod sent;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

pub use asked::{SystemPrompts, asked};
pub use compare::{compare, differences};
pub use sent::sent;

/// A scenario as its file holds it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Scenario {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
    pub steps: Vec<Step>,
    /// What the plugin must turn out to be, in its upstream's words.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub loaded: Json,
    #[serde(default)]
    pub recipe_top: Recipe,
    /// Of AstrBot plugins: `Event:function`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handlers: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Json>,
}

impl Scenario {
    /// What the plugin adds to a system prompt, as any step says it.
    pub fn prompt_additions(&self) -> Vec<String> {
        let requests = self.steps.iter().filter_map(|it| it.0.get("llm_requests"));
        requests.flat_map(asked::additions).collect()
    }
}

/// How the plugin is set up.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Recipe {
    /// The name of the folder it is loaded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirname: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin_config: Option<Map<String, Json>>,
}

impl Recipe {
    pub fn folder(&self) -> Option<&str> {
        self.dirname.as_deref().or(self.module.as_deref())
    }
}

/// Input and output keys of one step, as they stand in the file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Step(pub Map<String, Json>);

/// Keys that say what must come out; all others say what to do.
pub const OUTPUTS: &[&str] = &[
    "result",
    "error",
    "type",
    "sent",
    "system_pushed",
    "value",
    "llm_requests",
];

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A method, as sandbox code would call it.
    Call {
        method: String,
        positional: Vec<Json>,
        named: Map<String, Json>,
    },
    Command {
        name: String,
        raw_args: String,
        is_operator: bool,
    },
    /// A message through the hooks, without a turn.
    UserMessage(Map<String, Json>),
    /// What the plugin adds to the prompt.
    Inject,
    /// The block of the prompt about its methods.
    MethodsPrompt,
    Reset,
    Cleanup,
    /// A body of Python run in the worker.
    Python(String),
    /// A message through the whole pipeline, with a scripted model.
    Message(Map<String, Json>),
}

impl Step {
    /// What to do, or why that cannot be told.
    pub fn action(&self) -> Result<Action, String> {
        let step = &self.0;
        let text = |key: &str| step.get(key).and_then(Json::as_str).map(str::to_owned);
        if let Some(method) = text("call") {
            let positional = step.get("args").and_then(Json::as_array);
            let named = step.get("kw").and_then(Json::as_object);
            return Ok(Action::Call {
                method,
                positional: positional.cloned().unwrap_or_default(),
                named: named.cloned().unwrap_or_default(),
            });
        }
        if let Some(name) = text("command") {
            return Ok(Action::Command {
                name,
                raw_args: text("raw_args").unwrap_or_default(),
                is_operator: step.get("super").is_some_and(|it| *it == json!(true)),
            });
        }
        if let Some(source) = text("py") {
            return Ok(Action::Python(source));
        }
        if let Some(message) = step.get("user_message") {
            let told = message.as_object().cloned();
            return Ok(Action::UserMessage(told.unwrap_or_else(|| {
                Map::from_iter([("text".to_owned(), message.clone())])
            })));
        }
        if step.contains_key("msg") {
            return Ok(Action::Message(step.clone()));
        }
        for (key, action) in [
            ("inject", Action::Inject),
            ("methods_prompt", Action::MethodsPrompt),
            ("reset", Action::Reset),
            ("cleanup", Action::Cleanup),
        ] {
            if step.contains_key(key) {
                return Ok(action);
            }
        }
        let keys: Vec<&str> = step.keys().map(String::as_str).collect();
        Err(format!("a step of {keys:?} says nothing to do"))
    }

    /// The step with what came of it instead of what was expected.
    pub fn recorded(&self, observed: &Map<String, Json>) -> Step {
        let mut step = self.0.clone();
        step.retain(|key, _| !OUTPUTS.contains(&key.as_str()));
        for key in OUTPUTS {
            if let Some(value) = observed.get(*key) {
                step.insert((*key).to_owned(), value.clone());
            }
        }
        Step(step)
    }
}

/// How one step went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepReport {
    pub ok: bool,
    /// For people to read; empty where `ok`.
    pub difference: String,
}

/// How a scenario went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScenarioReport {
    pub plugin: String,
    /// Is the plugin what the scenario says it is?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded: Option<StepReport>,
    pub steps: Vec<StepReport>,
    pub passed: usize,
    pub failed: usize,
}

impl StepReport {
    pub fn new(difference: Option<String>) -> Self {
        StepReport {
            ok: difference.is_none(),
            difference: difference.unwrap_or_default(),
        }
    }
}

impl ScenarioReport {
    pub fn new(plugin: String, loaded: Option<StepReport>, steps: Vec<StepReport>) -> Self {
        let passed = steps.iter().filter(|step| step.ok).count();
        let failed = steps.len() - passed + usize::from(loaded.as_ref().is_some_and(|it| !it.ok));
        ScenarioReport {
            plugin,
            loaded,
            steps,
            passed,
            failed,
        }
    }
}
