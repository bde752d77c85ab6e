//! How long an answer may be, whatever else a request says: each wire spells it its own way. Put
//! into the body last, since further fields of a request may name a limit too, or ask for several
//! answers of which one is read.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use callgate_contract::ModelError;
use serde_json::{Map, Value as Json, json};

use crate::wire::{Dialect, Wire};

/// What Anthropic's models think at least, if they think.
const LEAST_THOUGHT: u64 = 1_024;

/// No model writes as much in one answer: a limit from here on is none.
const BEYOND_ALL: u32 = 1 << 18;

/// What one model's server has taught about limits that it refuses.
#[derive(Debug)]
pub(crate) struct Lessons {
    /// It writes less than this in any case, and refuses to be told of a limit as high.
    needless_from: AtomicU32,
    /// It knows the limit by OpenAI's newer name only.
    newer_name: AtomicBool,
}

impl Default for Lessons {
    fn default() -> Self {
        Lessons {
            needless_from: AtomicU32::new(BEYOND_ALL),
            newer_name: AtomicBool::new(false),
        }
    }
}

impl Lessons {
    /// The limit as the server has to be told of it.
    pub(crate) fn needed(&self, most: Option<u32>) -> Option<u32> {
        most.filter(|most| *most < self.needless_from.load(Ordering::Relaxed))
    }

    pub(crate) fn newer_name(&self) -> bool {
        self.newer_name.load(Ordering::Relaxed)
    }

    /// Did the server refuse a request for the limit `most` in it, so that it is worth asking
    /// again? A limit is only given up where the server says that it could not be reached.
    pub(crate) fn learn(&self, most: u32, error: &ModelError) -> bool {
        let (ModelError::BadRequest { message } | ModelError::ContextLength { message }) = error
        else {
            return false;
        };
        let said = message.to_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| said.contains(phrase));
        if says(&["unsupported", "not supported"]) && says(&["max_completion_tokens"]) {
            return !self.newer_name.swap(true, Ordering::Relaxed);
        }
        if !says(&[
            "max_tokens",
            "tokens value",
            "output_tokens",
            "outputtokens",
            "completion",
        ]) {
            return false;
        }
        let numbers = said.split(|c: char| !c.is_ascii_digit());
        let mut numbers = numbers.filter_map(|digits| digits.parse::<u32>().ok());
        let has_less = numbers.any(|number| (FEWEST..most).contains(&number));
        if has_less {
            self.needless_from.fetch_min(most, Ordering::Relaxed);
        }
        has_less
    }
}

/// What even the smallest model can write: a smaller number in a refusal is no limit of the model.
const FEWEST: u32 = 256;

/// Lowers the limit in `body` to `most` tokens, or sets it.
pub(crate) fn apply(wire: Wire, dialect: &Dialect, body: &mut Json, most: u32) {
    let Json::Object(body) = body else {
        return;
    };
    match wire {
        Wire::Openai => {
            body.shift_remove("n");
            let (named, other) = if dialect.max_completion_tokens {
                ("max_completion_tokens", "max_tokens")
            } else {
                ("max_tokens", "max_completion_tokens")
            };
            if body.contains_key(other) && !body.contains_key(named) {
                lower(body, other, most)
            } else {
                lower(body, named, most)
            }
        }
        Wire::Responses => lower(body, "max_output_tokens", most),
        Wire::Anthropic => {
            lower(body, "max_tokens", most);
            think_less(body, most);
        }
        Wire::Gemini => within(body, "generationConfig", |config| {
            config.shift_remove("candidateCount");
            lower(config, "maxOutputTokens", most);
        }),
        Wire::Ollama => within(body, "options", |options| {
            lower(options, "num_predict", most);
        }),
    }
}

fn within(body: &mut Map<String, Json>, name: &str, change: impl FnOnce(&mut Map<String, Json>)) {
    let mut section = match body.shift_remove(name) {
        Some(Json::Object(section)) => section,
        _ => Map::new(),
    };
    change(&mut section);
    body.insert(name.to_owned(), Json::Object(section));
}

fn lower(body: &mut Map<String, Json>, name: &str, most: u32) {
    // What is no count, such as Ollama's -1, is no limit.
    let there = body.get(name).and_then(Json::as_u64);
    let limit = there.map_or(u64::from(most), |there| there.min(u64::from(most)));
    body.insert(name.to_owned(), json!(limit));
}

/// Thoughts count as part of the answer, and must be shorter than it.
fn think_less(body: &mut Map<String, Json>, most: u32) {
    let Some(thinking) = body.get_mut("thinking") else {
        return;
    };
    let half = u64::from(most) / 2;
    let planned = thinking.get("budget_tokens").and_then(Json::as_u64);
    match planned.filter(|planned| *planned > half) {
        Some(_) if half < LEAST_THOUGHT => drop(body.shift_remove("thinking")),
        Some(_) => thinking["budget_tokens"] = json!(half),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_given_up_only_where_the_model_cannot_reach_it() {
        let bad = |message: &str| ModelError::BadRequest {
            message: message.to_owned(),
        };
        for message in [
            "max_tokens is too large: 90000. This model supports at most 16384 completion tokens",
            "max_tokens: 90000 > 64000, which is the maximum allowed number of output tokens",
            "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
            "it has a maxOutputTokens value of 90000 but the supported range is from 1 to 65537",
        ] {
            let lessons = Lessons::default();
            assert!(lessons.learn(90_000, &bad(message)), "{message}");
            assert_eq!(lessons.needed(Some(90_000)), None);
            assert_eq!(lessons.needed(Some(89_999)), Some(89_999));
        }
        let context = ModelError::ContextLength {
            message: "maximum context length is 8192 tokens, you requested 90000 (100 in the \
                      messages, 89900 in the completion)"
                .to_owned(),
        };
        assert!(Lessons::default().learn(89_900, &context));
        let lessons = Lessons::default();
        for message in [
            "max_tokens must be at least 16, got 5",
            "Unknown parameter: max_tokens",
            "The model m of 2048 does not exist",
        ] {
            assert!(!lessons.learn(900, &bad(message)), "{message}");
        }
        let renamed = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                       'max_completion_tokens' instead.";
        assert!(lessons.learn(900, &bad(renamed)) && lessons.newer_name());
        assert!(!lessons.learn(900, &bad(renamed)), "once is enough");
        assert_eq!(lessons.needed(Some(900)), Some(900));
        assert_eq!(lessons.needed(Some(u32::MAX)), None);
    }
}
