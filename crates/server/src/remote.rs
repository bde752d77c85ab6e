//! The remote face of the registry: programs elsewhere connect by Socket.IO, call methods, and
//! offer methods of their own. Compat(newage): names, namespaces and shapes are those that clients
//! of SillyTavern-NewAge send and read. The engine below is `engineioxide`; the protocol above it
//! is ours, since order, acks and ids are what clients depend on.

mod access;
mod auth;
mod clients;
mod debug;
mod events;
mod forward;
mod function_call;
mod functions;
mod guard;
mod identity;
mod line;
mod llm;
mod lobby;
mod names;
mod namespace;
mod newage;
mod offers;
mod packet;
mod pairing;
mod paths;
mod peer;
mod progress;
mod quiet;
mod record;
mod repeats;
mod rooms;
mod roster;
mod scripts;
mod seat;
mod sillytavern;
mod statics;
mod transport;

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    http::{HeaderMap, Method, StatusCode, Uri},
    middleware,
    response::IntoResponse,
};
use callgate_agent::Agent;
use callgate_gate::Gate;
use callgate_store::Store;
use engineioxide::{config::EngineIoConfig, service::EngineIoService};
use tokio::sync::watch;

pub use identity::{Rights, Standing};
pub use line::Gone;
pub use llm::Outlet;
pub use namespace::{Answer, Call, Namespace};
pub use pairing::{ClientKey, METHOD, METHODS, OPERATOR, Pairing};
pub use peer::{Peer, Unanswered};
pub use roster::Roster;

use crate::Hosts;
use guard::Guard;
use transport::Transport;

/// Bytes of one message, on both transports.
const MAX_MESSAGE: u32 = 1_000_000;
/// Packets in the engine's own buffer; behind it they wait in ours.
const ENGINE_BUFFER: usize = 256;

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
}

impl Default for RemoteSettings {
    fn default() -> Self {
        RemoteSettings {
            call_within: Duration::from_secs(5),
            join_within: Duration::from_secs(20),
            max_connections: 10_000,
            origins: Vec::new(),
            restricted_files: Vec::new(),
        }
    }
}

/// Clones share everything.
#[derive(Clone)]
pub struct Remote(Arc<Shared>);

struct Shared {
    store: Store,
    gate: Gate,
    settings: RemoteSettings,
    namespaces: HashMap<&'static str, Arc<Namespace>>,
    roster: Roster,
    lines: Lines,
    lobby: lobby::Lobby,
    newage: newage::NewAge,
    /// True while methods are still on their way, as after a start.
    loading: watch::Sender<bool>,
    offers: offers::Offers,
    statics: statics::Statics,
    /// Made when models are known, some time after the first client may come.
    agent: OnceLock<Agent>,
}

/// How many connections there are.
struct Lines {
    open: AtomicUsize,
    limit: usize,
}

impl Lines {
    /// False if there are too many; it then counts nevertheless, until it leaves.
    fn enter(&self) -> bool {
        self.open.fetch_add(1, Ordering::Relaxed) < self.limit
    }

    fn leave(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
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
                tracing::error!(name, %error, "a function of remote clients is not offered");
            }
        }
        let within = settings.call_within;
        let remote = Remote(Arc::new(Shared {
            store,
            gate,
            lines: Lines {
                open: AtomicUsize::new(0),
                limit: settings.max_connections,
            },
            lobby: lobby::Lobby::default(),
            settings,
            namespaces: namespaces
                .map(|namespace| (namespace.name(), Arc::new(namespace)))
                .collect(),
            roster: Roster::default(),
            newage: newage::NewAge::default(),
            loading: watch::Sender::new(false),
            offers: offers::Offers::default(),
            statics,
            agent: OnceLock::new(),
        }));
        let call_client = forward::CallClient::new(Arc::downgrade(&remote.0), within);
        if let Err(error) = remote.gate().register(Arc::new(call_client)) {
            tracing::error!(%error, "clients cannot call each other");
        }
        remote
    }

    /// Socket.IO at `/socket.io/`, scripts for clients, and static resources everywhere else.
    /// To be served with connect info: where a client speaks from decides what it may.
    pub fn routes(&self, hosts: Hosts) -> Router {
        let guard = Guard {
            hosts,
            origins: Arc::new(self.settings().origins.clone()),
        };
        let statics = self.0.statics.clone();
        let fallback = async move |method: Method, uri: Uri, headers: HeaderMap| {
            let found = statics.answer(&method, uri.path(), &headers).await;
            found.unwrap_or_else(|| (StatusCode::NOT_FOUND, "nothing is here\n").into_response())
        };
        self.socket_io()
            .merge(scripts::routes())
            .fallback(fallback)
            .layer(middleware::from_fn_with_state(guard, guard::guard))
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

    fn socket_io(&self) -> Router {
        let mut config = EngineIoConfig::builder()
            .req_path("/socket.io")
            .max_payload(MAX_MESSAGE.into())
            .max_buffer_size(ENGINE_BUFFER)
            .build();
        config.ws_max_message_size = MAX_MESSAGE as usize;
        config.ws_max_frame_size = MAX_MESSAGE as usize;
        let engine = EngineIoService::with_config(Arc::new(Transport(self.clone())), config);
        let small = middleware::from_fn_with_state(self.lobby().clone(), lobby::small_until_seated);
        Router::new()
            .route_service("/socket.io/", engine)
            .layer(small)
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub fn gate(&self) -> &Gate {
        &self.0.gate
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

    /// How clients without a key get in.
    pub fn clients(&self) -> Pairing<'_> {
        Pairing(self)
    }

    fn offers(&self) -> &offers::Offers {
        &self.0.offers
    }

    fn namespace(&self, name: &str) -> Option<&Arc<Namespace>> {
        self.0.namespaces.get(name)
    }

    /// While it is true, a call of a function that is not there waits for it.
    pub fn set_loading(&self, loading: bool) {
        self.0.loading.send_replace(loading);
    }

    pub(crate) fn is_loading(&self) -> bool {
        *self.0.loading.borrow()
    }

    pub(crate) async fn settled(&self) {
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

    fn lines(&self) -> &Lines {
        &self.0.lines
    }

    fn lobby(&self) -> &lobby::Lobby {
        &self.0.lobby
    }
}

/// Every namespace there is; each is a file.
fn namespaces() -> Vec<Namespace> {
    let mut all = vec![Namespace::new("/"), function_call::namespace()];
    all.extend(newage::namespaces());
    all
}
