//! `callgate plugin new`: a plugin that runs, and a scenario that tests it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::json;

use crate::{
    args::{Common, NewPlugin},
    failure::Failure,
    show,
};

const FILES: [(&str, &str); 4] = [
    ("__init__.py", include_str!("skeleton/plugin.py")),
    ("scenario.json", include_str!("skeleton/scenario.json")),
    ("pyproject.toml", include_str!("skeleton/pyproject.toml")),
    ("README.md", include_str!("skeleton/README.md")),
];

pub fn perform(common: &Common, new: NewPlugin) -> Result<ExitCode, Failure> {
    let folder = PathBuf::from(&new.name);
    let name = folder.file_name().and_then(|it| it.to_str());
    let Some(name) = name.filter(|it| is_name(it)) else {
        return Err(Failure::new(
            format!("'{}' is no name for a plugin", new.name.escape_debug()),
            "use small letters, digits and _, beginning with a letter, as in word_count",
        ));
    };
    write(&folder, name)?;
    if common.json {
        let files: Vec<&str> = FILES.iter().map(|(file, _)| *file).collect();
        show::json(&json!({ "path": folder, "files": files }));
        return Ok(ExitCode::SUCCESS);
    }
    let path = folder.display();
    show::line(&format!("made {path}; now try"));
    show::line(&format!("  callgate plugin check {path}"));
    show::line(&format!(
        "  callgate plugin test {path} {path}/scenario.json"
    ));
    Ok(ExitCode::SUCCESS)
}

/// What Python can import.
fn is_name(name: &str) -> bool {
    let begins_well = name.starts_with(|c: char| c.is_ascii_lowercase());
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    begins_well && name.len() <= 60 && name.chars().all(fits)
}

fn write(folder: &Path, name: &str) -> Result<(), Failure> {
    let broken = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::AlreadyExists => "choose another name, or remove what is there",
            _ => "check the permissions there",
        };
        Failure::new(format!("cannot make {}: {error}", folder.display()), hint)
    };
    fs::create_dir(folder).map_err(broken)?;
    for (file, text) in FILES {
        fs::write(folder.join(file), text.replace("NAME", name)).map_err(broken)?;
    }
    Ok(())
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
