//! Arguments as JSON: what a schema checks and a typed handler reads. It is the JSON view of the
//! outer surfaces, except that integers are numbers wherever JSON has one for them. It refuses
//! what must not reach a method: objects, and arguments too large.
//!
//! Invariant: depth is bounded already, by the codec that every call's arguments pass first.

use callgate_contract::{Value, json};
use num_bigint::{BigInt, Sign};
use serde_json::{Map, Number, Value as Json};

use crate::python;

/// Bytes of text and data in all arguments of one call, plus eight for each value.
pub(crate) const MAX_SIZE: usize = 8 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// For a schema: an integer of any size is a number, if only nearly the same.
    Check,
    /// For code and people: nothing is changed silently.
    Read,
}

/// The arguments of a call as one JSON object, or why they cannot be taken.
pub(crate) fn view(arguments: &[(String, Value)], purpose: Purpose) -> Result<Json, String> {
    let mut viewer = Viewer {
        purpose,
        left: MAX_SIZE,
    };
    let mut object = Map::with_capacity(arguments.len());
    for (name, value) in arguments {
        let seen = viewer.see(value);
        let seen = seen.map_err(|refusal| refusal.reason(name))?;
        object.insert(name.clone(), seen);
    }
    Ok(Json::Object(object))
}

enum Unshowable {
    Object { place: String, class: String },
    TooLarge,
}

impl Unshowable {
    fn reason(self, argument: &str) -> String {
        match self {
            Unshowable::Object { place, class } => {
                format!("argument '{argument}{place}': cannot pass a '{class}'")
            }
            Unshowable::TooLarge => {
                format!(
                    "argument '{argument}': the arguments exceed {} MB",
                    MAX_SIZE >> 20
                )
            }
        }
    }

    fn inside(self, step: impl FnOnce() -> String) -> Self {
        match self {
            Unshowable::Object { place, class } => Unshowable::Object {
                place: step() + &place,
                class,
            },
            other => other,
        }
    }
}

struct Viewer {
    purpose: Purpose,
    /// Bytes that the rest of the arguments may take.
    left: usize,
}

impl Viewer {
    fn see(&mut self, value: &Value) -> Result<Json, Unshowable> {
        self.take(8 + size(value))?;
        Ok(match value {
            Value::Str(text) => Json::String(text.clone()),
            Value::Int(number) => Json::Number((*number).into()),
            Value::BigInt(number) => match u64::try_from(number) {
                Ok(number) => Json::Number(number.into()),
                Err(_) if self.purpose == Purpose::Check => nearest_float(number),
                Err(_) => json::to_json(value),
            },
            Value::List(items)
            | Value::Tuple(items)
            | Value::Set(items)
            | Value::FrozenSet(items) => self.items(items)?,
            Value::Dict(entries) => match self.object(entries)? {
                Some(object) => Json::Object(object),
                None => json::to_json(value),
            },
            Value::Record { class, .. } | Value::Opaque { class, .. } => {
                return Err(Unshowable::Object {
                    place: String::new(),
                    class: class.clone(),
                });
            }
            other => json::to_json(other),
        })
    }

    fn items(&mut self, items: &[Value]) -> Result<Json, Unshowable> {
        let mut array = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let seen = self.see(item);
            array.push(seen.map_err(|refusal| refusal.inside(|| format!("[{index}]")))?);
        }
        Ok(Json::Array(array))
    }

    /// `None` if a key is not text, which JSON cannot write as an object.
    fn object(
        &mut self,
        entries: &[(Value, Value)],
    ) -> Result<Option<Map<String, Json>>, Unshowable> {
        let mut object = Some(Map::with_capacity(entries.len()));
        for (key, value) in entries {
            let place = || match key {
                Value::Str(name) => format!(".{name}"),
                other => format!("[{}]", python::repr(other)),
            };
            self.see(key).map_err(|refusal| refusal.inside(place))?;
            let seen = self.see(value).map_err(|refusal| refusal.inside(place))?;
            match (key, &mut object) {
                (Value::Str(name), Some(object)) => drop(object.insert(name.clone(), seen)),
                _ => object = None,
            }
        }
        Ok(object)
    }

    fn take(&mut self, size: usize) -> Result<(), Unshowable> {
        self.left = self.left.checked_sub(size).ok_or(Unshowable::TooLarge)?;
        Ok(())
    }
}

/// As near as a schema's limits need it. Digits take quadratic time to write, so they are written
/// only for a number that a float can hold.
fn nearest_float(number: &BigInt) -> Json {
    let float = match (number.bits(), number.sign()) {
        (..=1023, _) => number.to_string().parse().unwrap_or(f64::MAX),
        (_, Sign::Minus) => f64::MIN,
        _ => f64::MAX,
    };
    Number::from_f64(float).map_or(Json::Null, Json::Number)
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
