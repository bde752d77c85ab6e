//! Values as bytes: what crosses between Rust and Python, and what the journal stores.

use crate::Value;

/// Deepest nesting of a passable value, counted in containers.
pub const MAX_DEPTH: usize = 100;

/// Why a value cannot pass, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    #[error("{0}")]
    Malformed(String),
}

pub fn encode(_value: &Value) -> Result<Vec<u8>, CodecError> {
    todo!()
}

pub fn decode(_bytes: &[u8]) -> Result<Value, CodecError> {
    todo!()
}
