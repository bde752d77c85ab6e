//! Which relative names are names at all. The kernel refuses escapes on its own; this check is
//! for a clear message and for names no tool could show.

use super::FileError;

/// Bytes of one component.
pub const MAX_NAME: usize = 255;
/// Bytes of a whole relative name.
pub const MAX_PATH: usize = 1024;
/// Components of a relative name.
pub const MAX_DEPTH: usize = 32;

pub(super) fn check(name: &str) -> Result<(), FileError> {
    match problem(name) {
        None => Ok(()),
        Some(problem) => Err(FileError::Name {
            name: name.to_owned(),
            problem,
        }),
    }
}

fn problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.starts_with('/') {
        return Some("it is absolute");
    }
    if name.len() > MAX_PATH {
        return Some("it is longer than 1024 bytes");
    }
    if name.chars().any(char::is_control) {
        return Some("it holds a control character");
    }
    if name.split('/').count() > MAX_DEPTH {
        return Some("it has more than 32 parts");
    }
    name.split('/').find_map(|part| match part {
        "" => Some("a part of it is empty"),
        "." | ".." => Some("'.' and '..' are not allowed"),
        part if part.len() > MAX_NAME => Some("a part of it is longer than 255 bytes"),
        _ => None,
    })
}

/// The folder part, if any, and the last component of a checked name.
pub(super) fn split(name: &str) -> (Option<&str>, &str) {
    match name.rsplit_once('/') {
        Some((folder, last)) => (Some(folder), last),
        None => (None, name),
    }
}
