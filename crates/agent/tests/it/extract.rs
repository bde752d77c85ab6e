//! What of an answer is code: never loses code, never runs prose.

mod blocks;
mod properties;
mod thoughts;
mod unfenced;

use callgate_agent::{Answer, extract};

/// The answer must come apart into `text` and `code`, without a thought.
#[track_caller]
fn check(answer: &str, text: &str, code: Option<&str>) {
    let expect = Answer {
        thought: None,
        text: text.to_owned(),
        code: code.map(str::to_owned),
    };
    assert_eq!(extract(answer), expect, "{answer}");
}
