//! [`Switches`]: in which sessions a plugin is not offered and not heard, though it is enabled.

use std::collections::{BTreeMap, BTreeSet};

use callgate_contract::SessionKey;
use callgate_store::{Store, StoreError};
use parking_lot::RwLock;

/// The operator's setting: sessions by plugin.
const SETTING: &str = "plugins.disabled_in";

type DisabledSessions = BTreeMap<String, BTreeSet<String>>;

/// Read by every call of a plugin's method for the length of a look; written when the operator
/// decides.
#[derive(Default)]
pub(crate) struct Switches(RwLock<Option<DisabledSessions>>);

impl Switches {
    /// Reads what was decided, the first time.
    pub(crate) async fn load(&self, store: &Store) {
        if self.look(Option::is_some) {
            return;
        }
        match store.settings().get::<DisabledSessions>(SETTING).await {
            Ok(off) => self.change(|known| {
                known.get_or_insert_with(|| off.unwrap_or_default());
            }),
            Err(error) => {
                tracing::warn!(%error, "could not read where plugins are disabled; treating them as enabled")
            }
        }
    }

    pub(crate) async fn set(
        &self,
        store: &Store,
        plugin: &str,
        session: &SessionKey,
        on: bool,
    ) -> Result<(), StoreError> {
        self.load(store).await;
        let mut off = self.look(|off| off.clone().unwrap_or_default());
        let sessions = off.entry(plugin.to_owned()).or_default();
        if on {
            sessions.remove(&session.to_string())
        } else {
            sessions.insert(session.to_string())
        };
        off.retain(|_, sessions| !sessions.is_empty());
        store.settings().set(SETTING, &off).await?;
        self.change(|known| *known = Some(off));
        Ok(())
    }

    pub(crate) fn is_on(&self, plugin: &str, session: &SessionKey) -> bool {
        self.look(|off| {
            let sessions = off.as_ref().and_then(|off| off.get(plugin));
            sessions.is_none_or(|sessions| !sessions.contains(&session.to_string()))
        })
    }

    /// The plugins that are off in `session`.
    pub(crate) fn off_in(&self, session: &SessionKey) -> Vec<String> {
        let session = session.to_string();
        self.look(|off| {
            let all = off.iter().flatten();
            let found = all.filter(|(_, sessions)| sessions.contains(&session));
            found.map(|(plugin, _)| plugin.clone()).collect()
        })
    }

    /// The sessions in which `plugin` is off.
    pub(crate) fn off(&self, plugin: &str) -> Vec<SessionKey> {
        self.look(|off| {
            let sessions = off.as_ref().and_then(|off| off.get(plugin));
            let sessions = sessions.into_iter().flatten();
            sessions.filter_map(|key| key.parse().ok()).collect()
        })
    }

    fn look<T>(&self, look: impl FnOnce(&Option<DisabledSessions>) -> T) -> T {
        look(&self.0.read())
    }

    fn change(&self, change: impl FnOnce(&mut Option<DisabledSessions>)) {
        change(&mut self.0.write());
    }
}
