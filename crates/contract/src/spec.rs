//! [`MethodSpec`]: a method as other processes describe it (workers, and tools made up on the way),
//! before it is known where it comes from.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::{Binding, Effect, Exposure, Kind, MethodInfo, Origin, Trust};

/// How long a described method may run unless it says otherwise.
const DEADLINE: Duration = Duration::from_secs(120);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MethodSpec {
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub doc: String,
    #[serde(default = "nothing")]
    pub parameters: Json,
    #[serde(default)]
    pub returns: String,
    #[serde(default = "tool")]
    pub kind: Kind,
    #[serde(default = "effectful")]
    pub effect: Effect,
    #[serde(default)]
    pub exposure: ExposureSpec,
    /// Seconds.
    #[serde(default)]
    pub deadline: Option<f64>,
    #[serde(default)]
    pub binding: Binding,
}

/// What is left out is as for any AI method.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExposureSpec {
    code: Option<bool>,
    tool_calls: Option<bool>,
    remote: Option<bool>,
    plugins: Option<bool>,
}

fn nothing() -> Json {
    json!({"type": "object", "properties": {}})
}

fn tool() -> Kind {
    Kind::Tool
}

fn effectful() -> Effect {
    Effect::Effectful
}

impl MethodSpec {
    pub fn of(self, origin: Origin) -> MethodInfo {
        let exposure = Exposure {
            code: self.exposure.code.unwrap_or(Exposure::AI.code),
            tool_calls: self.exposure.tool_calls.unwrap_or(Exposure::AI.tool_calls),
            remote: self.exposure.remote.unwrap_or(Exposure::AI.remote),
            plugins: self.exposure.plugins.unwrap_or(Exposure::AI.plugins),
        };
        let deadline = self
            .deadline
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        MethodInfo {
            title: if self.title.is_empty() {
                self.name.clone()
            } else {
                self.title
            },
            name: self.name,
            aliases: self.aliases,
            description: self.description,
            doc: self.doc,
            parameters: self.parameters,
            returns: self.returns,
            kind: self.kind,
            origin,
            exposure,
            // Rows are changes of our own store, which another process cannot return.
            effect: match self.effect {
                Effect::Rows => Effect::Effectful,
                effect => effect,
            },
            deadline: deadline.unwrap_or(DEADLINE),
            binding: self.binding,
            leaf: false,
            trust: Trust::default(),
        }
    }
}
