//! Files that are put into the data directory: hashed, copied, taken away and put back.

use callgate_store::{
    Store,
    files::{Digest, FileError, TreeBounds},
};
use serde_json::{Value as Json, json};

use super::{
    ForeignFiles,
    reading::{CODE, DATA, Origin},
};
use crate::ServiceError;

/// In the data directory: what imports replaced.
const KEPT: &str = "imports";

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, ServiceError> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(ServiceError::internal)??)
}

/// The hash of what lies at `path` of the data directory.
pub(super) async fn here(store: &Store, path: &str) -> Result<Option<String>, ServiceError> {
    // Bytecode comes by itself.
    let bounds = if path.starts_with("plugins/") {
        &CODE
    } else {
        &DATA
    };
    let (data, path) = (store.files().data()?, path.to_owned());
    blocking(move || match data.digest(&path, bounds) {
        Ok(found) => Ok(found.map(|digest| digest.hash)),
        Err(FileError::Io { name, source }) => Err(FileError::Io { name, source }),
        // Links, or more than is ever brought: certainly not what was.
        Err(_) => Ok(Some(String::new())),
    })
    .await
}

/// Puts foreign files at `path`, in the place of what is there.
pub(super) async fn put(
    store: &Store,
    origin: &Origin,
    files: &ForeignFiles,
    path: &str,
) -> Result<(), ServiceError> {
    let (from, data) = (origin.folder.clone(), store.files().data()?);
    let (name, digest, path) = (files.from.clone(), files.digest.clone(), path.to_owned());
    blocking(move || {
        data.remove_tree(&path)?;
        from.copy_to(&name, &digest, &DATA, &data, &path)
    })
    .await
}

/// Writes a file of ours at `path`.
pub(super) async fn write(store: &Store, path: &str, text: Vec<u8>) -> Result<(), ServiceError> {
    let (data, path) = (store.files().data()?, path.to_owned());
    blocking(move || {
        if let Some((folder, _)) = path.rsplit_once('/') {
            data.create_dirs(folder)?;
        }
        data.write_atomic(&path, &text)
    })
    .await
}

/// Copies what lies at `path` to where it can be put back from.
pub(super) async fn keep(
    store: &Store,
    import: i64,
    path: &str,
    bounds: &'static TreeBounds,
) -> Result<Option<Json>, ServiceError> {
    let (data, path) = (store.files().data()?, path.to_owned());
    blocking(move || {
        let Some(digest) = data.digest(&path, bounds)? else {
            return Ok(None);
        };
        let kept = format!("{KEPT}/{import}/{path}");
        data.remove_tree(&kept)?;
        data.copy_to(&path, &digest, bounds, &data, &kept)?;
        Ok(Some(json!({ "kept": kept })))
    })
    .await
}

/// Where that lies.
pub(super) fn kept(previous: &Json) -> Option<&str> {
    let kept = previous["kept"].as_str()?;
    kept.starts_with("imports/").then_some(kept)
}

/// Puts back what was kept, or leaves nothing.
pub(super) async fn put_back(
    store: &Store,
    path: &str,
    previous: Option<&Json>,
) -> Result<(), ServiceError> {
    let kept = previous.and_then(kept).map(str::to_owned);
    let (data, path) = (store.files().data()?, path.to_owned());
    blocking(move || {
        data.remove_tree(&path)?;
        let Some(kept) = kept else { return Ok(()) };
        let digest = data.digest(&kept, &DATA)?;
        let digest: Digest = digest.unwrap_or_default();
        data.copy_to(&kept, &digest, &DATA, &data, &path)
    })
    .await
}

/// What an import kept is of no use once it is undone.
pub(super) async fn forget(store: &Store, import: i64) -> Result<(), ServiceError> {
    let data = store.files().data()?;
    blocking(move || data.remove_tree(&format!("{KEPT}/{import}"))).await
}
