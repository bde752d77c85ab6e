//! [`PlatformAction`]: what a platform can do besides sending messages, as far as it makes sense to let an AI
//! do it. It acts in the chat in which it is asked: none of its parameters says where. One called `user_id`
//! says to whom it is done, on every platform.

use serde_json::{Map, Value as Json, json};

#[derive(Clone, Copy, Debug)]
pub struct PlatformAction {
    /// The platform's own name of it.
    pub name: &'static str,
    pub description: &'static str,
    pub parameters: &'static [ActionParameter],
    pub harm: ActionHarm,
    /// What the platform calls the chat among its parameters. It is filled in: the chat the AI speaks in.
    pub chat: Option<&'static str>,
    /// Only groups have it.
    pub in_groups: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct ActionParameter {
    pub name: &'static str,
    /// A type of JSON Schema.
    pub kind: &'static str,
    pub description: &'static str,
    /// What it is where nobody says; `None` where somebody must.
    pub default: Option<&'static str>,
}

/// What it does to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionHarm {
    /// It only looks.
    None,
    /// It shows.
    Seen,
    /// It takes something from somebody: the operator is asked.
    Moderates,
}

impl PlatformAction {
    /// JSON Schema of its parameters, as an object.
    pub fn schema(&self) -> Json {
        let properties = self.parameters.iter().map(|parameter| {
            let mut schema = json!({
                "type": parameter.kind,
                "description": parameter.description,
            });
            if let Some(default) = parameter.default {
                schema["default"] = serde_json::from_str(default).unwrap_or(default.into());
            }
            (parameter.name.to_owned(), schema)
        });
        let required = self.parameters.iter().filter(|it| it.default.is_none());
        json!({
            "type": "object",
            "properties": properties.collect::<Map<String, Json>>(),
            "required": required.map(|it| it.name).collect::<Vec<_>>(),
            "additionalProperties": false,
        })
    }
}
