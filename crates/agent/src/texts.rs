//! What the agent itself says, in one place: to people in their language, to models in English.

mod budgets;
mod commands;
mod confirming;
mod explaining;
mod failing;
mod limits;

use std::{sync::Arc, time::Duration};

use callgate_contract::{Method, Stop};
use callgate_gate::CallError;

pub(crate) use self::{
    budgets::*, commands::*, confirming::*, explaining::*, failing::*, limits::*,
};
use crate::language::Language::{self, Chinese, English};

pub(crate) const LAST_ROUND_CODE: &str = "This is the last round of this turn. Finish now: answer \
    in plain text, or with code that needs no further round.";
pub(crate) const LAST_ROUND_TOOLS: &str = "This is the last round of this turn and no tool can be called any more. Answer with what you have.";
pub(crate) const NO_OUTPUT: &str = "[The code ran and printed nothing.]";
pub(crate) const DONE: &str = "[done]";
pub(crate) const STOPPED: &str = "[not done: the user said stop]";
pub(crate) const REPEATED_CALL: &str = "error: this very call was made several times in this turn \
    and is not made again. Use the results above, or do something else.";
pub(crate) const REPEATING_CALL: &str = "\n[You have made this call with the same arguments before; \
    its result will not change. The next time it is refused.]";

pub(crate) fn printed(output: &str) -> String {
    format!("[The code printed]\n{output}")
}

pub(crate) fn failed_run(stop: Stop, error: &str) -> String {
    format!(
        "[The code stopped: {stop}]\n{error}\n[What ran before stays done. Correct the rest and \
         answer again.]"
    )
}

pub(crate) fn cut(head: &str, length: usize, place: &str) -> String {
    format!("{head}\n[... cut here; all {length} bytes are in {place}]")
}

pub(crate) fn malformed_arguments(text: &str) -> String {
    let shown: String = text.chars().take(200).collect();
    format!("error: the arguments are not a JSON object, so the tool was not run: {shown}")
}

pub(crate) fn call_failed(error: &CallError, methods: &[Arc<dyn Method>]) -> String {
    let is_unknown = match error {
        CallError::Unknown { .. } => true,
        // What was no method was recorded under the name that the model gave it.
        CallError::Recorded { method, .. } => !method.contains('/'),
        _ => false,
    };
    match error {
        error if is_unknown => {
            let name = match error {
                CallError::Unknown { name, .. } => name,
                CallError::Recorded { method, .. } => method,
                _ => "",
            };
            unknown_tool(name, methods)
        }
        error => format!("error: {error}"),
    }
}

pub(crate) fn cannot_go_on(why: &str) -> String {
    format!("I was interrupted and cannot finish this: {why}. Please ask again.")
}

pub(crate) fn unknown_tool(name: &str, methods: &[Arc<dyn Method>]) -> String {
    let names = methods.iter().map(|method| method.info().name.as_str());
    let names: Vec<&str> = names.take(40).collect();
    let names = names.join(", ");
    format!("error: there is no tool {name}. The tools are: {names}")
}

pub(crate) fn interrupted(command: &str) -> String {
    match Language::of(command) {
        English => format!(
            "I was interrupted at {command} and cannot tell whether it was done. Look, and repeat it if not."
        ),
        Chinese => {
            format!("做 {command} 时我被打断了，不知道做完没有。请看一看，没做的话再来一次。")
        }
    }
}

/// Compat(astrbot): plugins and models match on this one, letter by letter.
pub(crate) fn call_timeout(name: &str, limit: Duration) -> String {
    let seconds = limit.as_secs();
    format!("error: tool {name} execution timeout after {seconds} seconds.")
}

pub(crate) fn limit(language: Language) -> &'static str {
    match language {
        English => "I could not finish this within the number of steps I may take.",
        Chinese => "能走的步数用完了，这件事还没有做完。",
    }
}

pub(crate) fn no_sandbox(language: Language, reason: &str) -> String {
    let first = reason.lines().next().unwrap_or_default();
    match language {
        English => format!("I wrote code for this, but it cannot be run here: {first}"),
        Chinese => format!("我为此写了代码，但这里运行不了：{first}"),
    }
}

pub(crate) fn code_failed(language: Language, error: &str) -> String {
    let last = error.trim_end().lines().last().unwrap_or_default();
    match language {
        English => {
            format!("I tried several times and did not succeed. The last error was: {last}")
        }
        Chinese => format!("试了几次都没有成功。最后一次的错误是：{last}"),
    }
}
