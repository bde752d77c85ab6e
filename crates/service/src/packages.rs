//! The operator's Python packages: `DIR/packages`, shown read-only to code in the sandbox. A new
//! set is made beside the old one and takes its place whole, or not at all. Only ready-made wheels
//! are taken, since building one runs its code outside the sandbox.

mod installer;
mod tree;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde::{Deserialize, Serialize};

use crate::{ProgressFn, ServiceError};

const CURRENT: &str = "packages";
const NEXT: &str = "packages.next";
const PREVIOUS: &str = "packages.previous";

/// What an AI that works with tables, documents and pictures reaches for.
pub const COMMON: &[&str] = &[
    "numpy",
    "pandas",
    "scipy",
    "sympy",
    "matplotlib",
    "pillow",
    "openpyxl",
    "python-docx",
    "pypdf",
    "beautifulsoup4",
    "lxml",
    "pyyaml",
    "tabulate",
];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
}

impl std::fmt::Display for Package {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// The directory for the jail, if anything was ever installed.
pub fn installed_at(data: &Path) -> Option<PathBuf> {
    let packages = data.join(CURRENT);
    packages.is_dir().then_some(packages)
}

/// By name.
pub fn list(data: &Path) -> Vec<Package> {
    installed_at(data).map_or_else(Vec::new, |packages| tree::packages(&packages))
}

/// Installs or upgrades. `shared` says that a running callgate shows the old set to its runs, so
/// its files must stay until the next installation. `say` is told what happens at the moment.
pub fn install(
    data: &Path,
    python: &Path,
    requested: &[String],
    shared: bool,
    say: &ProgressFn,
) -> Result<(), ServiceError> {
    let requested = expand(requested)?;
    let [current, next, previous] = [CURRENT, NEXT, PREVIOUS].map(|name| data.join(name));
    let broken = |error: std::io::Error| {
        ServiceError::refused(
            format!("cannot write the packages in {}: {error}", data.display()),
            "check the space and the permissions there with `callgate doctor`",
        )
    };
    // Left by an installation that was cut off, or by one beside a running callgate.
    tree::remove(&next).map_err(broken)?;
    tree::remove(&previous).map_err(broken)?;
    tree::copy(&current, &next).map_err(broken)?;
    let installed = installer::run(python, &next, &requested, say);
    if let Err(failure) = installed {
        // The old set is untouched; what is left of the new one goes with the next attempt.
        let _ = tree::remove(&next);
        return Err(failure);
    }
    tree::tidy(&next).map_err(broken)?;
    tree::replace(&current, &next, &previous).map_err(broken)?;
    if shared {
        Ok(())
    } else {
        tree::remove(&previous).map_err(broken)
    }
}

/// `Python 3.11.2` of the interpreter, as it says itself.
pub fn python_version(python: &Path) -> Option<String> {
    let output = command(python).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The presets spelled out, and nothing that an installer could take for an option.
fn expand(requested: &[String]) -> Result<Vec<String>, ServiceError> {
    let mut packages = Vec::new();
    for package in requested {
        if package == "common" {
            packages.extend(COMMON.iter().map(|name| (*name).to_owned()));
            continue;
        }
        let begins = package.chars().next();
        let begins_well = begins.is_some_and(|c| c.is_alphanumeric() || "./_".contains(c));
        if !begins_well || package.chars().any(char::is_control) {
            return Err(ServiceError::refused(
                format!("'{}' is not a package", package.escape_debug()),
                "name it as in numpy or 'numpy<2', give a wheel file, or the word common",
            ));
        }
        packages.push(package.clone());
    }
    Ok(packages)
}

#[allow(
    clippy::disallowed_methods,
    reason = "the one place of the command line that starts processes: installers and python --version"
)]
fn command(program: &Path) -> Command {
    Command::new(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_pass_for_an_option() {
        let expand = |package: &str| expand(&[package.to_owned()]);
        for package in ["-r", "--index-url=http://x", " -e .", "", "a\nb", "\t-r"] {
            assert!(expand(package).is_err(), "{package:?}");
        }
        for package in [
            "numpy",
            "numpy<2",
            "a[b]==1",
            "./x.whl",
            "/tmp/x.whl",
            "../x.whl",
        ] {
            assert_eq!(expand(package).unwrap(), [package]);
        }
        assert_eq!(expand("common").unwrap(), COMMON);
    }
}
