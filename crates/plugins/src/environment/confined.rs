//! Programs behind the workers' wall, for what installs packages and for what runs among them:
//! packages are other people's code. Such a program has the network, the system's files, the operator's
//! settings for installers, and what it is given; of our environment, what installers need.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;
use tempfile::TempDir;

use super::{Environments, InstallError, process};
use crate::filter;

/// Kept between installations. Not the operator's own cache: what is built for plugins is only theirs.
const CACHE: &str = ".cache";

/// What tells programs where the network, certificates and settings are.
const PASSED_ON: [&str; 19] = [
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

/// A command that is ready to be run, with the folder it works in.
pub(super) struct ConfinedCommand {
    pub(super) command: Command,
    /// Its working directory and place for temporary files, gone afterwards.
    pub(super) folder: TempDir,
}

impl Environments {
    /// `program` behind the wall; it may write into `writable`, the cache and a folder of its own.
    /// Arguments are to be added to the command.
    pub(super) fn confined(
        &self,
        program: &Path,
        writable: &[&Path],
        variables: &[(&str, &str)],
    ) -> Result<ConfinedCommand, InstallError> {
        let broken = |error| InstallError::files(&self.root, error);
        let folder = TempDir::with_prefix("callgate-install-").map_err(broken)?;
        let cache = self.root.join(CACHE);
        for place in writable.iter().copied().chain([cache.as_path()]) {
            fs::create_dir_all(place).map_err(broken)?;
        }
        let filters = filter::programs().map_err(|error| broken(std::io::Error::other(error)))?;
        let mut environment: BTreeMap<String, String> = [
            ("TMPDIR", folder.path().to_path_buf()),
            ("PIP_CACHE_DIR", cache.join("pip")),
            ("UV_CACHE_DIR", cache.join("uv")),
        ]
        .map(|(name, path)| (name.to_owned(), path.display().to_string()))
        .into();
        let given = variables.iter();
        environment.extend(given.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut writable: Vec<&Path> = writable.to_vec();
        writable.extend([cache.as_path(), folder.path()]);
        let mut readable = settings_of_installers();
        readable.push(self.scripts.clone());
        readable.extend(belonging_to(program));
        let order = json!({
            // Ours may be found by a script that itself lies outside of the wall.
            "program": (program != self.python).then_some(program),
            "readable": readable,
            "writable": writable,
            "hidden": self.root.parent().unwrap_or(&self.root),
            "filters": filters,
            "environment": environment,
        });
        let mut command = process::command(&self.python);
        command
            .args(["-P", "-B", "-m", "callgate_worker.confined"])
            .arg(order.to_string())
            .env_clear()
            .envs(env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed_on)))
            .env("PYTHONPATH", &self.scripts)
            .env("PYTHONIOENCODING", "utf-8")
            .current_dir(folder.path());
        Ok(ConfinedCommand { command, folder })
    }
}

fn is_setting_of_installers(name: &str) -> bool {
    let of_installers = name.starts_with("PIP_") || name.starts_with("UV_");
    of_installers && !name.starts_with("UV_PUBLISH_")
}

fn is_passed_on(name: &str) -> bool {
    PASSED_ON.contains(&name) || is_setting_of_installers(name)
}

/// The operator's configuration of pip and uv, and the places that it names in variables: folders of
/// wheels, certificates, constraints.
fn settings_of_installers() -> Vec<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let settings = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let settings = settings.unwrap_or_else(|| home.join(".config"));
    let mut places = vec![
        PathBuf::from("/etc/pip.conf"),
        PathBuf::from("/etc/uv"),
        home.join(".pip"),
        settings.join("pip"),
        settings.join("uv"),
    ];
    let named = env::vars().filter(|(name, _)| {
        is_setting_of_installers(name) || name.ends_with("_BUNDLE") || name.starts_with("SSL_CERT")
    });
    for (_, value) in named {
        let words = value.split_whitespace();
        let paths = words.map(|word| Path::new(word.strip_prefix("file://").unwrap_or(word)));
        places.extend(paths.filter(|path| path.is_absolute()).map(Path::to_owned));
    }
    places
}

/// The program itself, the libraries of one that is a script of some interpreter's, and the whole of
/// the environment that it is an interpreter of.
fn belonging_to(program: &Path) -> Vec<PathBuf> {
    let prefix = |path: &Path| path.parent().and_then(Path::parent).map(Path::to_owned);
    let real = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let library = prefix(&real).map(|prefix| prefix.join("lib"));
    let environment = prefix(program).filter(|prefix| prefix.join("pyvenv.cfg").is_file());
    [Some(real), library, environment]
        .into_iter()
        .flatten()
        .collect()
}
