//! Gathers the Python sources that workers run, so that one binary is enough.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// Folders and files below `python/`, and where they lie for a worker.
const TREES: [(&str, &str); 6] = [
    ("worker/callgate_worker", "callgate_worker"),
    ("guest/callgate_guest/wire.py", "callgate_guest/wire.py"),
    (
        "guest/callgate_guest/outward.py",
        "callgate_guest/outward.py",
    ),
    ("callgate", "callgate"),
    ("nekro_agent", "nekro_agent"),
    ("astrbot", "astrbot"),
];

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let python = here.join("../../python");
    let mut files = Vec::new();
    for (from, to) in TREES {
        let from = python.join(from);
        println!("cargo::rerun-if-changed={}", from.display());
        gather(&from, to, &mut files);
    }
    files.sort();
    let mut text = String::from("&[\n");
    for (name, path) in files {
        let path = path.display().to_string();
        let _ = writeln!(text, "    ({name:?}, include_bytes!({path:?})),");
    }
    text.push(']');
    let written = fs::write(out.join("files.rs"), text);
    assert!(written.is_ok(), "cannot write to OUT_DIR");
}

fn gather(from: &Path, to: &str, files: &mut Vec<(String, PathBuf)>) {
    if from.is_file() {
        files.push((to.to_owned(), from.to_owned()));
        return;
    }
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && name != "__pycache__" && name != "tests" {
            gather(&entry.path(), &format!("{to}/{name}"), files);
        }
    }
}
