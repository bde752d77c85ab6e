//! The generateContent wire of Google.

mod reader;
mod request;

pub(crate) use reader::Contents;
pub use request::body;

/// Where a call's signature of thoughts is kept: the place that Google's own imitation of OpenAI's
/// wire gives it.
const SIGNATURE: &str = "/google/thought_signature";
const SIGNED_BY: &str = "/google/model";
