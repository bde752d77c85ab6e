//! Plugins, installed as any other: behind their wall, in an environment of ours. Their settings and data are
//! in place before they are first loaded. One that does not load stays, switched off.

use callgate_plugins::install::{InstallOptions, Installation};
use callgate_store::ImportItem;

use super::{
    Content, Fate, ForeignPlugin, ImportKind, ImportLine, Place, files,
    importing::{Importing, failed},
    reading::{CODE, DATA},
};
use crate::{Hint, News, Service, ServiceError};

impl Importing<'_> {
    pub(super) async fn take_plugin(&mut self, plugin: &ForeignPlugin) -> Result<(), ServiceError> {
        let (name, hash) = (plugin.name.clone(), plugin.digest.hash.clone());
        let looked = self.look(ImportKind::Plugin, &name, name.clone(), hash);
        let (fate, record, mut line) = looked.await?;
        if !plugin.enabled {
            line = line.saying("it is switched off there, and here too");
        }
        if !self.dry_run {
            // Those that are here are known by then, so that this one is loaded and not merely expected.
            self.service.with_plugins().await;
        }
        if self.makes(fate) {
            return self.install(plugin, fate, record, line).await;
        }
        self.lines.push(line);
        if fate == Fate::LeftOut {
            self.leave_files(plugin);
            return Ok(());
        }
        let brought = self.take_files(plugin).await?;
        if brought.is_empty() {
            return Ok(());
        }
        let why = self.service.load_imported(&name).await;
        if let (Some(why), Some(line)) = (why, self.lines.last_mut()) {
            *line = line
                .clone()
                .saying(format!("its plugin does not load with it: {why}"));
        }
        self.settle(brought).await
    }

    async fn install(
        &mut self,
        plugin: &ForeignPlugin,
        fate: Fate,
        mut record: ImportItem,
        line: ImportLine,
    ) -> Result<(), ServiceError> {
        let id = self.begun().await?;
        if fate == Fate::Changed {
            let code = format!("plugins/{}", plugin.name);
            record.previous = files::keep(self.service.store(), id, &code, &CODE).await?;
        }
        self.record(&record).await?;
        let place = self.lines.len();
        let installed = match self.place(plugin, fate).await {
            Ok(installation) => {
                let notes = installation.found.warnings.iter();
                self.lines.push(notes.fold(line, ImportLine::saying));
                let mut brought = self.take_files(plugin).await?;
                brought.push((ImportKind::Plugin, record.clone()));
                let loaded = self.load(plugin, installation).await;
                self.settle(brought).await?;
                loaded
            }
            Err(error) => {
                self.lines.push(line);
                self.leave_files(plugin);
                Err(error)
            }
        };
        let Some(line) = self.lines.get_mut(place) else {
            return Ok(());
        };
        match installed {
            Ok(said) => *line = line.clone().saying(said.unwrap_or_default()),
            Err(error) => {
                *line = failed(line.clone(), &error);
                let imports = self.service.store().imports();
                imports.forget(id, &record.kind, &record.name).await?;
            }
        }
        Ok(())
    }

    /// Fetched and put in place, not yet loaded.
    async fn place(
        &self,
        plugin: &ForeignPlugin,
        fate: Fate,
    ) -> Result<Installation, ServiceError> {
        let source = self.origin.path.join(&plugin.folder).display().to_string();
        let options = InstallOptions {
            name: Some(plugin.name.clone()),
            replace: fate == Fate::Changed,
            ..InstallOptions::default()
        };
        let library = self.service.library().clone();
        let installing = tokio::task::spawn_blocking(move || {
            library.install(&source, &options, &|line| tracing::debug!("{line}"))
        });
        Ok(installing.await.map_err(ServiceError::internal)??)
    }

    /// What an operator should know of how that went. It fails where the one before is back.
    async fn load(
        &self,
        plugin: &ForeignPlugin,
        installation: Installation,
    ) -> Result<Option<String>, ServiceError> {
        let (service, name) = (self.service, plugin.name.as_str());
        if !plugin.enabled {
            service.library().enable(name, false)?;
        }
        let Some(why) = service.load_imported(name).await else {
            return Ok(None);
        };
        if let Some(previous) = installation.previous {
            service.library().restore(previous)?;
            service.load_imported(name).await;
            let why = format!("the new one does not load, and the one before is back: {why}");
            return Err(ServiceError::refused(why, Hint::None));
        }
        service.library().enable(name, false)?;
        service.load_imported(name).await;
        Ok(Some(format!("it does not load and is switched off: {why}")))
    }

    /// Loading may have written to what was brought: that is nobody's change.
    async fn settle(&mut self, brought: Vec<(ImportKind, ImportItem)>) -> Result<(), ServiceError> {
        for (kind, mut record) in brought {
            if let Some(hash) = self.service.imported_hash(kind, &record.made).await? {
                record.made_hash = hash;
                self.record(&record).await?;
            }
        }
        Ok(())
    }

    /// Settings and data, to where the plugin's worker is at home; those that came.
    async fn take_files(
        &mut self,
        plugin: &ForeignPlugin,
    ) -> Result<Vec<(ImportKind, ImportItem)>, ServiceError> {
        let mut brought = Vec::new();
        for item in &plugin.files {
            let Content::Files(files) = &item.content else {
                continue;
            };
            let made = self.service.place_of(&plugin.name, &files.to);
            let looked = self.look(item.kind, &item.name, made.unwrap_or_default(), item.hash());
            let (fate, mut record, mut line) = looked.await?;
            if self.makes(fate) {
                let (id, store) = (self.begun().await?, self.service.store());
                if fate == Fate::Changed {
                    record.previous = files::keep(store, id, &record.made, &DATA).await?;
                }
                self.record(&record).await?;
                match files::put(store, &self.origin, files, &record.made).await {
                    Ok(()) => brought.push((item.kind, record)),
                    Err(error) => {
                        line = failed(line, &error);
                        let imports = store.imports();
                        imports.forget(id, &record.kind, &record.name).await?;
                    }
                }
            }
            self.lines.push(line);
        }
        Ok(brought)
    }

    fn leave_files(&mut self, plugin: &ForeignPlugin) {
        let why = "its plugin does not come";
        let left = plugin.files.iter();
        let left = left.map(|item| ImportLine::left_out(item.kind, &item.name, why));
        self.lines.extend(left);
    }
}

impl Service {
    /// Loads it again from its files; why it does not load.
    pub(super) async fn load_imported(&self, name: &str) -> Option<String> {
        self.reload_plugins(Some(name)).await;
        self.live().announce(&News::Plugins {});
        let views = self.plugin_views(None).await;
        let mut views = views.into_iter();
        let view = views.find(|view| view.folder.as_deref() == Some(name))?;
        view.error.map(|error| error.message)
    }

    /// Where what an installed plugin keeps lies, beneath the data directory.
    fn place_of(&self, plugin: &str, place: &Place) -> Option<String> {
        let installed = self.library().get(plugin).ok()?;
        let path = match place {
            Place::OfWorker(path) => self.plugins().home_of_worker(&installed.worker).join(path),
            Place::OfPlugin => self.plugins().data_folder(plugin),
        };
        let path = path.strip_prefix(self.data()).ok()?;
        Some(path.to_str()?.to_owned())
    }

    /// Takes an imported plugin away, or puts the one before back.
    pub(super) async fn take_plugin_back(&self, item: &ImportItem) -> Result<(), ServiceError> {
        let previous = item.previous.as_ref().and_then(files::kept);
        let (library, name) = (self.library().clone(), item.made.clone());
        let source = previous.map(|kept| self.data().join(kept).display().to_string());
        let taking = tokio::task::spawn_blocking(move || match source {
            None => library.remove(&name).map(drop),
            Some(source) => {
                let options = InstallOptions {
                    name: Some(name),
                    replace: true,
                    ..InstallOptions::default()
                };
                let installed = library.install(&source, &options, &|_| {});
                installed.map(drop)
            }
        });
        taking.await.map_err(ServiceError::internal)??;
        self.reload_plugins(None).await;
        self.live().announce(&News::Plugins {});
        Ok(())
    }
}
