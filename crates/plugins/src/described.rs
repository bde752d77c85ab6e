//! What plugins turned out to be when they were last loaded. As long as nothing of them has changed,
//! their methods are offered from that, and their worker starts with the first need of it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use callgate_contract::Origin;

use crate::{LoadedPlugin, Plugins, Source, WorkerError, plugins::Inner, watch::FileSnapshot};

/// One file for each plugin, below the data directory.
pub(crate) struct DescriptionCache(PathBuf);

#[derive(Serialize, Deserialize)]
struct CachedDescription {
    /// Of everything that could make the plugin another one.
    stamp: String,
    loaded: LoadedPlugin,
}

impl DescriptionCache {
    pub(crate) fn new(data: &Path) -> Self {
        DescriptionCache(data.join("run").join("described"))
    }

    /// `None` if it was never loaded, or is no longer what it was.
    pub(crate) fn recall(
        &self,
        source: &Source,
        python: &Path,
        library: &Path,
    ) -> Option<LoadedPlugin> {
        let text = std::fs::read(self.file(source)).ok()?;
        let kept: CachedDescription = serde_json::from_slice(&text).ok()?;
        (kept.stamp == stamp(source, python, library)).then_some(kept.loaded)
    }

    /// CachedDescription as well as can be: without it the worker is started, that is all.
    pub(crate) fn keep(
        &self,
        source: &Source,
        python: &Path,
        library: &Path,
        loaded: &LoadedPlugin,
    ) {
        let kept = CachedDescription {
            stamp: stamp(source, python, library),
            loaded: loaded.clone(),
        };
        let written = serde_json::to_vec(&kept).map_err(std::io::Error::other);
        let written = written.and_then(|text| {
            std::fs::create_dir_all(&self.0)?;
            let new = tempfile::NamedTempFile::new_in(&self.0)?;
            std::fs::write(new.path(), text)?;
            new.persist(self.file(source)).map_err(|error| error.error)
        });
        if let Err(error) = written {
            tracing::debug!(plugin = source.name(), %error, "a plugin is not remembered");
        }
    }

    pub(crate) fn forget(&self, source: &Source) {
        let _ = std::fs::remove_file(self.file(source));
    }

    fn file(&self, source: &Source) -> PathBuf {
        let path = source.path.display().to_string();
        self.0.join(format!("{}.json", hash(&[&path])))
    }
}

impl Plugins {
    /// As [`Plugins::load`], but a plugin that has not changed since it was last loaded starts no
    /// worker: its methods and hooks are known, and the first need of one loads it.
    pub async fn adopt(
        &self,
        sources: Vec<Source>,
    ) -> Vec<(Source, Result<LoadedPlugin, WorkerError>)> {
        let (mut adopted, mut unknown) = (Vec::new(), Vec::new());
        for source in sources {
            // A process that runs is not waited for: it loads what is new to it.
            let runs = self
                .worker(&source.worker)
                .is_some_and(|it| it.is_running());
            match self.inner().recall(&source).filter(|_| !runs) {
                Some(loaded) => adopted.push((source, loaded)),
                None => unknown.push(source),
            }
        }
        // All plugins of a worker are loaded in the order given, or none is by now.
        let started: Vec<String> = unknown.iter().map(|it| it.worker.clone()).collect();
        let mut results = Vec::new();
        for (source, loaded) in adopted {
            let worker = self.inner().worker(&source);
            worker.expect(&source);
            if !started.contains(&source.worker) {
                self.inner().loaded(&worker, &source, &loaded).await;
            }
            results.push((source, Ok(loaded)));
        }
        results.extend(self.load(unknown).await);
        results
    }

    /// What a plugin was when it was last loaded; `None` if it has changed since.
    pub fn last_description(&self, source: &Source) -> Option<LoadedPlugin> {
        self.inner().recall(source)
    }

    /// Starts the workers of all plugins, side by side: what plugins do from the start, they do now.
    pub async fn start(&self) {
        let mut starting = tokio::task::JoinSet::new();
        for worker in self.workers() {
            starting.spawn(async move {
                if let Err(error) = worker.warm().await {
                    tracing::warn!(worker = worker.name(), %error, "plugin worker failed to start");
                }
            });
        }
        starting.join_all().await;
    }
}

impl Inner {
    fn recall(&self, source: &Source) -> Option<LoadedPlugin> {
        let python = self.python_of(&source.worker);
        self.described.recall(source, &python, &self.library)
    }

    pub(crate) fn remember(&self, source: &Source, loaded: &LoadedPlugin) {
        if source.kept.is_some() {
            // Its files are those of another version.
            return;
        }
        let python = self.python_of(&source.worker);
        self.described.keep(source, &python, &self.library, loaded);
    }

    /// A plugin that was known does not load: it is offered no longer. Its id.
    pub(crate) fn lost(&self, source: &Source) -> Option<String> {
        self.described.forget(source);
        let mut plugins = self.plugins.lock();
        let known = plugins.values().find(|it| it.source.path == source.path);
        let id = known?.loaded.id.clone();
        plugins.remove(&id);
        self.gate.unregister_origin(&Origin::Plugin(id.clone()));
        Some(id)
    }
}

fn stamp(source: &Source, python: &Path, library: &Path) -> String {
    let options = serde_json::to_string(&source.options).unwrap_or_default();
    hash(&[
        &source.flavour,
        &source.worker,
        &options,
        &python.display().to_string(),
        &library.display().to_string(),
        &format!("{:?}", FileSnapshot::at(&source.path)),
    ])
}

pub(crate) fn hash(pieces: &[&str]) -> String {
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update(piece.len().to_le_bytes());
        hash.update(piece);
    }
    let digest = hash.finalize();
    let bytes = digest.iter().take(16);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
