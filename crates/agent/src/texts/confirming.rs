//! What people are asked before something is done in their name.

use callgate_contract::{Choice, StrangeValue};
use callgate_store::Ask;

use crate::language::Language::{self, Chinese, English};

/// Characters of arguments that a question repeats.
const SHOWN: usize = 300;

pub(crate) fn may_i(language: Language, ask: &Ask, approval: i64) -> String {
    let question = match &ask.reason {
        Some(strange) => about(language, strange),
        None => {
            let Ask { method, .. } = ask;
            let arguments: String = ask.arguments.to_string().chars().take(SHOWN).collect();
            match language {
                English => format!("May I call {method} with {arguments}?"),
                Chinese => format!("可以调用 {method}，参数为 {arguments} 吗？"),
            }
        }
    };
    match language {
        English => format!("{question} Answer /approve {approval} or /deny {approval}."),
        Chinese => format!("{question}请回复 /approve {approval} 或 /deny {approval}。"),
    }
}

fn about(language: Language, strange: &StrangeValue) -> String {
    let StrangeValue {
        method,
        value,
        choice,
        ..
    } = strange;
    let sources = strange.sources.join(", ");
    match language {
        English => {
            let what = match choice {
                Choice::Recipient => "the recipient",
                Choice::Path => "the path",
                Choice::Command => "the command",
                Choice::Url => "the address",
            };
            format!(
                "May I call {method} with {what} {value:?}? You did not name it, and it may come from \
                 what I read ({sources})."
            )
        }
        Chinese => {
            let what = match choice {
                Choice::Recipient => "接收方",
                Choice::Path => "路径",
                Choice::Command => "命令",
                Choice::Url => "网址",
            };
            format!(
                "可以调用 {method}，{what}为 {value:?} 吗？你没有提到它，它可能来自我读到的内容（{sources}）。"
            )
        }
    }
}
