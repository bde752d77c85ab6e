//! [`Environments`]: the virtual environments of workers, below one folder. Plugins of a flavour
//! share one that holds what their upstream ships; a plugin whose requirements do not go together
//! with that gets its own. Nothing that is installed for others is ever changed for a plugin.
//! They lie in `DIR/environments/<worker>`; `plugin check` and `plugin test` work in a temporary data
//! directory, with environments that are kept in the user's cache.

mod base;
mod confined;
mod error;
mod installer;
pub(crate) mod process;
mod requirement;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use callgate_contract::Cancel;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

pub use base::base;
pub use error::InstallError;
use installer::Install;
pub(crate) use installer::found;
pub use process::ProgressFn;
pub use requirement::is_requirement;

use crate::wall::NearAddresses;

/// What an environment holds by our doing, kept inside it.
const STAMP: &str = "callgate.json";
const LOCK: &str = "lock";

/// Clones name the same folder.
#[derive(Clone, Debug)]
pub struct Environments {
    root: PathBuf,
    /// The interpreter that environments are made from.
    python: PathBuf,
    /// Where the package `callgate_worker` lies.
    scripts: PathBuf,
    /// Packages may be built where there is no wheel, which runs their code.
    from_source: bool,
    /// Addresses of this machine and its link that installers may reach.
    near: NearAddresses,
    /// Nothing runs behind a wall: the operator's choice.
    unwalled: bool,
    /// What is under way ends with it.
    pub(crate) cancel: Option<Cancel>,
}

/// Where a plugin's worker runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The flavour, or the plugin's id if it has a worker of its own.
    pub worker: String,
    pub python: PathBuf,
    pub own: bool,
    /// Packages that could not be had; the plugin may do without.
    pub notes: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    #[serde(default)]
    requirements: Vec<String>,
}

impl Stamp {
    fn lacks(&self, wanted: &[String]) -> Vec<String> {
        let lacking = wanted.iter().filter(|it| !self.requirements.contains(it));
        lacking.cloned().collect()
    }
}

impl Environments {
    pub fn new(root: PathBuf, python: PathBuf, scripts: PathBuf) -> Self {
        Environments {
            root,
            python,
            scripts,
            from_source: false,
            near: NearAddresses::default(),
            unwalled: false,
            cancel: None,
        }
    }

    /// Whatever is done here ends when somebody no longer wants it.
    pub fn until(self, cancel: Cancel) -> Self {
        Environments {
            cancel: Some(cancel),
            ..self
        }
    }

    /// Which near addresses installers may reach besides those of their indexes. The operator's to say.
    pub fn reaching(self, near: NearAddresses) -> Self {
        Environments { near, ..self }
    }

    /// Whether installers run without a wall. The operator's to say.
    pub fn unwalled(self, unwalled: bool) -> Self {
        Environments { unwalled, ..self }
    }

    /// Whether packages without a wheel are built, behind the wall. The operator's to say.
    pub fn building_from_source(self, from_source: bool) -> Self {
        Environments {
            from_source,
            ..self
        }
    }

    /// The interpreter of `worker`: its environment's, else the plain one.
    pub fn python(&self, worker: &str) -> PathBuf {
        let own = self.interpreter(worker);
        if own.is_file() {
            own
        } else {
            self.python.clone()
        }
    }

    /// Makes sure of what `plugin` needs. Blocks as long as the network takes, unless all is there.
    pub fn prepare(
        &self,
        flavour: &str,
        plugin: &str,
        requirements: &[String],
        say: ProgressFn<'_>,
    ) -> Result<Environment, InstallError> {
        let base = base(flavour);
        let name = own_worker(flavour, plugin);
        let everything = [&base, requirements].concat();
        if self.stamp(&name).is_some() {
            let notes = self.fill(&name, &everything, say)?;
            return Ok(self.environment(&name, true, notes));
        }
        if !base.is_empty() || !requirements.is_empty() {
            self.fill(flavour, &base, say)?;
        }
        match self.extend(flavour, requirements, say) {
            Ok(notes) => Ok(self.environment(flavour, false, notes)),
            Err(InstallError::Conflict { .. }) => {
                say(&format!("{plugin} gets an environment of its own"));
                let notes = self.fill(&name, &everything, say)?;
                Ok(self.environment(&name, true, notes))
            }
            Err(error) => Err(error),
        }
    }

    /// Adds packages to the environment of a worker, without changing what it has. Gives what could
    /// not be had.
    pub fn extend(
        &self,
        worker: &str,
        requirements: &[String],
        say: ProgressFn<'_>,
    ) -> Result<Vec<String>, InstallError> {
        let lacking = self.stamp(worker).unwrap_or_default().lacks(requirements);
        if lacking.is_empty() {
            return Ok(Vec::new());
        }
        let _held = self.lock()?;
        self.create(worker, say)?;
        let held = self.installed(worker)?;
        self.install(worker, &lacking, &held, say)
    }

    /// Removes the environment of a worker.
    pub fn remove(&self, worker: &str) -> Result<(), InstallError> {
        let folder = self.root.join(worker);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(InstallError::files(&folder, error))
            }
            _ => Ok(()),
        }
    }

    /// Lines such as `numpy==2.1.0`.
    pub fn installed(&self, worker: &str) -> Result<Vec<String>, InstallError> {
        let scripts = self.scripts.display().to_string();
        let mut listing = self.confined(&self.python(worker), &[], &[("PYTHONPATH", &scripts)])?;
        listing
            .command
            .args(["-B", "-m", "callgate_worker.packages"]);
        let listed = process::output(listing.command)?;
        Ok(listed.lines().map(str::to_owned).collect())
    }

    /// Runs one of our scripts, which are modules of `callgate_worker`, by the plain interpreter, in
    /// which nothing is but ours and the system's; its output.
    pub(crate) fn script(&self, module: &str, arguments: &[&Path]) -> Result<String, InstallError> {
        let mut command = process::command(&self.python);
        command
            .args(["-m", &format!("callgate_worker.{module}")])
            .args(arguments)
            .env_clear()
            .envs(
                ["PATH", "LANG", "TMPDIR"].map(|it| (it, std::env::var_os(it).unwrap_or_default())),
            )
            .env("PYTHONPATH", &self.scripts)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PYTHONIOENCODING", "utf-8");
        process::output(command)
    }

    /// A new environment with these requirements, or what one of before lacks of them.
    fn fill(
        &self,
        worker: &str,
        wanted: &[String],
        say: ProgressFn<'_>,
    ) -> Result<Vec<String>, InstallError> {
        let known = self.stamp(worker);
        if known.as_ref().is_some_and(|it| it.lacks(wanted).is_empty()) {
            return Ok(Vec::new());
        }
        let _held = self.lock()?;
        self.create(worker, say)?;
        // Another process may have filled it while we waited.
        let lacking = self.stamp(worker).unwrap_or_default().lacks(wanted);
        self.install(worker, &lacking, &[], say)
    }

    fn create(&self, worker: &str, say: ProgressFn<'_>) -> Result<(), InstallError> {
        if self.interpreter(worker).is_file() {
            return Ok(());
        }
        say(&format!("making the environment {worker}"));
        // Pip stays outside: it can work for an environment, and takes seconds to put into one.
        let environment = self.root.join(worker);
        let mut making = self.confined(&self.python, &[&environment], &[])?;
        making
            .command
            .args(["-m", "venv", "--without-pip", "--clear"])
            .arg(&environment);
        process::run(making.command, say, self.cancel.as_ref())
    }

    fn install(
        &self,
        worker: &str,
        packages: &[String],
        held: &[String],
        say: ProgressFn<'_>,
    ) -> Result<Vec<String>, InstallError> {
        let run = |packages: &[String]| {
            let install = Install {
                environments: self,
                environment: &self.root.join(worker),
                packages,
                held,
            };
            install.run(say)
        };
        let mut stamp = self.stamp(worker).unwrap_or_default();
        let (packages, odd): (Vec<String>, Vec<String>) =
            packages.iter().cloned().partition(|it| is_requirement(it));
        let refused = |text| InstallError::NoRequirement(text).to_string();
        let mut notes: Vec<String> = odd.into_iter().map(refused).collect();
        match packages.as_slice() {
            [] => {}
            packages => match run(packages) {
                Ok(()) => stamp.requirements.extend_from_slice(packages),
                // One that exists nowhere, or not for this system, must not keep the others away.
                Err(InstallError::Packages { words, .. } | InstallError::NoWheel { words, .. })
                    if packages.len() > 1 && !is_offline(&words) =>
                {
                    for package in packages {
                        match run(std::slice::from_ref(package)) {
                            Ok(()) => stamp.requirements.push(package.clone()),
                            Err(error @ InstallError::Cancelled) => return Err(error),
                            Err(error) => notes.push(error.to_string()),
                        }
                    }
                }
                Err(error) => return Err(error),
            },
        }
        let text = serde_json::to_string(&stamp).unwrap_or_default();
        let file = self.root.join(worker).join(STAMP);
        fs::write(&file, text).map_err(|error| InstallError::files(&file, error))?;
        Ok(notes)
    }

    fn environment(&self, worker: &str, own: bool, notes: Vec<String>) -> Environment {
        Environment {
            worker: worker.to_owned(),
            python: self.python(worker),
            own,
            notes,
        }
    }

    fn interpreter(&self, worker: &str) -> PathBuf {
        self.root.join(worker).join("bin/python")
    }

    /// Absent where the environment was never filled to the end.
    fn stamp(&self, worker: &str) -> Option<Stamp> {
        let text = fs::read_to_string(self.root.join(worker).join(STAMP)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Held while packages change, since other processes use the same folder.
    fn lock(&self) -> Result<fs::File, InstallError> {
        let broken = |error| InstallError::files(&self.root, error);
        fs::create_dir_all(&self.root).map_err(broken)?;
        let file = fs::File::create(self.root.join(LOCK)).map_err(broken)?;
        flock(&file, FlockOperation::LockExclusive).map_err(|error| broken(error.into()))?;
        Ok(file)
    }
}

/// Trying each package alone would only take longer.
fn is_offline(words: &str) -> bool {
    let words = words.to_lowercase();
    let signs = [
        "connection",
        "network",
        "temporary failure",
        "max retries",
        "timed out",
    ];
    signs.iter().any(|sign| words.contains(sign))
}

/// The name of a plugin's own worker, which is also that of its environment's folder.
pub(crate) fn own_worker(flavour: &str, plugin: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let plain = |c: char| if fits(c) { c } else { '_' };
    let name: String = plugin.chars().map(plain).collect();
    format!("{flavour}-{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugins_own_worker_is_one_folder() {
        for (plugin, name) in [
            ("KroMiose.dice", "nekro-KroMiose_dice"),
            ("../../etc", "nekro-______etc"),
            ("天气", "nekro-__"),
        ] {
            assert_eq!(own_worker("nekro", plugin), name);
        }
    }

    #[test]
    fn what_is_stamped_is_not_lacking() {
        let stamp = Stamp {
            requirements: vec!["a".to_owned(), "b<2".to_owned()],
        };
        let lacks = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|&it| it.to_owned()).collect();
            stamp.lacks(&wanted)
        };
        assert!(lacks(&["b<2"]).is_empty());
        assert_eq!(lacks(&["a", "c"]), ["c"]);
    }
}
