//! A plugin to begin with: it runs, and a scenario tests it.

use std::{fs, path::Path};

use crate::ServiceError;

pub const FILES: [(&str, &str); 4] = [
    ("__init__.py", include_str!("skeleton/plugin.py")),
    ("scenario.json", include_str!("skeleton/scenario.json")),
    ("pyproject.toml", include_str!("skeleton/pyproject.toml")),
    ("README.md", include_str!("skeleton/README.md")),
];

/// Makes it in `folder`, which bears its name and must not exist yet.
pub fn make(folder: &Path) -> Result<(), ServiceError> {
    let name = folder.file_name().and_then(|it| it.to_str());
    let Some(name) = name.filter(|it| is_name(it)) else {
        let given = name.unwrap_or_default().escape_debug();
        return Err(ServiceError::refused(
            format!("'{given}' is no name for a plugin"),
            "use small letters, digits and _, beginning with a letter, as in word_count",
        ));
    };
    let broken = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::AlreadyExists => "choose another name, or remove what is there",
            _ => "check the permissions there",
        };
        ServiceError::refused(format!("cannot make {}: {error}", folder.display()), hint)
    };
    fs::create_dir(folder).map_err(broken)?;
    for (file, text) in FILES {
        fs::write(folder.join(file), text.replace("NAME", name)).map_err(broken)?;
    }
    Ok(())
}

/// What Python can import.
fn is_name(name: &str) -> bool {
    let begins_well = name.starts_with(|c: char| c.is_ascii_lowercase());
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    begins_well && name.len() <= 60 && name.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_are_importable() {
        for name in ["weather", "word_count2"] {
            assert!(is_name(name));
        }
        for name in ["", "Weather", "2fast", "a-b", "天气", "a.b"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
