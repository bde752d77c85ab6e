//! The messages wire of Anthropic.

mod reader;
mod request;

pub(crate) use reader::Messages;
pub use request::body;
