//! Paths that clients write. They mean files beneath one folder: relative, from its root, or whole
//! where the whole path leads there. Compat(newage): `sanitizePath`. Here a text becomes one name
//! or is refused; what the name leads to is decided by `store::files`, which follows no link.

use std::path::Path;

use serde_json::Value as Json;

/// Bytes.
const MAX_PATH: usize = 1024;

/// Why a text is no path here. Never holds where our files lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    #[error("a path is text")]
    NotText,
    #[error("the path is empty")]
    Empty,
    #[error("the path is too long")]
    TooLong,
    #[error("the path leads outside the folder of remote clients")]
    Outside,
    #[error("the path holds characters that a file name here cannot have")]
    Characters,
    #[error("a part of the path is a name that is reserved")]
    Reserved,
    #[error("this file is restricted by the operator")]
    Restricted,
}

/// The rules of one folder.
#[derive(Clone, Debug)]
pub struct Paths {
    root: String,
    restricted: Vec<String>,
}

impl Paths {
    /// `restricted` names files and folders that no client may touch, as a client would.
    pub fn new(root: &Path, restricted: &[String]) -> Self {
        let mut paths = Paths {
            root: root.to_string_lossy().trim_end_matches('/').to_owned(),
            restricted: Vec::new(),
        };
        let names = restricted.iter().filter_map(|name| paths.normal(name).ok());
        paths.restricted = names.map(|name| folded(&name)).collect();
        paths
    }

    /// The relative name that `path` means.
    pub fn resolve(&self, path: &Json) -> Result<String, BadPath> {
        let name = self.normal(path.as_str().ok_or(BadPath::NotText)?)?;
        if self.is_restricted(&name) {
            Err(BadPath::Restricted)
        } else {
            Ok(name)
        }
    }

    /// Itself listed, or below a folder that is. Upper and lower case are the same, as they are on
    /// some file systems.
    pub fn is_restricted(&self, name: &str) -> bool {
        let name = folded(name);
        self.restricted.iter().any(|listed| {
            let rest = name.strip_prefix(listed.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    fn normal(&self, path: &str) -> Result<String, BadPath> {
        if path.is_empty() {
            return Err(BadPath::Empty);
        }
        if path.len() > MAX_PATH + self.root.len() {
            return Err(BadPath::TooLong);
        }
        if path.chars().any(is_odd) || has_escape(path) {
            return Err(BadPath::Characters);
        }
        let inside = path.strip_prefix(self.root.as_str());
        let path = match inside {
            Some(rest) if rest.starts_with('/') => rest,
            _ => path,
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or(BadPath::Outside)?;
                }
                part if is_reserved(part) => return Err(BadPath::Reserved),
                part => parts.push(part),
            }
        }
        if parts.is_empty() {
            Err(BadPath::Empty)
        } else {
            Ok(parts.join("/"))
        }
    }
}

fn folded(name: &str) -> String {
    name.to_lowercase()
}

/// What no honest name holds: control and invisible characters, separators of other systems, and
/// what only looks like a dot or a slash.
fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|')
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffd}')
        || matches!(
            c,
            '\u{2024}'..='\u{2026}' | '\u{fe52}' | '\u{ff0e}' | '\u{ff61}'
        )
        || matches!(
            c,
            '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0f}' | '\u{ff3c}' | '\u{29f5}'
        )
}

/// `%2e` and the like, which somebody along the way might undo.
fn has_escape(path: &str) -> bool {
    path.split('%').skip(1).any(|after| {
        let mut digits = after.bytes();
        let hex = |digit: Option<u8>| digit.is_some_and(|digit| digit.is_ascii_hexdigit());
        (hex(digits.next()) && hex(digits.next())) || after.starts_with('u')
    })
}

/// Devices of other systems, short names of theirs, names that they would trim, and our own
/// unfinished files.
fn is_reserved(part: &str) -> bool {
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    let lower = part.to_lowercase();
    let stem = lower.split('.').next().unwrap_or_default().trim_end();
    let numbered = ["com", "lpt"].iter().any(|device| {
        let number = stem.strip_prefix(device).unwrap_or_default();
        number.chars().count() == 1
            && number
                .chars()
                .all(|c| c.is_ascii_digit() || "¹²³".contains(c))
    });
    let short = part.split_once('~');
    DEVICES.contains(&stem)
        || numbered
        || part.ends_with(['.', ' '])
        || part.starts_with(' ')
        || part.starts_with('~')
        || short.is_some_and(|(_, after)| after.starts_with(|c: char| c.is_ascii_digit()))
        || lower.starts_with(".callgate-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Paths {
        let restricted = ["/settings/secret.json".to_owned(), "private".to_owned()];
        Paths::new(Path::new("/srv/data/remote"), &restricted)
    }

    fn resolve(path: &str) -> Result<String, BadPath> {
        paths().resolve(&Json::from(path))
    }

    #[test]
    fn one_file_has_many_spellings() {
        for path in [
            "settings/x.json",
            "./settings/x.json",
            "/settings/x.json",
            "//settings///x.json",
            "/srv/data/remote/settings/x.json",
            "settings//./a/../x.json",
            "a/b/../../settings/x.json",
        ] {
            assert_eq!(resolve(path).as_deref(), Ok("settings/x.json"), "{path}");
        }
        // A name that begins like the root is no path into it.
        let sibling = resolve("/srv/data/remote2/x.json");
        assert_eq!(sibling.as_deref(), Ok("srv/data/remote2/x.json"));
        assert_eq!(resolve("设置/é.json").as_deref(), Ok("设置/é.json"));
    }

    #[test]
    fn restricted_files_are_so_in_any_spelling() {
        for path in [
            "settings/secret.json",
            "/settings/./secret.json",
            "settings/a/../SECRET.json",
            "/srv/data/remote/settings/secret.json",
            "private",
            "private/deep/x.json",
            "Private/x.json",
        ] {
            assert_eq!(resolve(path), Err(BadPath::Restricted), "{path}");
        }
        for path in ["settings/secret.json.bak", "privateer/x.json"] {
            assert!(resolve(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn what_is_no_text_is_no_path() {
        for path in [Json::Null, 7.into(), Json::Array(vec![]), true.into()] {
            assert_eq!(paths().resolve(&path), Err(BadPath::NotText));
        }
        assert_eq!(resolve(""), Err(BadPath::Empty));
        assert_eq!(resolve("/"), Err(BadPath::Empty));
        assert_eq!(resolve("./"), Err(BadPath::Empty));
        assert_eq!(resolve("a\0b"), Err(BadPath::Characters));
    }
}
