//! What a server says when it does not answer, sorted by what a loop can do about it.

use std::time::Duration;

use callgate_contract::ModelError;
use serde_json::Value as Json;

use crate::surrogates;

/// Characters of a server's own words that are worth repeating.
const LONGEST: usize = 600;

/// A response whose status is not 200.
pub fn refused(status: u16, retry_after: Option<Duration>, body: &str) -> ModelError {
    let parsed = surrogates::parse_whole(body).ok();
    let error = match &parsed {
        Some(Json::Array(list)) => list.first(),
        whole => whole.as_ref(),
    };
    let error = error.map(|body| {
        body.get("error")
            .filter(|error| !error.is_null())
            .unwrap_or(body)
    });
    let message = match error {
        Some(error) => words(error),
        None => shown(body),
    };
    if (300..400).contains(&status) {
        let message = format!("status {status} sends elsewhere; set base_url to the real address");
        return ModelError::BadRequest { message };
    }
    let retry_after = retry_after.or_else(|| retry_delay(error?));
    sort(status, &labels(error), message, retry_after)
}

/// Google says how long to wait in the body.
fn retry_delay(error: &Json) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay"))?;
    let seconds = delay.as_str()?.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// An error object in the place of an answer, under the status 200.
pub(crate) fn reported(error: &Json) -> ModelError {
    let code = error.get("code").or_else(|| error.get("status"));
    let status = code
        .and_then(Json::as_u64)
        .and_then(|code| u16::try_from(code).ok());
    sort(
        status.unwrap_or(200),
        &labels(Some(error)),
        words(error),
        None,
    )
}

/// An answer of this wire was expected.
pub(crate) fn no_json(body: &str) -> ModelError {
    let message = if is_page(body) {
        format!("a web page ({}); is base_url right?", shown(body))
    } else {
        shown(body)
    };
    ModelError::Malformed { message }
}

fn sort(status: u16, labels: &str, message: String, retry_after: Option<Duration>) -> ModelError {
    let said = format!("{labels} {}", message.to_lowercase());
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| said.contains(phrase));
    let labelled = |phrases: &[&str]| phrases.iter().any(|phrase| labels.contains(phrase));
    // OpenAI reports an empty account as 429: asked first, lest it be waited for.
    if status == 402 || says(&NO_CREDIT) {
        return ModelError::Credits { message };
    }
    if matches!(status, 200 | 400 | 413 | 422 | 500) && says(&TOO_LONG) {
        return ModelError::ContextLength { message };
    }
    if matches!(status, 200 | 400) && says(&WRONG_KEY) {
        return ModelError::Auth { message };
    }
    match status {
        429 => ModelError::RateLimited {
            retry_after,
            message,
        },
        401 | 403 => ModelError::Auth { message },
        200 if labelled(&["rate_limit", "too_many"]) => ModelError::RateLimited {
            retry_after,
            message,
        },
        200 if labelled(&["invalid_api_key", "authentication", "permission"]) => {
            ModelError::Auth { message }
        }
        200 if labelled(&["invalid_", "bad_request", "not_found", "image"]) => {
            ModelError::BadRequest { message }
        }
        200 | 408 | 409 | 425 | 500.. => ModelError::Server {
            status,
            retry_after,
            message,
        },
        _ => ModelError::BadRequest { message },
    }
}

const NO_CREDIT: [&str; 6] = [
    "insufficient_quota",
    "insufficient balance",
    "insufficient_balance",
    "insufficient credits",
    "billing_hard_limit",
    "credit balance is too low",
];

/// Google answers a wrong key with 400.
const WRONG_KEY: [&str; 2] = ["api key not valid", "api_key_invalid"];

const TOO_LONG: [&str; 11] = [
    "context_length",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "maximum number of tokens",
    "context_window",
    "request_too_large",
];

/// The machine-readable names of an error, in lower case.
fn labels(error: Option<&Json>) -> String {
    let label = |key: &str| Some(error?.get(key)?.as_str()?.to_lowercase());
    let found = ["code", "type", "status"].into_iter().filter_map(label);
    found.collect::<Vec<_>>().join(" ")
}

fn words(error: &Json) -> String {
    let text = |key: &str| error.get(key).and_then(Json::as_str);
    let raw = error.pointer("/metadata/raw").and_then(Json::as_str);
    let said = error
        .as_str()
        .or_else(|| text("message"))
        .or_else(|| text("detail"));
    match (said, raw) {
        (Some(said), Some(raw)) => shown(&format!("{said}: {raw}")),
        (Some(said), None) => shown(said),
        _ => shown(&error.to_string()),
    }
}

fn is_page(body: &str) -> bool {
    body.trim_start().starts_with('<')
}

/// Of a web page its title, of a long text its beginning.
fn shown(body: &str) -> String {
    let text = if is_page(body) {
        title(body).unwrap_or("a web page")
    } else {
        body
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.chars().count() {
        0 => "no explanation".to_owned(),
        count if count <= LONGEST => text,
        _ => text.chars().take(LONGEST).chain(['…']).collect(),
    }
}

fn title(page: &str) -> Option<&str> {
    let tag = |name: &str| {
        let (_, rest) = page.split_once(&format!("<{name}>"))?;
        let (text, _) = rest.split_once('<')?;
        Some(text).filter(|text| !text.trim().is_empty())
    };
    ["title", "TITLE", "h1", "H1"].into_iter().find_map(tag)
}
