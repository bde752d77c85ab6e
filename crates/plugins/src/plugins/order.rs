//! Where the things of plugins and workers lie, and what a worker is to be and to see.

use std::{io, path::PathBuf};

use sha2::{Digest, Sha256};

use super::{Inner, Plugins};
use crate::{
    Source,
    spawn::{self, Order},
    wall::{Wall, interpreter},
};

impl Plugins {
    /// Where a worker keeps what is its own.
    pub fn home_of_worker(&self, worker: &str) -> PathBuf {
        self.0.home(worker)
    }

    /// Where a plugin keeps what is its own.
    pub fn data_folder(&self, name: &str) -> PathBuf {
        self.0.data_of(name)
    }
}

impl Inner {
    pub(crate) fn home(&self, worker: &str) -> PathBuf {
        self.options.data.join("workers").join(plain(worker))
    }

    /// Named by a digest, since a worker's name may be longer than a socket's address.
    pub(crate) fn web_socket(&self, worker: &str) -> PathBuf {
        let digest = Sha256::digest(worker).into_iter().take(8);
        let name: String = digest.map(|byte| format!("{byte:02x}")).collect();
        self.options.data.join("run/web").join(name)
    }

    pub(crate) fn data_of(&self, name: &str) -> PathBuf {
        self.options.data.join("plugin_data").join(plain(name))
    }

    pub(crate) fn path_of(&self, plugin: &str) -> Option<PathBuf> {
        let plugins = self.plugins.lock();
        plugins.get(plugin).map(|plugin| plugin.source.path.clone())
    }

    pub(crate) fn python_of(&self, worker: &str) -> PathBuf {
        // A worker of its own is named `FLAVOUR-PLUGIN`, and may share its flavour's environment.
        let flavour = worker.split('-').next().unwrap_or(worker);
        let environments = self.options.data.join("environments");
        [worker, flavour]
            .map(|name| environments.join(plain(name)).join("bin/python"))
            .into_iter()
            .find(|own| own.exists())
            .unwrap_or_else(|| self.options.python.clone())
    }

    pub(crate) fn order(
        &self,
        worker: &str,
        flavour: &str,
        sources: &[Source],
    ) -> io::Result<Order> {
        let home = self.home(worker);
        std::fs::create_dir_all(&home)?;
        let mut writable = vec![home.clone(), self.store.files().sessions_path().to_owned()];
        writable.extend(self.options.folders.iter().cloned());
        for source in sources {
            writable.extend(self.places_of(source)?);
        }
        let python = self.python_of(worker);
        let mut readable = interpreter(&python);
        readable.push(self.library.clone());
        readable.extend(self.options.paths.iter().cloned());
        readable.extend(spawn::certificates());
        let mut near = self.options.near.clone();
        for proxy in spawn::proxies() {
            near.open_named_in(&proxy);
        }
        for address in self.ours.lock().iter() {
            near.open(*address);
        }
        let wall = Wall {
            readable,
            writable,
            hidden: self.options.data.clone(),
            folder: home.clone(),
            memory: self.options.memory,
            offline: false,
            near,
            control: true,
            unwalled: self.options.unwalled,
        };
        Ok(Order {
            python,
            flavour: flavour.to_owned(),
            library: self.library.clone(),
            paths: self.options.paths.clone(),
            home,
            web: self.web_socket(worker),
            wall,
            packages: self.importable(),
        })
    }

    /// Where a plugin's code and data lie.
    pub(crate) fn places_of(&self, source: &Source) -> io::Result<[PathBuf; 2]> {
        let data = self.data_of(&source.name());
        std::fs::create_dir_all(&data)?;
        // Compat(nekro): plugins keep files in their own folder.
        Ok([data, source.code().to_owned()])
    }

    /// The modules that code in the sandbox finds besides the standard library.
    fn importable(&self) -> Vec<String> {
        let mut modules = self.options.packages.clone();
        let installed = std::fs::read_dir(self.options.data.join("packages"));
        for entry in installed.into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let module = name.split('.').next().unwrap_or_default();
            if !module.is_empty() && !module.contains('-') {
                modules.push(module.to_owned());
            }
        }
        modules.sort();
        modules.dedup();
        modules
    }
}

/// A name as one piece of a path.
fn plain(name: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_alphanumeric() || "_-".contains(c) => c,
        _ => '_',
    };
    name.chars().map(plain).collect()
}
