//! [`InvalidModel`]: a model that cannot be made from what was asked. Failures of a model that
//! answers are `ModelError`s.

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidModel {
    #[error("model '{id}': base_url '{base_url}' is no http(s) address")]
    Address { id: String, base_url: String },
    #[error("model '{id}': '{name}' cannot be sent as a header")]
    Header { id: String, name: String },
    #[error("model '{id}': fallback '{fallback}' is no other model of the list")]
    Fallback { id: String, fallback: String },
    #[error("two models have the id '{id}'")]
    Twice { id: String },
    #[error("no model '{id}'; there are: {}", known.join(", "))]
    Unknown { id: String, known: Vec<String> },
    #[error("the script '{file}' cannot be used: {reason}")]
    Script { file: String, reason: String },
}
