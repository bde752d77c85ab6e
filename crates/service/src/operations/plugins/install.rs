//! Installing a plugin, as a job: fetched or made, put in place, loaded, and where it does not load in the
//! place of another, that one put back.

use std::{io, path::Path, sync::Arc};

use callgate_contract::Cancel;
use callgate_plugins::install::{InstallOptions, Installation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PluginError, PluginState};
use crate::{
    Capability, Job, JobKind, News, Operation, ProgressFn, Requester, Service, ServiceError,
    plugins::skeleton,
};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstallPlugin {
    /// A folder, a .py or .zip file on the server, or the URL of a repository.
    pub source: String,
    /// The folder's name, if not that of the source.
    pub name: Option<String>,
    /// Put it in the place of the one that is there.
    #[serde(default)]
    pub replace: bool,
    /// Packages besides those it declares.
    #[serde(default)]
    pub with: Vec<String>,
}

impl Operation for InstallPlugin {
    type Response = Job;
    const NAME: &'static str = "plugins.install";
    const CAPABILITY: Capability = Capability::Plugins;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        if self.source.trim().is_empty() {
            let hint = "give a folder, a file or the URL of a repository";
            return Err(ServiceError::invalid("there is nothing to install", hint));
        }
        let options = InstallOptions {
            name: self.name,
            replace: self.replace,
            with: self.with,
            told_as: None,
        };
        let title = self.source.clone();
        let source = PluginSource::Named(self.source);
        Ok(service.begin_install(JobKind::Install, title, source, options))
    }
}

/// A skeleton to begin with, installed as a job.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreatePlugin {
    /// Small letters, digits and `_`.
    pub name: String,
}

impl Operation for CreatePlugin {
    type Response = Job;
    const NAME: &'static str = "plugins.create";
    const CAPABILITY: Capability = Capability::Plugins;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let source = PluginSource::Skeleton(self.name.clone());
        let options = InstallOptions {
            name: Some(self.name.clone()),
            told_as: Some("a skeleton".to_owned()),
            ..InstallOptions::default()
        };
        Ok(service.begin_install(JobKind::New, self.name, source, options))
    }
}

/// What came of installing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstallResult {
    /// Its id.
    pub plugin: String,
    /// The name it is installed under.
    pub folder: String,
    pub state: PluginState,
    /// Why it does not load, of one that stays all the same, to be mended.
    pub error: Option<PluginError>,
    /// Names of its methods that others have too, and which of them is meant.
    pub shadows: Vec<String>,
    /// What it needs and is not configured.
    pub needs: Vec<String>,
}

enum PluginSource {
    /// A folder, a file or a URL.
    Named(String),
    /// The bytes of a ZIP archive.
    Archive(Vec<u8>),
    /// Made under this name.
    Skeleton(String),
}

impl PluginSource {
    /// Where it is, if need be put into `folder` first.
    fn place(self, folder: &Path) -> Result<String, ServiceError> {
        let path = match self {
            PluginSource::Named(source) => return Ok(source),
            PluginSource::Archive(bytes) => {
                let path = folder.join("plugin.zip");
                std::fs::write(&path, bytes).map_err(not_taken)?;
                path
            }
            PluginSource::Skeleton(name) => {
                let path = folder.join(name);
                skeleton::make(&path)?;
                path
            }
        };
        Ok(path.display().to_string())
    }
}

impl Service {
    /// A ZIP archive, as a job. No operation, since it comes as bytes.
    pub fn install_archive(
        &self,
        archive: Vec<u8>,
        name: Option<String>,
        replace: bool,
    ) -> Result<Job, ServiceError> {
        if !archive.starts_with(b"PK") {
            let hint = "send the archive itself as the body";
            return Err(ServiceError::invalid("this is no ZIP archive", hint));
        }
        let title = name.clone().unwrap_or_else(|| "an archive".to_owned());
        let folder = name.or_else(|| top_folder(&archive));
        let options = InstallOptions {
            name: Some(folder.unwrap_or_else(|| "plugin".to_owned())),
            replace,
            with: Vec::new(),
            told_as: Some("an uploaded archive".to_owned()),
        };
        let source = PluginSource::Archive(archive);
        Ok(self.begin_install(JobKind::Upload, title, source, options))
    }

    fn begin_install(
        &self,
        kind: JobKind,
        title: String,
        source: PluginSource,
        options: InstallOptions,
    ) -> Job {
        let service = self.clone();
        self.jobs().begin(kind, title, |say, cancel| async move {
            let installed = service.install_plugin(source, options, say, cancel).await;
            service.live().announce(&News::Plugins {});
            installed
        })
    }

    async fn install_plugin(
        &self,
        source: PluginSource,
        options: InstallOptions,
        say: Arc<ProgressFn>,
        cancel: Cancel,
    ) -> Result<InstallResult, ServiceError> {
        let (library, told) = (self.library().until(cancel), say.clone());
        let installing = tokio::task::spawn_blocking(move || {
            // Kept until it is copied.
            let folder = tempfile::tempdir().map_err(not_taken)?;
            let source = source.place(folder.path())?;
            let placed = library.install(&source, &options, &*told)?;
            for warning in &placed.found.warnings {
                told(warning);
            }
            Ok::<_, ServiceError>(placed)
        });
        let Installation {
            installed,
            previous,
            ..
        } = installing.await.map_err(ServiceError::internal)??;
        let name = &installed.name;
        say("loading");
        self.reload_plugins(Some(name)).await;
        let view = self.plugin_view(name, None).await?;
        if let Some(error) = &view.error {
            say(&error.message);
            if let Some(previous) = previous {
                self.library().restore(previous)?;
                self.reload_plugins(Some(name)).await;
                let why = format!(
                    "the new {name} does not load: {}; the one before is back",
                    error.message
                );
                return Err(ServiceError::refused(why, "mend it and install it again"));
            }
        }
        Ok(InstallResult {
            plugin: view.id,
            folder: name.clone(),
            state: view.state,
            error: view.error,
            shadows: view.shadows,
            needs: view.needs,
        })
    }
}

fn not_taken(error: io::Error) -> ServiceError {
    let hint = "check the space in the folder for temporary files (TMPDIR)";
    ServiceError::refused(format!("cannot take it in: {error}"), hint)
}

/// The folder at the top of an archive, as its first entry names it.
fn top_folder(archive: &[u8]) -> Option<String> {
    let length = u16::from_le_bytes(archive.get(26..28)?.try_into().ok()?);
    let name = archive.get(30..30 + usize::from(length))?;
    let (folder, _) = std::str::from_utf8(name).ok()?.split_once('/')?;
    let folder = folder.strip_suffix("-main").unwrap_or(folder);
    let folder = folder.strip_suffix("-master").unwrap_or(folder);
    (!folder.is_empty()).then(|| folder.to_owned())
}
