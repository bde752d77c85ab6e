//! [`Value`]: every piece of data that may cross between Python, Rust and the outside.
//! It refuses anything that is not plain data; records and opaque objects exist only on the
//! way to the sandbox.

pub mod json;

use num_bigint::BigInt;

/// A Python value, by type. Order of dict entries and set members is kept as sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// Invariant: lies outside the range of `i64`.
    BigInt(BigInt),
    Float(f64),
    Str(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Set(Vec<Value>),
    FrozenSet(Vec<Value>),
    /// Keys are any hashable value, not only text.
    Dict(Vec<(Value, Value)>),
    /// ISO 8601 as Python's `isoformat` writes it, followed by `[Zone/Name]` for a `ZoneInfo`.
    DateTime(String),
    Date(String),
    Time(String),
    TimeDelta {
        days: i32,
        seconds: i32,
        microseconds: i32,
    },
    Path(String),
    /// As Python's `str(Decimal)` writes it, `NaN` and `Infinity` included.
    Decimal(String),
    Uuid(uuid::Uuid),
    /// A dataclass, model, namedtuple or plugin object: read-only fields, toward the sandbox only.
    Record {
        class: String,
        fields: Vec<(String, Value)>,
    },
    /// A pickle that only the sandbox opens, toward the sandbox only.
    Opaque {
        class: String,
        pickle: Vec<u8>,
    },
}

impl Value {
    /// The Python name of the type, as error texts use it.
    pub fn type_name(&self) -> &str {
        match self {
            Value::Null => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::BigInt(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Set(_) => "set",
            Value::FrozenSet(_) => "frozenset",
            Value::Dict(_) => "dict",
            Value::DateTime(_) => "datetime",
            Value::Date(_) => "date",
            Value::Time(_) => "time",
            Value::TimeDelta { .. } => "timedelta",
            Value::Path(_) => "Path",
            Value::Decimal(_) => "Decimal",
            Value::Uuid(_) => "UUID",
            Value::Record { class, .. } | Value::Opaque { class, .. } => class,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// An integer of any size, in the narrower variant where it fits.
    pub fn int(number: BigInt) -> Value {
        match i64::try_from(&number) {
            Ok(small) => Value::Int(small),
            Err(_) => Value::BigInt(number),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Str(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Value::Str(value)
    }
}
