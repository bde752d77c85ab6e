//! [`Platforms`]: the chats this process is connected to, and what they hand in.

mod host;
mod menu;
mod methods;
mod progress;

use std::{collections::BTreeMap, sync::Arc};

use callgate_platforms::{Platform, PlatformStatus};
use parking_lot::RwLock;
use tokio::task::AbortHandle;

use self::host::PlatformHost;
use crate::{Service, ServiceError, config::PlatformEntry};

/// Clones share everything.
#[derive(Clone, Default)]
pub struct Platforms {
    /// What the configuration names, whether this process connects it or not. A lock, held for a look.
    known: Arc<RwLock<Vec<String>>>,
    /// By id; none at all until a server runs. A lock, held for a look or a change.
    running: Arc<RwLock<Option<BTreeMap<String, Running>>>>,
}

struct Running {
    entry: PlatformEntry,
    platform: Arc<dyn Platform>,
    /// Of the task that keeps it connected.
    task: AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Platforms {
    /// None of which is connected yet.
    pub(crate) fn knowing(entries: &[PlatformEntry]) -> Self {
        let platforms = Platforms::default();
        platforms.know(entries);
        platforms
    }

    pub fn of(&self, id: &str) -> Option<Arc<dyn Platform>> {
        let running = self.running.read();
        Some(running.as_ref()?.get(id)?.platform.clone())
    }

    pub fn status(&self, id: &str) -> Option<PlatformStatus> {
        self.of(id).map(|platform| platform.status())
    }

    /// Does the configuration name it?
    pub(crate) fn is_known(&self, id: &str) -> bool {
        self.known.read().iter().any(|known| known == id)
    }

    pub(crate) fn know(&self, entries: &[PlatformEntry]) {
        *self.known.write() = entries.iter().map(|entry| entry.id.clone()).collect();
    }

    /// Does this process connect any?
    pub(crate) fn is_open(&self) -> bool {
        self.running.read().is_some()
    }

    /// Connects what the configuration has, as it has it now, and leaves what it no longer has.
    pub fn follow(&self, service: &Service) -> Result<(), ServiceError> {
        let entries = service.configured().platform.clone();
        let mut running = self.running.write();
        let running = running.get_or_insert_default();
        running.retain(|id, it| {
            let stays = entries.contains(&it.entry);
            if !stays {
                service.gate().unregister_origin(&methods::origin(id));
            }
            stays
        });
        for entry in entries {
            if running.contains_key(&entry.id) {
                continue;
            }
            let host = Arc::new(PlatformHost::new(service.clone(), &entry));
            let platform = entry.settings()?.connect(host);
            let platform = platform.map_err(ServiceError::internal)?;
            let offered = methods::all(&entry, &platform);
            for wrong in service
                .gate()
                .replace_origin(&methods::origin(&entry.id), offered)
            {
                tracing::warn!(platform = entry.id, error = %wrong, "action not offered");
            }
            let connecting = platform.clone();
            let showing = menu::show(service.clone(), platform.clone());
            let connected = async move { tokio::join!(connecting.run(), showing) };
            let task = tokio::spawn(connected).abort_handle();
            let id = entry.id.clone();
            running.insert(
                id,
                Running {
                    entry,
                    platform,
                    task,
                },
            );
        }
        Ok(())
    }

    /// Nothing comes in any more.
    pub fn close(&self) {
        *self.running.write() = None;
    }
}
