//! Why an environment or a plugin could not be put in place, and what to do about it.

use std::{
    io,
    path::{Path, PathBuf},
};

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("no installer for Python packages was found")]
    NoInstaller,
    #[error("cannot run {program}: {source}")]
    Start { program: String, source: io::Error },
    #[error("{program} failed: {words}")]
    Failed { program: String, words: String },
    #[error("{packages} could not be installed: {words}")]
    Packages { packages: String, words: String },
    #[error("no ready-made wheel of {packages} was found: {words}")]
    NoWheel { packages: String, words: String },
    #[error("'{}' is not installed: a package is asked for by its name and versions", .0.escape_debug())]
    NoRequirement(String),
    /// The packages do not go together with what other plugins of the worker use.
    #[error("{packages} cannot be installed beside what is there: {words}")]
    Conflict { packages: String, words: String },
    #[error("cannot write {}: {source}", path.display())]
    Files { path: PathBuf, source: io::Error },
    #[error("'{what}' is no plugin: {reason}")]
    NoPlugin { what: String, reason: String },
    #[error("there is already a plugin '{0}'")]
    Exists(String),
    #[error("there is no plugin '{0}'")]
    Unknown(String),
    #[error("it was cancelled; nothing has changed")]
    Cancelled,
}

impl InstallError {
    pub(crate) fn files(path: &Path, source: io::Error) -> Self {
        InstallError::Files {
            path: path.to_owned(),
            source,
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            InstallError::NoInstaller => {
                "install uv (https://docs.astral.sh/uv/) or pip (Debian: apt install python3-pip)"
            }
            InstallError::Start { .. } => "install it, or check PATH",
            InstallError::Failed { .. } => {
                "its own words say why; `callgate doctor` checks the rest"
            }
            InstallError::Packages { .. } => {
                "check the names and the network; what was installed before is unchanged"
            }
            InstallError::NoWheel { .. } => {
                "check the names; plugins.source_packages = true lets packages be built, which runs \
                 their code behind the workers' wall"
            }
            InstallError::NoRequirement(_) => "name it as in numpy or 'numpy<2'",
            InstallError::Conflict { .. } => "give the plugin a worker of its own",
            InstallError::Files { .. } => "check the space and the permissions there",
            InstallError::NoPlugin { .. } => {
                "give a folder, a .py file, a .zip file or the URL of a git repository"
            }
            InstallError::Exists(_) => "have it replaced, or choose another name",
            InstallError::Cancelled => "begin it again whenever you like",
            InstallError::Unknown(_) => "look at the list of what is installed",
        }
    }
}
