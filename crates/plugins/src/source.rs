//! A plugin as it is found, and what it turned out to be once it is loaded.

use std::path::{Path, PathBuf};

use callgate_contract::MethodSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// One plugin to load.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its folder, or its one file.
    pub path: PathBuf,
    /// `nekro`, `astrbot` or `native`.
    pub flavour: String,
    /// The worker it is loaded into; workers that plugins share are named after their flavour.
    pub worker: String,
    /// Given to the flavour as they are.
    pub options: Map<String, Json>,
    /// Where its code is read from, of a plugin whose files load no longer: as they were when they did.
    pub kept: Option<PathBuf>,
}

impl Source {
    /// The plugin at `path` in the shared worker of its flavour; `None` if it is none of ours.
    pub fn at(path: &Path) -> Option<Source> {
        let flavour = detect(path)?;
        Some(Source {
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            flavour: flavour.to_owned(),
            worker: flavour.to_owned(),
            options: Map::new(),
            kept: None,
        })
    }

    /// Where its code is read from.
    pub fn code(&self) -> &Path {
        self.kept.as_deref().unwrap_or(&self.path)
    }

    /// The name of its folder or file, which is also that of its data folder.
    pub fn name(&self) -> String {
        let stem = if self.path.is_dir() {
            self.path.file_name()
        } else {
            self.path.file_stem()
        };
        stem.unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// What a flavour made of a plugin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoadedPlugin {
    pub id: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub author: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub methods: Vec<MethodSpec>,
    #[serde(default)]
    pub commands: Vec<Json>,
    #[serde(default)]
    pub hooks: Vec<String>,
    #[serde(default)]
    pub config: Option<Json>,
    #[serde(default)]
    pub warnings: Vec<String>,
    /// What only its flavour has.
    #[serde(default)]
    pub extra: Map<String, Json>,
}

/// The packages that tell a flavour, by what a plugin imports.
const FLAVOURS: [(&str, &str); 3] = [
    ("nekro_agent", "nekro"),
    ("astrbot", "astrbot"),
    ("callgate", "native"),
];

/// Deepest folder of a plugin that is looked into.
const DEPTH: usize = 3;

/// Which flavour's package the plugin's files import first.
fn detect(path: &Path) -> Option<&'static str> {
    let mut files = Vec::new();
    python_files(path, DEPTH, &mut files);
    files.iter().find_map(|file| {
        let text = String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned();
        text.lines().find_map(imported)
    })
}

fn imported(line: &str) -> Option<&'static str> {
    let line = line.trim_start_matches('\u{feff}').trim_start();
    let module = line
        .strip_prefix("from ")
        .or_else(|| line.strip_prefix("import "))?;
    let package = module.split([' ', '.', ',']).next()?;
    let known = FLAVOURS.iter().find(|(name, _)| *name == package);
    known.map(|(_, flavour)| *flavour)
}

/// The files next to the entry come before those of folders.
fn python_files(path: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
        return;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort_by_key(|path| (path.is_dir(), path.clone()));
    for entry in entries {
        let is_python = entry.extension().is_some_and(|extension| extension == "py");
        if is_python || (depth > 0 && entry.is_dir()) {
            python_files(&entry, depth - usize::from(entry.is_dir()), files);
        }
    }
}
