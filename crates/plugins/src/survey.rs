//! [`Survey`]: what a plugin is and needs, found by reading its files. Nothing of it is run.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::environment::{Environments, InstallError, is_requirement};

/// What reading tells of one plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survey {
    pub path: PathBuf,
    /// `nekro`, `astrbot` or `native`; none if it imports none of their packages.
    pub flavour: Option<String>,
    pub name: String,
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub author: String,
    #[serde(default)]
    pub description: String,
    /// As requirements.txt, metadata.yaml and pyproject.toml say.
    pub requirements: Vec<String>,
    /// Literal requirements of `dynamic_import_pkg`.
    pub dynamic: Vec<String>,
    /// What it needs besides packages.
    pub needs: Vec<ExternalService>,
    /// Where rules are broken: `file:line: text`.
    pub warnings: Vec<String>,
    pub hints: Vec<String>,
    /// Methods that cannot be called at all.
    pub errors: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalService {
    /// `OneBot`, `Qdrant` ...
    pub what: String,
    /// `file:line`.
    pub place: String,
}

impl Survey {
    /// Everything to install before the plugin is imported.
    pub fn packages(&self) -> Vec<String> {
        let mut packages = self.requirements.clone();
        let dynamic = self.dynamic.iter();
        packages.extend(dynamic.filter(|it| is_requirement(it)).cloned());
        packages.dedup();
        packages
    }
}

/// Reads the plugins at `paths`, all in one process. Blocks for that long.
pub fn survey(environments: &Environments, paths: &[&Path]) -> Result<Vec<Survey>, InstallError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let text = environments.script("survey", paths)?;
    serde_json::from_str(&text).map_err(|error| InstallError::Failed {
        program: "callgate_worker.survey".to_owned(),
        words: error.to_string(),
    })
}

/// The package that brings a module, where their names differ.
pub fn package_of(module: &str) -> &str {
    const NAMES: &[(&str, &str)] = &[
        ("attr", "attrs"),
        ("bs4", "beautifulsoup4"),
        ("Crypto", "pycryptodome"),
        ("cv2", "opencv-python-headless"),
        ("dateutil", "python-dateutil"),
        ("docx", "python-docx"),
        ("dotenv", "python-dotenv"),
        ("fitz", "pymupdf"),
        ("google", "google-genai"),
        ("jwt", "pyjwt"),
        ("magic", "python-magic"),
        ("mem0", "mem0ai"),
        ("OpenSSL", "pyopenssl"),
        ("PIL", "pillow"),
        ("pkg_resources", "setuptools"),
        ("pptx", "python-pptx"),
        ("serial", "pyserial"),
        ("sklearn", "scikit-learn"),
        ("skimage", "scikit-image"),
        ("telegram", "python-telegram-bot"),
        ("websocket", "websocket-client"),
        ("yaml", "pyyaml"),
        ("yt_dlp", "yt-dlp"),
        ("zmq", "pyzmq"),
    ];
    let top = module.split('.').next().unwrap_or(module);
    let known = NAMES.iter().find(|(name, _)| *name == top);
    known.map_or(top, |(_, package)| package)
}

/// What to do about a module that the plugin at `path` could not import.
pub fn missing(path: &Path, module: &str) -> String {
    let top = module.split('.').next().unwrap_or(module);
    let beside = [format!("{top}.py"), format!("{top}/__init__.py")];
    if path.is_dir() && beside.iter().any(|file| path.join(file).exists()) {
        return format!("it lies in the plugin itself: import it as `from . import {top}`");
    }
    format!(
        "callgate plugin install {} --with {}",
        path.display(),
        package_of(module)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_module_names_the_command() {
        assert_eq!(
            missing(Path::new("/p/weather"), "bs4.element"),
            "callgate plugin install /p/weather --with beautifulsoup4"
        );
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tables.py"), "").unwrap();
        assert!(missing(folder.path(), "tables").contains("from . import tables"));
    }
}
