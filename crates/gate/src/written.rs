//! A call as the journal keeps it: the method in full, and the arguments as the caller wrote them,
//! `([positional...], {name: value})` in the codec's bytes. Equal name and bytes mean the same call.

use callgate_contract::{
    Arguments, Value,
    codec::{self, CodecError},
};

use crate::registry::Entry;

/// Longest name of an unknown method that is kept, in characters.
const MAX_NAME: usize = 200;

/// `origin/name`; of what is no method the name as written, cut, and without the control
/// characters that a database may refuse: untrusted code chose it.
pub(crate) fn name(entry: Option<&Entry>, name: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{FFFD}' } else { c };
    match entry {
        Some(entry) => entry.full_name.clone(),
        None => name.chars().take(MAX_NAME).map(clean).collect(),
    }
}

/// Encodes without copying; the arguments come back as they were.
pub(crate) fn encode(arguments: Arguments) -> (Result<Vec<u8>, CodecError>, Arguments) {
    let named = arguments.named.into_iter();
    let named = named
        .map(|(name, value)| (Value::Str(name), value))
        .collect();
    let value = Value::Tuple(vec![Value::List(arguments.positional), Value::Dict(named)]);
    let encoded = codec::encode(&value).map_err(|error| error.at("arguments"));
    (encoded, read(value).unwrap_or_default())
}

/// Every argument under a name: its own, or its number.
pub(crate) fn labelled(arguments: &Arguments) -> Vec<(String, Value)> {
    let positional = arguments.positional.iter().enumerate();
    positional
        .map(|(index, value)| ((index + 1).to_string(), value.clone()))
        .chain(arguments.named.iter().cloned())
        .collect()
}

/// The arguments of a recorded call. `None` if the bytes are no such thing, as for a call whose
/// arguments could not pass.
pub fn recorded_arguments(bytes: &[u8]) -> Option<Arguments> {
    codec::decode_trusted(bytes).ok().and_then(read)
}

fn read(value: Value) -> Option<Arguments> {
    let Value::Tuple(pair) = value else {
        return None;
    };
    let Ok([Value::List(positional), Value::Dict(named)]) = <[Value; 2]>::try_from(pair) else {
        return None;
    };
    let named = named.into_iter().map(|(name, value)| match name {
        Value::Str(name) => Some((name, value)),
        _ => None,
    });
    Some(Arguments {
        positional,
        named: named.collect::<Option<_>>()?,
    })
}
