//! Rules about the source tree itself: which crate may know which, and how files look.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod layout;
mod tidy;

/// The root of the workspace.
fn root() -> std::path::PathBuf {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../..").canonicalize().unwrap()
}
