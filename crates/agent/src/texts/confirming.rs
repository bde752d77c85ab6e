//! What people are asked before something goes where they did not say.

use callgate_contract::{Choice, StrangeValue};

use crate::language::Language::{self, Chinese, English};

pub(crate) fn may_i(language: Language, strange: &StrangeValue, approval: i64) -> String {
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
                 what I read ({sources}). Answer /approve {approval} or /deny {approval}."
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
                "可以调用 {method}，{what}为 {value:?} 吗？你没有提到它，它可能来自我读到的内容（{sources}）。\
                 请回复 /approve {approval} 或 /deny {approval}。"
            )
        }
    }
}
