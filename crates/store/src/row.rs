//! Between rows and our types: words of the contract as text, times, and damaged rows by name.

use std::fmt::Write;

use callgate_contract::{Allowed, SessionKey};
use jiff::Timestamp;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::{
    StoreError,
    tx::{FromCell, Row},
};

/// The one spelling of an enum of the contract, as JSON writes it too.
pub(crate) fn word<T: Serialize>(value: T) -> Result<String, StoreError> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        other => Err(StoreError::damaged("word", format!("{other:?}"))),
    }
}

pub(crate) fn read_word<T: DeserializeOwned>(
    what: &'static str,
    word: String,
) -> Result<T, StoreError> {
    serde_json::from_value(serde_json::Value::String(word))
        .map_err(|error| StoreError::damaged(what, error))
}

pub(crate) fn json<T: Serialize>(what: &'static str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::damaged(what, error))
}

pub(crate) fn read_json<T: DeserializeOwned>(
    what: &'static str,
    text: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::damaged(what, error))
}

/// What was erased reads as `Null`.
pub(crate) fn read_json_or_null(
    what: &'static str,
    text: Option<String>,
) -> Result<Json, StoreError> {
    text.map_or(Ok(Json::Null), |text| read_json(what, &text))
}

/// A JSON array; `None` allows every method.
pub(crate) fn allowed(allowed: &Allowed) -> Result<Option<String>, StoreError> {
    match allowed {
        Allowed::All => Ok(None),
        Allowed::Only(names) => json("methods", names).map(Some),
    }
}

pub(crate) fn read_allowed(methods: Option<String>) -> Result<Allowed, StoreError> {
    match methods {
        None => Ok(Allowed::All),
        Some(names) => read_json("methods", &names).map(Allowed::Only),
    }
}

pub(crate) fn read_text(what: &'static str, bytes: Vec<u8>) -> Result<String, StoreError> {
    String::from_utf8(bytes).map_err(|error| StoreError::damaged(what, error))
}

pub(crate) fn read_session(key: &str) -> Result<SessionKey, StoreError> {
    key.parse()
        .map_err(|error| StoreError::damaged("session key", error))
}

pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

pub(crate) fn read_time(milliseconds: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(milliseconds).map_err(|error| StoreError::damaged("time", error))
}

/// SQL counts are signed; ours never reach the sign.
pub(crate) fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn read_count(what: &'static str, number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|error| StoreError::damaged(what, error))
}

pub(crate) fn read_flag(number: i64) -> bool {
    number != 0
}

pub(crate) fn read_small(what: &'static str, number: i64) -> Result<u32, StoreError> {
    u32::try_from(number).map_err(|error| StoreError::damaged(what, error))
}

/// Names what is stored when its text is gone.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn get<T: FromCell>(row: &Row, column: &str) -> Result<T, StoreError> {
    row.get(column)
}
