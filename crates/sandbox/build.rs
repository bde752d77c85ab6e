//! Builds the `jail` crate as a shared library and hands its path to the crate, which embeds it.
//! A nested cargo, because cargo cannot yet depend on another crate's cdylib.

use std::{env, path::PathBuf, process::Command};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let jail = here.join("../jail");
    let guest = here.join("../../python/guest");
    for watched in [jail.join("src"), jail.join("Cargo.toml"), guest] {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
    // The jail has a target directory of its own, since the outer cargo holds the lock of its one.
    #[allow(clippy::disallowed_methods, reason = "a build script, not the product")]
    let status = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["rustc", "--lib", "--release", "--crate-type", "cdylib"])
        .arg("--manifest-path")
        .arg(jail.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(out.join("jail"))
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
    let library = out.join("jail/release/libcallgate_jail.so");
    println!("cargo::rustc-env=CALLGATE_JAIL={}", library.display());
}
