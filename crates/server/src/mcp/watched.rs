//! [`WatchedFiles`]: files that a client wants to hear of. Code in a sandbox, plugins and people change
//! them, and none of these reports it: so they are looked at, and only they.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

use parking_lot::Mutex;
use rmcp::{ErrorData, Peer, RoleServer, model::ResourceUpdatedNotificationParam};

use super::{
    Mcp,
    files::{self, Home},
    who::ClientIdentity,
};

/// How often they are looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Files that one client may have watched.
const MOST: usize = 256;

/// By address. Clones share them; a mutex, held while they are looked at.
#[derive(Clone, Default)]
pub(super) struct WatchedFiles(Arc<Mutex<HashMap<String, File>>>);

struct File {
    /// One for all files of a session.
    home: Arc<Home>,
    path: String,
    seen: Option<Stamp>,
}

/// Its bytes, and when it was last written to.
pub(super) type Stamp = (u64, SystemTime);

impl WatchedFiles {
    /// Of the file at `uri`, which may not be there yet; the session it belongs to is `who`'s to see.
    pub(super) async fn add(
        &self,
        mcp: &Mcp,
        who: &ClientIdentity,
        uri: &str,
    ) -> Result<(), ErrorData> {
        let (home, path) = files::locate(mcp, who, uri).await?;
        let mut watched = self.0.lock();
        if watched.len() >= MOST && !watched.contains_key(uri) {
            let many = format!("more than {MOST} resources are watched: unsubscribe from some");
            return Err(ErrorData::invalid_request(many, None));
        }
        let known = watched.values().find(|file| file.home.id() == home.id());
        let home = known.map_or_else(|| Arc::new(home), |file| file.home.clone());
        let file = File {
            seen: home.stamp(&path),
            home,
            path,
        };
        watched.insert(uri.to_owned(), file);
        Ok(())
    }

    pub(super) fn remove(&self, uri: &str) {
        self.0.lock().remove(uri);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Waits until some have changed; which.
    pub(super) async fn changed(&self) -> Vec<String> {
        loop {
            tokio::time::sleep(LOOK).await;
            let changed = self.look();
            if !changed.is_empty() {
                return changed;
            }
        }
    }

    fn look(&self) -> Vec<String> {
        let mut changed = Vec::new();
        for (uri, file) in self.0.lock().iter_mut() {
            let now = file.home.stamp(&file.path);
            if std::mem::replace(&mut file.seen, now) != now {
                changed.push(uri.clone());
            }
        }
        changed
    }
}

/// Of a session, until the client has left.
pub(super) async fn tell(watched: WatchedFiles, who: ClientIdentity, peer: Peer<RoleServer>) {
    loop {
        let changed = watched.changed().await;
        if !who.is_welcome() {
            return;
        }
        for uri in changed {
            let updated = ResourceUpdatedNotificationParam::new(uri);
            if peer.notify_resource_updated(updated).await.is_err() {
                return;
            }
        }
    }
}
