//! The responses wire of OpenAI. Nothing is left on the server: its encrypted thoughts travel with
//! the conversation instead.

mod reader;
mod request;

pub(crate) use reader::Responses;
pub use request::body;

/// Is this a model of OpenAI's that thinks before it answers? Since the fifth generation all do but
/// those named for chats.
pub(crate) fn reasons(model: &str) -> bool {
    let number = |prefix: &str| -> Option<u32> {
        let rest = model.strip_prefix(prefix)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let later = number("gpt-").is_some_and(|generation| generation >= 5);
    let thinks = later || number("o").is_some() || model.starts_with("codex");
    thinks && !model.contains("-chat")
}
