//! The steps of a place in a value, written as Python would reach it.

use crate::Value;

pub(super) fn prefix(place: &str) -> String {
    if place.is_empty() {
        String::new()
    } else {
        format!("{place}: ")
    }
}

pub(super) fn index(index: usize) -> String {
    format!("[{index}]")
}

/// The `index`-th key itself, not what it maps to.
pub(super) fn nth_key(index: usize) -> String {
    format!(".keys()[{index}]")
}

pub(super) fn field(name: &str) -> String {
    format!(".{name}")
}

pub(super) fn key(key: &Value) -> String {
    match key {
        Value::Str(name) if is_identifier(name) => field(name),
        Value::Str(text) => {
            let shown: String = text.chars().take(40).collect();
            format!("[{shown:?}]")
        }
        Value::Int(number) => format!("[{number}]"),
        Value::Bool(true) => "[True]".to_owned(),
        Value::Bool(false) => "[False]".to_owned(),
        Value::Null => "[None]".to_owned(),
        other => format!("[<{}>]", other.type_name()),
    }
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|rest| rest.is_alphanumeric() || rest == '_')
        && name.len() <= 40
}
