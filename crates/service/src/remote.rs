//! The remote face of the registry: programs elsewhere connect by Socket.IO, call methods, and
//! offer methods of their own. Compat(newage): names, namespaces and shapes are those that clients
//! of SillyTavern-NewAge send and read. Here are who is connected, rooms, offers and what each event
//! does; packets and connections are the server's, which it lends as a [`Wire`].

mod access;
mod auth;
mod clients;
mod debug;
mod events;
mod forward;
mod function_call;
mod functions;
mod identity;
mod in_flight;
mod llm;
mod names;
mod namespace;
mod newage;
mod newage_texts;
mod offers;
mod pairing;
mod paths;
mod peer;
mod progress;
mod record;

mod rooms;
mod roster;
mod sillytavern;
mod statics;
mod wire;

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use callgate_agent::Agent;
use callgate_gate::Gate;
use callgate_store::Store;
use serde_json::Value as Json;
use tokio::sync::watch;

pub(crate) use access::events as event_needs;
pub use events::event_name;
pub use identity::{Authorization, Origin, Rights};
pub use llm::Outlet;
pub use namespace::{Answer, Call, EventAnswer, Namespace};
pub use pairing::{ClientKey, Pairing};
pub use peer::{AnswerError, Peer};
pub use progress::EVENT as FUNCTION_PROGRESS;
pub use roster::Roster;
pub use statics::StaticFile;
pub use wire::{Disconnected, Wire};

use crate::{Attempts, Quotas};
use namespace::caught;

/// Between two looks for what another instance has answered.
const LOOK: Duration = Duration::from_secs(1);

/// For a CONNECT to be answered.
const ADMISSION: Duration = Duration::from_secs(10);

/// What the operator decides.
#[derive(Clone, Debug)]
pub struct RemoteSettings {
    /// How long a call of another client's function may take.
    pub call_within: Duration,
    /// How long a connection may have no seat in any namespace.
    pub join_within: Duration,
    pub max_connections: usize,
    /// Pages that may connect besides those of this machine and our own; `*` is every page.
    pub origins: Vec<String>,
    /// Files and folders that no client may read, write or serve.
    pub restricted_files: Vec<String>,
    /// Calls that one key may make.
    pub calls_per_minute: u32,
    /// What one key may send along with them.
    pub megabytes_per_hour: u32,
}

impl Default for RemoteSettings {
    fn default() -> Self {
        RemoteSettings {
            call_within: Duration::from_secs(5),
            join_within: Duration::from_secs(20),
            max_connections: 10_000,
            origins: Vec::new(),
            restricted_files: Vec::new(),
            calls_per_minute: 600_000,
            megabytes_per_hour: 4_096,
        }
    }
}

/// Clones share everything.
#[derive(Clone)]
pub struct Remote(Arc<RemoteInner>);

struct RemoteInner {
    store: Store,
    gate: Gate,
    settings: RemoteSettings,
    namespaces: HashMap<&'static str, Arc<Namespace>>,
    roster: Roster,
    newage: newage::NewAge,
    /// True while methods are still on their way, as after a start.
    loading: watch::Sender<bool>,
    offers: offers::Offers,
    statics: statics::Statics,
    quotas: Quotas,
    attempts: Arc<Attempts>,
    /// Made when models are known, some time after the first client may come.
    agent: OnceLock<Agent>,
}

impl Remote {
    pub fn new(store: Store, gate: Gate, settings: RemoteSettings) -> Self {
        let namespaces = namespaces().into_iter();
        let root = store.files().remote_path();
        let paths = Arc::new(paths::Paths::new(root, &settings.restricted_files));
        let statics = statics::Statics::new(store.clone(), paths.clone());
        for method in functions::all(&store, &paths, &statics) {
            let name = method.info().name.clone();
            if let Err(error) = gate.register(method) {
                tracing::error!(name, %error, "could not register a remote function");
            }
        }
        let within = settings.call_within;
        let quotas = Quotas::new(settings.calls_per_minute, settings.megabytes_per_hour);
        let remote = Remote(Arc::new(RemoteInner {
            store,
            gate,
            settings,
            namespaces: namespaces
                .map(|namespace| (namespace.name(), Arc::new(namespace)))
                .collect(),
            roster: Roster::default(),
            newage: newage::NewAge::default(),
            loading: watch::Sender::new(false),
            offers: offers::Offers::default(),
            statics,
            quotas,
            attempts: Arc::default(),
            agent: OnceLock::new(),
        }));
        let call_client = forward::CallClient::new(Arc::downgrade(&remote.0), within);
        if let Err(error) = remote.gate().register(Arc::new(call_client)) {
            tracing::error!(%error, "could not register call_client; clients cannot call each other");
        }
        remote
    }

    /// Of keys that open nothing, for all surfaces.
    pub fn attempts(&self) -> &Arc<Attempts> {
        &self.0.attempts
    }

    /// Who connects, and whether it may sit in `namespace`. `Err` is what the client is told.
    pub async fn admit(
        &self,
        namespace: &Namespace,
        auth: &Json,
        origin: Origin<'_>,
        wire: Arc<dyn Wire>,
    ) -> Result<Peer, String> {
        let deciding = caught(async {
            let identity = identity::Identity::establish(self, auth, origin).await?;
            let peer = Peer::new(self, namespace, wire, identity);
            namespace.admit(self, &peer).await?;
            // Last: who is not let in takes no name either.
            names::claim(self, &peer).await?;
            Ok(peer)
        });
        match tokio::time::timeout(ADMISSION, deciding).await {
            Ok(Ok(decided)) => decided,
            Ok(Err(_)) | Err(_) => Err("The server could not decide. Try again.".to_owned()),
        }
    }

    /// What a client has declared for this path of a URL. Blocks: it opens the file.
    pub fn static_file(&self, path: &str) -> Option<StaticFile> {
        self.0.statics.file(path)
    }

    /// What clients declared before the last restart is served again.
    pub async fn load(&self) {
        self.0.statics.load().await;
    }

    /// Hangs up on everybody; clients come back when there is somebody to come back to.
    pub fn close(&self) {
        for peer in self.roster().clients() {
            for socket in self.roster().sockets(peer.client()) {
                socket.hang_up();
            }
        }
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub fn gate(&self) -> &Gate {
        &self.0.gate
    }

    /// Of keys, on every surface that calls are made from.
    pub fn quotas(&self) -> &Quotas {
        &self.0.quotas
    }

    pub fn settings(&self) -> &RemoteSettings {
        &self.0.settings
    }

    /// Told when clients come, go or ask to be let in.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.roster.changes()
    }

    pub fn roster(&self) -> &Roster {
        &self.0.roster
    }

    /// `None` until it is known which models answer.
    pub fn agent(&self) -> Option<&Agent> {
        self.0.agent.get()
    }

    /// Once; a second agent is ignored.
    pub fn attach(&self, agent: Agent) {
        let _ = self.0.agent.set(agent);
    }

    /// Where instances share a database, a client is not always connected to the one that answers it: what
    /// waits for those who are connected here is looked for again and again until `stop`.
    pub async fn look_for_answers(&self, stop: impl Future<Output = ()>) {
        if self.store().term().is_none() {
            return;
        }
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = &mut stop => return,
            }
            if let Err(error) = llm::deliver_waiting(self).await {
                tracing::warn!(%error, "could not look for messages to remote clients; retrying");
            }
        }
    }

    /// How clients without a key get in.
    pub fn clients(&self) -> Pairing<'_> {
        Pairing(self)
    }

    fn offers(&self) -> &offers::Offers {
        &self.0.offers
    }

    pub fn namespace(&self, name: &str) -> Option<&Arc<Namespace>> {
        self.0.namespaces.get(name)
    }

    /// While it is true, a call of a function that is not there waits for it.
    pub fn set_loading(&self, loading: bool) {
        self.0.loading.send_replace(loading);
    }

    pub fn is_loading(&self) -> bool {
        *self.0.loading.borrow()
    }

    pub async fn settled(&self) {
        // The sender lives as long as we do.
        let _ = self
            .0
            .loading
            .subscribe()
            .wait_for(|loading| !loading)
            .await;
    }

    fn newage(&self) -> &newage::NewAge {
        &self.0.newage
    }

    /// Where messages to sessions of remote clients leave.
    pub fn outlet(&self) -> Outlet {
        Outlet(self.clone())
    }
}

/// Every namespace there is; each is a file.
fn namespaces() -> Vec<Namespace> {
    let mut all = vec![Namespace::new("/"), function_call::namespace()];
    all.extend(newage::namespaces());
    all
}
