//! What people are asked before something is done in their name.

use callgate_contract::{Choice, StrangeValue, StrangeValues};
use callgate_store::{Approver, Ask};

use crate::language::Language::{self, Chinese, English};

/// Characters of arguments that a question repeats.
const SHOWN: usize = 300;

pub(crate) fn may_i(language: Language, ask: &Ask, approval: i64) -> String {
    let question = match &ask.reason {
        Some(strange) => about(language, &ask.method, strange),
        None => {
            let Ask { method, .. } = ask;
            let arguments: String = ask.arguments.to_string().chars().take(SHOWN).collect();
            match language {
                English => format!("May I call {method} with {arguments}?"),
                Chinese => format!("可以调用 {method}，参数为 {arguments} 吗？"),
            }
        }
    };
    match (language, ask.approver) {
        (English, Approver::Requester) => {
            format!("{question} Answer /approve {approval} or /deny {approval}.")
        }
        (English, Approver::Operator) => format!(
            "{question} This waits for an administrator, who can answer here: /approve {approval} or /deny {approval}."
        ),
        (Chinese, Approver::Requester) => {
            format!("{question}请回复 /approve {approval} 或 /deny {approval}。")
        }
        (Chinese, Approver::Operator) => format!(
            "{question}这需要管理员同意，管理员可以在这里回复 /approve {approval} 或 /deny {approval}。"
        ),
    }
}

fn about(language: Language, method: &str, strange: &StrangeValues) -> String {
    let sources = strange.sources.join(", ");
    let named = |it: &StrangeValue| format!("{} {:?}", what(language, it.choice), it.value);
    let values: Vec<String> = strange.values.iter().map(named).collect();
    match language {
        English => format!(
            "May I call {method} with {}? You did not name this, and it may come from what I read \
             ({sources}).",
            values.join(", ")
        ),
        Chinese => format!(
            "可以调用 {method}，{} 吗？你没有提到它，它可能来自我读到的内容（{sources}）。",
            values.join("，")
        ),
    }
}

fn what(language: Language, choice: Choice) -> &'static str {
    match (language, choice) {
        (English, Choice::Recipient) => "the recipient",
        (English, Choice::Path) => "the path",
        (English, Choice::Command) => "the command",
        (English, Choice::Url) => "the address",
        (Chinese, Choice::Recipient) => "接收方为",
        (Chinese, Choice::Path) => "路径为",
        (Chinese, Choice::Command) => "命令为",
        (Chinese, Choice::Url) => "网址为",
    }
}
