//! Between rows and our types: words of the contract as text, times, and damaged rows by name.

use callgate_contract::SessionKey;
use jiff::Timestamp;
use serde::{Serialize, de::DeserializeOwned};
use sqlx::{Any, ColumnIndex, Decode, Row, Type, any::AnyRow};
use uuid::Uuid;

use crate::StoreError;

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

pub(crate) fn read_text(what: &'static str, bytes: Vec<u8>) -> Result<String, StoreError> {
    String::from_utf8(bytes).map_err(|error| StoreError::damaged(what, error))
}

pub(crate) fn read_session(key: &str) -> Result<SessionKey, StoreError> {
    key.parse()
        .map_err(|error| StoreError::damaged("session key", error))
}

pub(crate) fn read_uuid(text: &str) -> Result<Uuid, StoreError> {
    text.parse()
        .map_err(|error| StoreError::damaged("uuid", error))
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

pub(crate) fn get<'r, T>(row: &'r AnyRow, column: impl ColumnIndex<AnyRow>) -> Result<T, StoreError>
where
    T: Decode<'r, Any> + Type<Any>,
{
    Ok(row.try_get(column)?)
}
