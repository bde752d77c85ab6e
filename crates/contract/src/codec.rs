//! Values as bytes: what crosses between Rust and Python, and what the journal stores.
//!
//! The encoding is the data-only part of CPython's marshal format, version 2, so that Python
//! writes and reads it at the speed of C without an extension module. The parser here is our own
//! and knows data only: code objects, references and every other type code are refused. Types
//! that marshal lacks are tuples `(Ellipsis, tag, payload)`; no value can be mistaken for one,
//! since `Ellipsis` itself cannot pass.

mod integer;
mod place;
mod reader;
mod text;
mod writer;

use crate::Value;

/// Deepest nesting of a passable value, counted in containers (records included).
pub const MAX_DEPTH: usize = 100;

/// Most values in one encoding. A decoded value takes up to fifty times the room of its byte, so
/// the length limit of a frame alone would let its sender choose how much memory we use.
pub const MAX_VALUES: usize = 1 << 20;

/// Why a value cannot pass, and where in it. A place is relative, such as `.items[3]`; see
/// [`CodecError::at`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    #[error("{}cannot pass a '{type_name}'", place::prefix(place))]
    Unpassable { place: String, type_name: String },
    #[error(
        "{}a '{type_name}' cannot be a dict key or a set member",
        place::prefix(place)
    )]
    Unhashable { place: String, type_name: String },
    #[error("{}cannot pass this '{type_name}': {why}", place::prefix(place))]
    Invalid {
        place: String,
        type_name: &'static str,
        why: &'static str,
    },
    #[error("{}nested deeper than {limit} containers", place::prefix(place))]
    TooDeep { place: String, limit: usize },
    #[error("more than {limit} values")]
    TooMany { limit: usize },
    #[error("{bytes} bytes; the limit is {limit}")]
    TooLong { bytes: usize, limit: usize },
    /// Not an encoding of anything: the sender does not speak the format.
    #[error("malformed value at byte {offset}: {what}")]
    Malformed { what: String, offset: usize },
}

impl CodecError {
    /// The same error with `root` (`result`, `arguments`) before its place.
    #[must_use]
    pub fn at(mut self, root: &str) -> Self {
        if let Some(place) = self.place_mut() {
            place.insert_str(0, root);
        }
        self
    }

    /// Where in the value, for the variants that know.
    pub fn place(&self) -> Option<&str> {
        match self {
            Self::Unpassable { place, .. }
            | Self::Unhashable { place, .. }
            | Self::Invalid { place, .. }
            | Self::TooDeep { place, .. } => Some(place),
            Self::TooMany { .. } | Self::TooLong { .. } | Self::Malformed { .. } => None,
        }
    }

    fn place_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Unpassable { place, .. }
            | Self::Unhashable { place, .. }
            | Self::Invalid { place, .. }
            | Self::TooDeep { place, .. } => Some(place),
            Self::TooMany { .. } | Self::TooLong { .. } | Self::Malformed { .. } => None,
        }
    }

    fn inside(mut self, step: impl FnOnce() -> String) -> Self {
        // A hundred steps help nobody: of a value nested too deep, the outermost step remains.
        if let Self::TooDeep { place, .. } = &mut self {
            place.clear();
        }
        if let Some(place) = self.place_mut() {
            place.insert_str(0, &step());
        }
        self
    }
}

pub fn encode(value: &Value) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::new();
    encode_into(&mut out, value)?;
    Ok(out)
}

/// Appends the encoding of `value`. `Ok(true)` says that it is plain: marshal alone reads it, no
/// extension tuple needs reviving. After an error `out` may end in a partial value.
pub fn encode_into(out: &mut Vec<u8>, value: &Value) -> Result<bool, CodecError> {
    writer::write(out, value)
}

/// Decodes a value on its way to the host: records and opaque objects are refused by their name.
pub fn decode(bytes: &[u8]) -> Result<Value, CodecError> {
    reader::read(bytes, reader::Direction::Host)
}

/// Decodes a value that is on its way to the sandbox (from a plugin worker, or from our own
/// journal), where records and opaque objects may be. Nothing is ever unpickled here.
pub fn decode_trusted(bytes: &[u8]) -> Result<Value, CodecError> {
    reader::read(bytes, reader::Direction::Sandbox)
}

/// Spends one level of nesting.
fn open(depth: usize) -> Result<usize, CodecError> {
    depth.checked_sub(1).ok_or_else(|| CodecError::TooDeep {
        place: String::new(),
        limit: MAX_DEPTH,
    })
}

fn check_hashable(value: &Value, step: impl FnOnce() -> String) -> Result<(), CodecError> {
    match unhashable(value) {
        None => Ok(()),
        Some(type_name) => Err(CodecError::Unhashable {
            place: step(),
            type_name: type_name.to_owned(),
        }),
    }
}

/// The type that makes `value` unusable as a dict key or set member, if any.
fn unhashable(value: &Value) -> Option<&str> {
    match value {
        Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Opaque { .. } => {
            Some(value.type_name())
        }
        Value::Tuple(items) => items.iter().find_map(unhashable),
        Value::Record { fields, .. } => fields.iter().find_map(|(_, value)| unhashable(value)),
        _ => None,
    }
}

/// The value claims a type whose text it does not hold.
fn invalid(type_name: &'static str) -> CodecError {
    CodecError::Invalid {
        place: String::new(),
        type_name,
        why: "it is not as Python writes it",
    }
}

/// One byte per type, as marshal has it.
mod code {
    pub(super) const NONE: u8 = b'N';
    pub(super) const FALSE: u8 = b'F';
    pub(super) const TRUE: u8 = b'T';
    pub(super) const ELLIPSIS: u8 = b'.';
    pub(super) const INT: u8 = b'i';
    pub(super) const LONG: u8 = b'l';
    pub(super) const FLOAT: u8 = b'g';
    pub(super) const BYTES: u8 = b's';
    pub(super) const STR: u8 = b'u';
    pub(super) const TUPLE: u8 = b'(';
    pub(super) const LIST: u8 = b'[';
    pub(super) const DICT: u8 = b'{';
    pub(super) const SET: u8 = b'<';
    pub(super) const FROZENSET: u8 = b'>';
    pub(super) const END_OF_DICT: u8 = b'0';
}

/// Tags of the extension tuples.
mod tag {
    pub(super) const DATETIME: &str = "datetime";
    pub(super) const DATE: &str = "date";
    pub(super) const TIME: &str = "time";
    pub(super) const TIMEDELTA: &str = "timedelta";
    pub(super) const PATH: &str = "path";
    pub(super) const DECIMAL: &str = "decimal";
    pub(super) const UUID: &str = "uuid";
    pub(super) const RECORD: &str = "record";
    pub(super) const OPAQUE: &str = "opaque";
}
