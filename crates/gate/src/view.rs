//! Arguments as JSON: what a schema checks and a typed handler reads. Unlike the JSON view of the
//! outer surfaces it writes integers as numbers wherever JSON has one for them. It refuses what
//! must not reach a method: objects, and arguments too large.
//!
//! Invariant: depth is bounded already, by the codec that every call's arguments pass first.

use callgate_contract::{Value, json};
use num_bigint::Sign;
use serde_json::{Map, Number, Value as Json};

use crate::python;

/// Bytes of text and data in all arguments of one call, plus eight for each value.
pub(crate) const MAX_SIZE: usize = 8 << 20;

/// The arguments of a call as one JSON object, or why they cannot be taken.
pub(crate) fn view(arguments: &[(String, Value)]) -> Result<Json, String> {
    let mut left = MAX_SIZE;
    let mut object = Map::with_capacity(arguments.len());
    for (name, value) in arguments {
        let seen = seen(value, &mut left);
        let seen = seen.map_err(|refusal| refusal.reason(name))?;
        object.insert(name.clone(), seen);
    }
    Ok(Json::Object(object))
}

enum Refusal {
    Object { place: String, class: String },
    TooLarge,
}

impl Refusal {
    fn reason(self, argument: &str) -> String {
        match self {
            Refusal::Object { place, class } => {
                format!("argument '{argument}{place}': cannot pass a '{class}'")
            }
            Refusal::TooLarge => {
                format!(
                    "argument '{argument}': the arguments exceed {} MB",
                    MAX_SIZE >> 20
                )
            }
        }
    }

    fn inside(self, step: impl FnOnce() -> String) -> Self {
        match self {
            Refusal::Object { place, class } => Refusal::Object {
                place: step() + &place,
                class,
            },
            other => other,
        }
    }
}

fn seen(value: &Value, left: &mut usize) -> Result<Json, Refusal> {
    *left = left.checked_sub(8 + size(value)).ok_or(Refusal::TooLarge)?;
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Str(text) => Json::String(text.clone()),
        Value::Int(number) => Json::Number((*number).into()),
        Value::BigInt(number) => match u64::try_from(number) {
            Ok(number) => Json::Number(number.into()),
            // As near as a schema's limits need it. Digits grow quadratically to write, so only
            // a number that a float can hold is written out.
            Err(_) if number.bits() <= 1023 => {
                float(number.to_string().parse().unwrap_or(f64::MAX))
            }
            Err(_) if number.sign() == Sign::Minus => float(f64::MIN),
            Err(_) => float(f64::MAX),
        },
        Value::Float(number) => float(*number),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => {
            let item = |(index, item)| {
                seen(item, left).map_err(|refusal| refusal.inside(|| format!("[{index}]")))
            };
            Json::Array(
                items
                    .iter()
                    .enumerate()
                    .map(item)
                    .collect::<Result<_, _>>()?,
            )
        }
        Value::Dict(entries) if entries.iter().all(|(key, _)| key.as_str().is_some()) => {
            let mut object = Map::with_capacity(entries.len());
            for (key, value) in entries {
                let key = key.as_str().unwrap_or_default();
                *left = left.checked_sub(key.len()).ok_or(Refusal::TooLarge)?;
                let seen =
                    seen(value, left).map_err(|refusal| refusal.inside(|| format!(".{key}")))?;
                object.insert(key.to_owned(), seen);
            }
            Json::Object(object)
        }
        Value::Record { class, .. } | Value::Opaque { class, .. } => {
            return Err(Refusal::Object {
                place: String::new(),
                class: class.clone(),
            });
        }
        Value::Dict(entries) => {
            for (key, entry) in entries {
                let place = || format!("[{}]", python::repr(key));
                seen(key, left).map_err(|refusal| refusal.inside(place))?;
                seen(entry, left).map_err(|refusal| refusal.inside(place))?;
            }
            json::to_json(value)
        }
        other => json::to_json(other),
    })
}

/// JSON has no NaN and no infinity: as text they fail any check for a number.
fn float(number: f64) -> Json {
    match Number::from_f64(number) {
        Some(number) => Json::Number(number),
        None => Json::String(number.to_string()),
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Str(text) | Value::Path(text) | Value::Decimal(text) => text.len(),
        Value::DateTime(text) | Value::Date(text) | Value::Time(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::BigInt(number) => usize::try_from(number.bits() / 8).unwrap_or(MAX_SIZE),
        _ => 0,
    }
}
