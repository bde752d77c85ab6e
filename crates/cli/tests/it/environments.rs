//! The environments of plugins: made once per user, where all tests find them, and asked for once per
//! plugin in a run of the tests, since each asking starts a worker.

use std::{
    collections::BTreeSet,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use crate::scene::{Scene, finish};

/// What tests make once per user.
pub fn cache() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|place| !place.is_empty());
    let cache = cache.map_or_else(
        || Path::new(&std::env::var("HOME").unwrap()).join(".cache"),
        PathBuf::from,
    );
    cache.join("callgate")
}

/// The packages that `plugin` and others of its flavour rely on are in the user's environments.
pub fn prepare(scene: &Scene, plugin: &str) {
    static PREPARED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
    if !prepared.contains(plugin) {
        let checked = finish(scene.bare(&["plugin", "check", plugin]).spawn().unwrap());
        checked.succeeded();
        prepared.insert(plugin.to_owned());
    }
}

/// A data directory whose environments are the user's, with the packages of `plugin` in them.
pub fn equipped(plugin: &str) -> Scene {
    let scene = Scene::new();
    prepare(&scene, plugin);
    let place = scene.data().join("environments");
    symlink(cache().join("environments"), place).unwrap();
    scene
}
