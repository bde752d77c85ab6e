//! The chat wire of Ollama: an object a line.

mod reader;
mod request;

pub(crate) use reader::LineReader;
pub use request::body;
