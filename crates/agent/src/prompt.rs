//! What a model gets to read, as pure functions of data. The system prompt holds only what stays
//! the same from turn to turn, so that providers can cache it; the chat comes after it and the
//! facts of the moment last. Whatever people wrote is data: it is marked as such and can neither
//! end its line nor speak for another.

mod catalogue;
mod chat;
mod escape;
mod index;
mod runtime;

use callgate_contract::{MethodInfo, Mode};

pub use catalogue::{LARGE_METHODS, LARGE_TOKENS, declared};
pub use chat::{ChatBounds, ChatRow, Person, Speaker, chat};
pub use runtime::{Note, Runtime, runtime};

pub(crate) use catalogue::{brief, described};
pub(crate) use escape::one_line;

/// What the stable part of a prompt is made from.
#[derive(Clone, Copy)]
pub struct PromptContext<'a> {
    pub mode: Mode,
    /// Who the model is to be. The operator's words, taken as they are.
    pub persona: &'a str,
    /// What the caller may use.
    pub methods: &'a [&'a MethodInfo],
    /// Python packages that code finds besides the standard library.
    pub packages: &'a [&'a str],
}

/// The stable part. Equal for equal contexts, byte for byte.
pub fn system_prompt(context: &PromptContext) -> String {
    let mut sections = vec![context.persona.trim().to_owned()];
    match context.mode {
        Mode::Code => {
            sections.push(code_contract(context));
            sections.push(catalogue::for_code(context.methods));
        }
        Mode::Tools => {
            sections.push(include_str!("prompt/tools.md").trim().to_owned());
            sections.push(catalogue::for_tools(context.methods));
        }
    }
    sections.push(include_str!("prompt/data.md").trim().to_owned());
    sections.retain(|section| !section.is_empty());
    sections.join("\n\n")
}

fn code_contract(context: &PromptContext) -> String {
    let has = |name: &str| context.methods.iter().any(|info| info.name == name);
    let speak = if has("send_message") {
        "send_message(text)"
    } else {
        "a method that sends messages, if there is one"
    };
    let packages = match context.packages {
        [] => "No other package is installed.".to_owned(),
        packages => format!("Installed besides: {}.", packages.join(", ")),
    };
    include_str!("prompt/code.md")
        .trim()
        .replace("{speak}", speak)
        .replace("{packages}", &packages)
}
