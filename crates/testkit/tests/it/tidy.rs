//! How files look: each says what it owns, none is endless, names are in one style.

use std::{
    fs,
    path::{Path, PathBuf},
};

const LONGEST: usize = 600;

fn sources(extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["crates", "python", "bench"]
        .iter()
        .map(|folder| super::root().join(folder))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let hidden = path.file_name().unwrap().to_string_lossy().starts_with('.');
            if path.is_dir() && !hidden {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    assert!(
        found.len() > 5,
        "too few .{extension} files: is the root right?"
    );
    found
}

fn check(extension: &str, rule: &str, broken: impl Fn(&Path, &str) -> bool) {
    let offenders: Vec<PathBuf> = sources(extension)
        .into_iter()
        .filter(|path| broken(path, &fs::read_to_string(path).unwrap()))
        .collect();
    assert!(offenders.is_empty(), "{rule}: {offenders:#?}");
}

#[test]
fn rust_files_say_what_they_own() {
    check("rs", "opens with //!", |_, text| !text.starts_with("//!"));
}

#[test]
fn python_modules_say_what_they_own() {
    check("py", "opens with a docstring", |path, text| {
        let is_module = !path.components().any(|part| part.as_os_str() == "tests");
        is_module && !text.starts_with("\"\"\"")
    });
}

#[test]
fn no_file_is_endless() {
    for extension in ["rs", "py"] {
        check(extension, "at most 600 lines", |_, text| {
            text.lines().count() > LONGEST
        });
    }
}

#[test]
fn modules_are_files_named_after_themselves() {
    check("rs", "no mod.rs", |path, _| path.ends_with("mod.rs"));
}

/// What a test needs is made, or it fails.
#[test]
fn no_test_skips_itself() {
    for (extension, skips) in [
        (
            "rs",
            [concat!("#[", "ignore"), concat!("cfg_attr(", "ignore")],
        ),
        (
            "py",
            [concat!("skip", "Test"), concat!("unittest.skip", "If")],
        ),
    ] {
        check(extension, "no test is skipped", |_, text| {
            skips.iter().any(|skip| text.contains(skip))
        });
    }
}
