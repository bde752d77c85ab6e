//! Programs behind the workers' wall, for what installs packages and for what runs among them:
//! packages are other people's code. Such a program has the network, the system's files, the operator's
//! settings for installers, and what it is given; of our environment, what installers need.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use super::{Environments, InstallError};
use crate::wall::{NearAddresses, Wall, interpreter};

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
        let mut readable = settings_of_installers();
        let near = self.near_installers(&readable);
        readable.push(self.scripts.clone());
        readable.extend(interpreter(program));
        readable.extend(interpreter(&self.python));
        let mut writable: Vec<PathBuf> = writable.iter().map(|path| path.to_path_buf()).collect();
        writable.extend([cache.clone(), folder.path().to_owned()]);
        let wall = Wall {
            near,
            readable,
            writable,
            hidden: self.root.parent().unwrap_or(&self.root).to_owned(),
            folder: folder.path().to_owned(),
            unwalled: self.unwalled,
            ..Wall::default()
        };
        let mut command = wall.command(program).map_err(broken)?;
        command
            .stdin(Stdio::null())
            .env_clear()
            .envs(env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed_on)))
            .env("PYTHONIOENCODING", "utf-8")
            .env("TMPDIR", folder.path())
            .env("PIP_CACHE_DIR", cache.join("pip"))
            .env("UV_CACHE_DIR", cache.join("uv"))
            .envs(variables.iter().copied());
        Ok(ConfinedCommand { command, folder })
    }
}

impl Environments {
    /// What the operator has opened, and where variables and settings lead installers.
    fn near_installers(&self, settings: &[PathBuf]) -> NearAddresses {
        let mut near = self.near.clone();
        let passed_on = env::vars().filter(|(name, _)| is_passed_on(name));
        for (_, value) in passed_on {
            near.open_named_in(&value);
        }
        let files = settings.iter().flat_map(|place| {
            let inside = fs::read_dir(place).into_iter().flatten().flatten();
            let inside = inside.map(|entry| entry.path());
            inside.chain([place.clone()]).collect::<Vec<_>>()
        });
        let settings = files.filter(|file| {
            file.extension()
                .is_some_and(|it| it == "conf" || it == "toml" || it == "ini")
        });
        for text in settings.filter_map(|file| fs::read_to_string(file).ok()) {
            near.open_named_in(&text);
        }
        near
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
