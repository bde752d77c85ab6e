//! The JSON view of a value, for people, models and remote clients. It is a view, not a store:
//! tuples and sets become arrays, and dates, paths, decimals and ids become strings.
//!
//! What JSON would silently change is written `{"$type": T, "value": V}` instead:
//!
//! | T | V |
//! |---|---|
//! | `int` | beyond 2^53: decimal text, or `0x…` beyond 4300 digits, which Python refuses to read |
//! | `float` | `"nan"`, `"inf"`, `"-inf"` |
//! | `bytes` | base64 |
//! | `dict` | `[[key, value], …]`: keys that are not text, or a key `$type` |
//! | `opaque` | the name of its class; its content is for the sandbox alone |

use base64::{Engine, prelude::BASE64_STANDARD};
use num_bigint::{BigInt, BigUint, Sign};
use serde_json::{Map, Value as Json, json};

use super::Value;
use crate::codec::MAX_DEPTH;

const TYPE: &str = "$type";
const VALUE: &str = "value";

/// Integers up to this size are exact in every JSON reader.
const SAFE_INTEGER: u64 = 1 << 53;

/// Python's own limit for text that becomes an int; decimal text takes quadratic time.
const MAX_DECIMAL_DIGITS: usize = 4300;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    #[error("unknown $type {0}: int, float, bytes and dict are known")]
    UnknownType(String),
    #[error("a value that is no {0}")]
    Invalid(&'static str),
    #[error("nested deeper than {MAX_DEPTH} containers")]
    TooDeep,
}

pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) if number.unsigned_abs() <= SAFE_INTEGER => Json::from(*number),
        Value::Int(number) => typed("int", Json::from(number.to_string())),
        Value::BigInt(number) => typed("int", Json::from(big_text(number))),
        Value::Float(number) => float(*number),
        Value::Str(text)
        | Value::DateTime(text)
        | Value::Date(text)
        | Value::Time(text)
        | Value::Path(text)
        | Value::Decimal(text) => Json::from(text.as_str()),
        Value::Bytes(bytes) => typed("bytes", Json::from(BASE64_STANDARD.encode(bytes))),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => {
            items.iter().map(to_json).collect()
        }
        Value::Dict(entries) => dict(entries),
        Value::TimeDelta {
            days,
            seconds,
            microseconds,
        } => Json::from(duration(*days, *seconds, *microseconds)),
        Value::Uuid(uuid) => Json::from(uuid.to_string()),
        Value::Record { fields, .. } => fields
            .iter()
            .map(|(name, value)| (name.clone(), to_json(value)))
            .collect(),
        Value::Opaque { class, .. } => typed("opaque", Json::from(class.as_str())),
    }
}

/// Reads JSON as a value: arrays are lists, strings stay strings, `$type` forms are undone.
pub fn from_json(json: Json) -> Result<Value, JsonError> {
    read(json, MAX_DEPTH)
}

fn typed(name: &str, value: Json) -> Json {
    json!({ TYPE: name, VALUE: value })
}

fn float(number: f64) -> Json {
    match serde_json::Number::from_f64(number) {
        Some(number) => Json::Number(number),
        None if number.is_nan() => typed("float", Json::from("nan")),
        None if number > 0.0 => typed("float", Json::from("inf")),
        None => typed("float", Json::from("-inf")),
    }
}

fn dict(entries: &[(Value, Value)]) -> Json {
    let object: Option<Map<String, Json>> = entries
        .iter()
        .map(|(key, value)| match key {
            Value::Str(name) if name != TYPE => Some((name.clone(), to_json(value))),
            _ => None,
        })
        .collect();
    object.map_or_else(
        || {
            let pair = |(key, value): &(Value, Value)| json!([to_json(key), to_json(value)]);
            typed("dict", entries.iter().map(pair).collect())
        },
        Json::Object,
    )
}

/// ISO 8601 without its zeros, such as `-P1DT2H3.5S`. Python keeps a negative duration as negative
/// days and positive seconds; here the sign stands before the whole.
fn duration(days: i32, seconds: i32, microseconds: i32) -> String {
    let total = i64::from(days) * 86_400 + i64::from(seconds);
    let total = i128::from(total) * 1_000_000 + i128::from(microseconds);
    let (seconds, fraction) = (
        total.unsigned_abs() / 1_000_000,
        total.unsigned_abs() % 1_000_000,
    );
    let part = |count: u128, unit: char| match count {
        0 => String::new(),
        count => format!("{count}{unit}"),
    };
    let date = part(seconds / 86_400, 'D');
    let mut time = part(seconds / 3600 % 24, 'H') + &part(seconds / 60 % 60, 'M');
    if fraction > 0 {
        let digits = format!("{fraction:06}");
        time += &format!("{}.{}S", seconds % 60, digits.trim_end_matches('0'));
    } else {
        time += &part(seconds % 60, 'S');
    }
    let sign = if total < 0 { "-" } else { "" };
    match (date.as_str(), time.as_str()) {
        ("", "") => "PT0S".to_owned(),
        (date, "") => format!("{sign}P{date}"),
        (date, time) => format!("{sign}P{date}T{time}"),
    }
}

fn read(json: Json, depth: usize) -> Result<Value, JsonError> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(flag),
        Json::Number(number) => read_number(&number),
        Json::String(text) => Value::Str(text),
        Json::Array(items) => {
            let depth = depth.checked_sub(1).ok_or(JsonError::TooDeep)?;
            let items: Result<_, _> = items.into_iter().map(|item| read(item, depth)).collect();
            Value::List(items?)
        }
        Json::Object(object) if object.contains_key(TYPE) => read_typed(object, depth)?,
        Json::Object(object) => {
            let depth = depth.checked_sub(1).ok_or(JsonError::TooDeep)?;
            let entries: Result<_, _> = object
                .into_iter()
                .map(|(name, item)| Ok((Value::Str(name), read(item, depth)?)))
                .collect();
            Value::Dict(entries?)
        }
    })
}

fn read_number(number: &serde_json::Number) -> Value {
    if let Some(small) = number.as_i64() {
        return Value::Int(small);
    }
    match number.as_u64() {
        Some(large) => Value::BigInt(BigInt::from(large)),
        None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

fn read_typed(mut object: Map<String, Json>, depth: usize) -> Result<Value, JsonError> {
    let name = object.remove(TYPE).unwrap_or_default();
    let value = object.remove(VALUE).unwrap_or_default();
    let (known, value) = match name.as_str() {
        Some("int") => ("int", value.as_str().and_then(read_big).map(Value::int)),
        Some("float") => ("float", value.as_str().and_then(read_special_float)),
        Some("bytes") => {
            let bytes = value
                .as_str()
                .and_then(|text| BASE64_STANDARD.decode(text).ok());
            ("bytes", bytes.map(Value::Bytes))
        }
        Some("dict") => return read_pairs(value, depth),
        _ => return Err(JsonError::UnknownType(name.to_string())),
    };
    value.ok_or(JsonError::Invalid(known))
}

fn read_special_float(text: &str) -> Option<Value> {
    match text {
        "nan" => Some(Value::Float(f64::NAN)),
        "inf" => Some(Value::Float(f64::INFINITY)),
        "-inf" => Some(Value::Float(f64::NEG_INFINITY)),
        _ => None,
    }
}

fn read_pairs(pairs: Json, depth: usize) -> Result<Value, JsonError> {
    let depth = depth.checked_sub(1).ok_or(JsonError::TooDeep)?;
    let Json::Array(pairs) = pairs else {
        return Err(JsonError::Invalid("dict"));
    };
    let entries: Result<_, _> = pairs.into_iter().map(|p| read_pair(p, depth)).collect();
    Ok(Value::Dict(entries?))
}

/// An array as a key was a tuple: a list could not have been one.
fn read_pair(pair: Json, depth: usize) -> Result<(Value, Value), JsonError> {
    let Json::Array(pair) = pair else {
        return Err(JsonError::Invalid("dict"));
    };
    let Ok([key, value]) = <[Json; 2]>::try_from(pair) else {
        return Err(JsonError::Invalid("dict"));
    };
    let key = as_key(read(key, depth)?).ok_or(JsonError::Invalid("dict key"))?;
    Ok((key, read(value, depth)?))
}

fn as_key(value: Value) -> Option<Value> {
    match value {
        Value::List(items) => {
            let items: Option<_> = items.into_iter().map(as_key).collect();
            items.map(Value::Tuple)
        }
        Value::Dict(_) => None,
        other => Some(other),
    }
}

fn big_text(number: &BigInt) -> String {
    // 4300 digits take a little more than 14284 bits; one digit more or less is of no matter.
    if number.bits() <= 14_284 {
        return number.to_string();
    }
    let sign = if number.sign() == Sign::Minus {
        "-"
    } else {
        ""
    };
    format!("{sign}0x{}", number.magnitude().to_str_radix(16))
}

fn read_big(text: &str) -> Option<BigInt> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (Sign::Minus, digits),
        None => (Sign::Plus, text),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            BigUint::parse_bytes(digits.as_bytes(), 16)
        }
        None if digits.len() <= MAX_DECIMAL_DIGITS
            && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            BigUint::parse_bytes(digits.as_bytes(), 10)
        }
        _ => None,
    };
    magnitude.map(|magnitude| BigInt::from_biguint(sign, magnitude))
}
