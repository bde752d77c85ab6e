//! The addresses of session files: `callgate://sessions/ID/shared/NAME`. They hold the id of a
//! session and a name in one of its two folders, never a path of this machine.

use uuid::Uuid;

const BASE: &str = "callgate://sessions/";

/// Where code finds the file is `/app/FOLDER/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileUri {
    pub(super) session: Uuid,
    /// `shared/NAME` or `uploads/NAME`.
    pub(super) path: String,
}

/// As RFC 6570 writes addresses with blanks.
pub(super) const TEMPLATES: [(&str, &str, &str); 2] = [
    (
        "callgate://sessions/{session}/shared/{+name}",
        "shared",
        "A file that code in the sandbox wrote for its session",
    ),
    (
        "callgate://sessions/{session}/uploads/{+name}",
        "uploads",
        "A file that was handed to a session",
    ),
];

impl FileUri {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (session, path) = text.strip_prefix(BASE)?.split_once('/')?;
        Some(FileUri {
            session: session.parse().ok()?,
            path: decoded(path)?,
        })
    }
}

impl std::fmt::Display for FileUri {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{BASE}{}/{}", self.session, encoded(&self.path))
    }
}

/// Slashes stay: they part folders here as well.
pub(super) fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_was_written() {
        let session = Uuid::from_u128(7);
        for path in ["shared/a.txt", "uploads/one two/图 100%.png", "shared/?#"] {
            let uri = FileUri {
                session,
                path: path.to_owned(),
            };
            assert_eq!(FileUri::parse(&uri.to_string()), Some(uri));
        }
    }

    #[test]
    fn other_addresses_are_none_of_ours() {
        for text in [
            "",
            "file:///etc/passwd",
            "callgate://sessions/",
            "callgate://sessions/nobody/shared/a",
            "callgate://sessions/00000000-0000-0000-0000-000000000007",
            "callgate://sessions/00000000-0000-0000-0000-000000000007/shared/%f",
            "callgate://sessions/00000000-0000-0000-0000-000000000007/shared/%ff",
        ] {
            assert_eq!(FileUri::parse(text), None, "{text}");
        }
    }
}
