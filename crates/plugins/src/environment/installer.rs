//! The program that puts packages into an environment: uv where there is one, else a pip.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{InstallError, Say, process};

/// One installation.
pub(super) struct Install<'a> {
    /// Makes environments, and may have a pip.
    pub(super) python: &'a Path,
    pub(super) environment: &'a Path,
    pub(super) packages: &'a [String],
    /// Lines such as `numpy==2.1.0` that must stay as they are.
    pub(super) held: &'a [String],
}

impl Install<'_> {
    pub(super) fn run(&self, say: Say<'_>) -> Result<(), InstallError> {
        let mut command = self.installer()?;
        let constraints = self.environment.join("constraints.txt");
        if !self.held.is_empty() {
            fs::write(&constraints, self.held.join("\n"))
                .map_err(|error| InstallError::files(&constraints, error))?;
            command.arg("--constraint").arg(&constraints);
        }
        command.arg("--").args(self.packages);
        say(&format!("installing {}", self.packages.join(" ")));
        let ended = process::heard(command, say)?;
        ended.map_err(|words| self.failed(words))
    }

    fn installer(&self) -> Result<Command, InstallError> {
        let target = self.environment.join("bin/python");
        if let Some(uv) = in_path("uv") {
            let mut uv = process::command(&uv);
            // Compiled now: a worker may not write there.
            uv.args(["pip", "install", "--compile-bytecode", "--python"])
                .arg(target);
            return Ok(uv);
        }
        let mut pips = vec![(self.python.to_owned(), vec!["-m", "pip"])];
        let others = ["pip3", "pip"].into_iter().filter_map(in_path);
        pips.extend(others.map(|pip| (pip, Vec::new())));
        for (program, arguments) in pips {
            let mut asked = process::command(&program);
            asked.args(&arguments).arg("--version");
            if process::output(asked).is_err() {
                continue;
            }
            let mut pip = process::command(&program);
            pip.args(arguments)
                .arg("--python")
                .arg(&target)
                .args(["install", "--disable-pip-version-check", "--no-input"])
                // About the operator's other packages, which workers do not see.
                .env("PIP_ROOT_USER_ACTION", "ignore");
            return Ok(pip);
        }
        Err(InstallError::NoInstaller)
    }

    fn failed(&self, words: String) -> InstallError {
        const SIGNS: [&str; 5] = [
            "ResolutionImpossible",
            "conflicting dependencies",
            "No solution found",
            "incompatible",
            "unsatisfiable",
        ];
        let packages = self.packages.join(" ");
        match !self.held.is_empty() && SIGNS.iter().any(|sign| words.contains(sign)) {
            true => InstallError::Conflict { packages, words },
            false => InstallError::Packages { packages, words },
        }
    }
}

pub(crate) fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.find(|place| place.is_file())
}
