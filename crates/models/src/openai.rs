//! The chat-completions wire of OpenAI and of every server that imitates it.

mod reader;
mod request;
mod think;

pub(crate) use reader::ChatReader;
pub use request::body;
