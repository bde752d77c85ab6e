//! The program that puts packages into an environment: uv where there is one, else a pip. It runs
//! behind the wall, and takes ready-made wheels only unless the operator says otherwise: building a
//! package runs its code.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    Environments, InstallError, ProgressFn, base::WITHOUT_WHEEL, confined::ConfinedCommand, process,
};

/// One installation.
pub(super) struct Install<'a> {
    pub(super) environments: &'a Environments,
    pub(super) environment: &'a Path,
    pub(super) packages: &'a [String],
    /// Lines such as `numpy==2.1.0` that must stay as they are.
    pub(super) held: &'a [String],
}

impl Install<'_> {
    pub(super) fn run(&self, say: ProgressFn<'_>) -> Result<(), InstallError> {
        let ConfinedCommand {
            mut command,
            folder: _kept,
        } = self.installer()?;
        if !self.environments.from_source {
            command.args(["--only-binary", ":all:"]);
            for package in WITHOUT_WHEEL {
                command.args(["--no-binary", package]);
            }
        }
        let constraints = self.environment.join("constraints.txt");
        if !self.held.is_empty() {
            fs::write(&constraints, self.held.join("\n"))
                .map_err(|error| InstallError::files(&constraints, error))?;
            command.arg("--constraint").arg(&constraints);
        }
        command.arg("--").args(self.packages);
        say(&format!("installing {}", self.packages.join(" ")));
        let ended = process::heard(command, say, self.environments.cancel.as_ref())?;
        ended.map_err(|words| self.failed(words))
    }

    fn installer(&self) -> Result<ConfinedCommand, InstallError> {
        let target = self.environment.join("bin/python");
        if let Some(uv) = in_path("uv") {
            let mut uv = self.environments.confined(&uv, &[self.environment], &[])?;
            // Compiled now: a worker may not write there.
            uv.command
                .args(["pip", "install", "--compile-bytecode", "--python"])
                .arg(target);
            return Ok(uv);
        }
        let mut pips = vec![(self.environments.python.clone(), vec!["-m", "pip"])];
        let others = ["pip3", "pip"].into_iter().filter_map(in_path);
        pips.extend(others.map(|pip| (pip, Vec::new())));
        for (program, arguments) in pips {
            let mut asked = self.environments.confined(&program, &[], &[])?;
            asked.command.args(&arguments).arg("--version");
            if process::output(asked.command).is_err() {
                continue;
            }
            // About the operator's other packages, which workers do not see.
            let quiet = [("PIP_ROOT_USER_ACTION", "ignore")];
            let mut pip = self
                .environments
                .confined(&program, &[self.environment], &quiet)?;
            pip.command
                .args(arguments)
                .arg("--python")
                .arg(&target)
                .args(["install", "--disable-pip-version-check", "--no-input"]);
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
        const NO_WHEEL: [&str; 3] = ["No matching distribution", "no usable wheels", "no wheels"];
        let packages = self.packages.join(" ");
        let says = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
        if !self.environments.from_source && says(&NO_WHEEL) {
            return InstallError::NoWheel { packages, words };
        }
        if !self.held.is_empty() && says(&SIGNS) {
            InstallError::Conflict { packages, words }
        } else {
            InstallError::Packages { packages, words }
        }
    }
}

/// A program as it is started: where it lies, if it was only named.
pub(crate) fn found(program: &Path) -> PathBuf {
    let named = program.to_str().filter(|name| !name.contains('/'));
    named
        .and_then(in_path)
        .unwrap_or_else(|| program.to_owned())
}

pub(crate) fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.find(|place| place.is_file())
}
