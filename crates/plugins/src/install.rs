//! [`Library`]: the plugins installed in a data directory. Code lies in `plugins/NAME`, what we know
//! of it in `plugins/NAME.json`, out of the plugin's own reach. A plugin is put in place whole or
//! not at all, and the one that it replaces is kept until somebody knows that it loads.

mod fetch;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use callgate_contract::Cancel;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::{
    environment::{Environments, InstallError, ProgressFn, is_requirement},
    kept::KeptCode,
    survey::{Survey, survey},
};

pub use fetch::{LEFT_OUT, Origin as PluginSource, copy};

/// An installed plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledPlugin {
    /// The name of its folder.
    pub name: String,
    pub flavour: String,
    #[serde(default)]
    pub version: String,
    #[serde(default)]
    pub description: String,
    /// Where it came from, as it was given.
    pub source: String,
    #[serde(default)]
    pub commit: Option<String>,
    pub requirements: Vec<String>,
    /// The worker it runs in: its flavour's, or one of its own.
    pub worker: String,
    pub enabled: bool,
    /// What it calls itself, known once it was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// The folder's name, if not that of the source.
    pub name: Option<String>,
    /// Put it in the place of the one that is there.
    pub replace: bool,
    /// Packages besides those the plugin declares.
    pub with: Vec<String>,
    /// What is written down as its source, if not the source itself.
    pub told_as: Option<String>,
}

/// A plugin that was put in place.
#[derive(Debug)]
pub struct Installation {
    pub installed: InstalledPlugin,
    /// What reading told of it; packages that could not be had are among the warnings.
    pub found: Survey,
    /// What it replaced.
    pub previous: Option<ReplacedPlugin>,
}

/// A plugin that was replaced. Dropped, it is gone; see [`Library::restore`].
#[derive(Debug)]
pub struct ReplacedPlugin {
    record: InstalledPlugin,
    staging: TempDir,
}

/// Where the code of a replaced plugin is kept, in the folder in which its successor was made ready.
const PREVIOUS: &str = ".previous";

/// Clones name the same folder.
#[derive(Clone, Debug)]
pub struct Library {
    folder: PathBuf,
    kept: KeptCode,
    environments: Environments,
}

impl Library {
    pub fn new(data: &Path, environments: Environments) -> Self {
        Library {
            folder: data.join("plugins"),
            kept: KeptCode::new(data),
            environments,
        }
    }

    /// What is installed by the one that is returned ends when somebody no longer wants it.
    pub fn until(&self, cancel: Cancel) -> Self {
        Library {
            environments: self.environments.clone().until(cancel),
            ..self.clone()
        }
    }

    pub fn environments(&self) -> &Environments {
        &self.environments
    }

    /// By name.
    pub fn list(&self) -> Vec<InstalledPlugin> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let records = entries.map(|entry| entry.path());
        let records = records.filter(|path| path.extension().is_some_and(|it| it == "json"));
        let mut installed: Vec<InstalledPlugin> = records.filter_map(|it| read(&it)).collect();
        installed.sort_by(|a, b| a.name.cmp(&b.name));
        installed
    }

    pub fn get(&self, name: &str) -> Result<InstalledPlugin, InstallError> {
        let known = is_name(name).then(|| read(&self.record(name))).flatten();
        known.ok_or_else(|| InstallError::Unknown(name.to_owned()))
    }

    /// Where the code of a plugin lies.
    pub fn code(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Fetches a plugin, installs what it needs, and puts it in place. Blocks.
    pub fn install(
        &self,
        source: &str,
        options: &InstallOptions,
        say: ProgressFn<'_>,
    ) -> Result<Installation, InstallError> {
        let origin = PluginSource::parse(source)?;
        let name = options.name.clone().unwrap_or_else(|| origin.name());
        if !is_name(&name) {
            return Err(no_plugin(
                source,
                "its name is no name for a folder; give --name",
            ));
        }
        if let Some(odd) = options.with.iter().find(|it| !is_requirement(it)) {
            return Err(InstallError::NoRequirement(odd.clone()));
        }
        if self.record(&name).exists() && !options.replace {
            return Err(InstallError::Exists(name));
        }
        let broken = |error| InstallError::files(&self.folder, error);
        fs::create_dir_all(&self.folder).map_err(broken)?;
        let staging = tempfile::Builder::new()
            .prefix(".staging-")
            .tempdir_in(&self.folder)
            .map_err(broken)?;
        let staged = staging.path().join(&name);
        let commit = origin.fetch(&staged, &self.environments, say)?;
        let mut found = self.look(&staged, source)?;
        let Some(flavour) = found.flavour.clone() else {
            return Err(no_plugin(
                source,
                "it imports none of nekro_agent, astrbot, callgate",
            ));
        };
        let requirements = [found.packages(), options.with.clone()].concat();
        let environment = self
            .environments
            .prepare(&flavour, &name, &requirements, say)?;
        found.warnings.extend(environment.notes);
        let installed = InstalledPlugin {
            name: name.clone(),
            flavour,
            version: found.version.clone(),
            description: found.description.clone(),
            source: options.told_as.clone().unwrap_or_else(|| source.to_owned()),
            commit,
            requirements,
            worker: environment.worker,
            enabled: true,
            id: None,
        };
        let cancel = self.environments.cancel.as_ref();
        if cancel.is_some_and(Cancel::is_cancelled) {
            return Err(InstallError::Cancelled);
        }
        let previous = self.get(&name).ok();
        self.place(&staged, &staging.path().join(PREVIOUS), &name)?;
        self.write(&installed)?;
        Ok(Installation {
            installed,
            found,
            previous: previous.map(|record| ReplacedPlugin { record, staging }),
        })
    }

    /// Puts back what was replaced; the newer one is gone.
    pub fn restore(&self, previous: ReplacedPlugin) -> Result<InstalledPlugin, InstallError> {
        let ReplacedPlugin { record, staging } = previous;
        let kept = staging.path().join(PREVIOUS);
        self.place(&kept, &staging.path().join("newer"), &record.name)?;
        self.write(&record)?;
        Ok(record)
    }

    pub fn remove(&self, name: &str) -> Result<InstalledPlugin, InstallError> {
        let installed = self.get(name)?;
        // The record first: code without one is ignored, a record without code is not.
        let record = self.record(name);
        fs::remove_file(&record).map_err(|error| InstallError::files(&record, error))?;
        let code = self.code(name);
        match fs::remove_dir_all(&code) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(InstallError::files(&code, error));
            }
            _ => {}
        }
        self.kept
            .forget(&code)
            .map_err(|error| InstallError::files(&code, error))?;
        if installed.worker != installed.flavour {
            self.environments.remove(&installed.worker)?;
        }
        Ok(installed)
    }

    pub fn enable(&self, name: &str, enabled: bool) -> Result<InstalledPlugin, InstallError> {
        let mut installed = self.get(name)?;
        installed.enabled = enabled;
        self.write(&installed)?;
        Ok(installed)
    }

    /// Notes what an installed plugin calls itself.
    pub fn learn(&self, name: &str, id: &str) -> Result<(), InstallError> {
        let mut installed = self.get(name)?;
        if installed.id.as_deref() == Some(id) {
            return Ok(());
        }
        installed.id = Some(id.to_owned());
        self.write(&installed)
    }

    fn look(&self, staged: &Path, source: &str) -> Result<Survey, InstallError> {
        let mut found = survey(&self.environments, &[staged])?;
        found
            .pop()
            .ok_or_else(|| no_plugin(source, "nothing could be read of it"))
    }

    /// `staged` takes the place of what is there, which is kept until that is done.
    fn place(&self, staged: &Path, previous: &Path, name: &str) -> Result<(), InstallError> {
        let code = self.code(name);
        let broken = |error| InstallError::files(&code, error);
        match fs::rename(&code, previous) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(broken(error)),
            moved => fs::rename(staged, &code).map_err(|error| {
                if moved.is_ok() {
                    // What is left of the old one would go with the staging folder.
                    let _ = fs::rename(previous, &code);
                }
                broken(error)
            }),
        }
    }

    fn write(&self, installed: &InstalledPlugin) -> Result<(), InstallError> {
        let record = self.record(&installed.name);
        let broken = |error| InstallError::files(&record, error);
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(broken)?;
        serde_json::to_writer_pretty(&mut file, installed).map_err(|error| broken(error.into()))?;
        file.persist(&record)
            .map_err(|error| broken(error.error))
            .map(drop)
    }

    fn record(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }
}

fn read(record: &Path) -> Option<InstalledPlugin> {
    serde_json::from_slice(&fs::read(record).ok()?).ok()
}

fn no_plugin(what: &str, reason: &str) -> InstallError {
    InstallError::NoPlugin {
        what: what.to_owned(),
        reason: reason.to_owned(),
    }
}

/// A name is an id, never a path.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || "._-".contains(c);
    !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_paths() {
        for name in ["weather", "astrbot_plugin_x", "KroMiose.dice", "天气"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", ".git", "a/b", "a\\b", "a b", "a\n"] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
