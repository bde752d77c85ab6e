//! Gathers the Python sources that workers run, and builds the program of the crate `jail` that starts
//! them, so that one binary is enough.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
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
    build_wall(&here.join("../jail"), &out);
}

/// A nested cargo, because cargo cannot yet depend on another crate's binary, with a target directory
/// of its own, since the outer cargo holds the lock of its one.
fn build_wall(jail: &Path, out: &Path) {
    for watched in [jail.join("src"), jail.join("Cargo.toml")] {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
    #[allow(clippy::disallowed_methods, reason = "a build script, not the product")]
    let status = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["build", "--bin", "callgate-wall", "--release"])
        .arg("--manifest-path")
        .arg(jail.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(out.join("wall"))
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "none")
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "building crates/jail failed; its messages are above"
    );
    let program = out.join("wall/release/callgate-wall");
    println!("cargo::rustc-env=CALLGATE_WALL={}", program.display());
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
