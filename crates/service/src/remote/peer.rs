//! [`Peer`]: one client's socket in one namespace, as handlers see it. It can be told things, in
//! order, and asked things; it never shows the id by which its connection could be taken over.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use callgate_contract::{Principal, SessionKey};
use parking_lot::{Mutex, RwLock};
use serde_json::Value as Json;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::{
    Disconnected, Remote, Wire,
    identity::{Authorization, Identity, Rights},
    namespace::Namespace,
};

/// How much may wait for a client before a stream of events to it should pause.
const COMFORTABLE: usize = 256 << 10;
const AGAIN: Duration = Duration::from_millis(2);

/// Clones are the same peer.
#[derive(Clone)]
pub struct Peer(Arc<PeerInner>);

struct PeerInner {
    remote: Remote,
    wire: Arc<dyn Wire>,
    namespace: &'static str,
    /// What the client is told as its socket id.
    public_id: String,
    number: u64,
    identity: Identity,
    /// Changes when the operator approves or revokes; read once per call.
    standing: RwLock<Arc<Authorization>>,
    left: AtomicBool,
    /// It left by its own word.
    goodbye: AtomicBool,
    asked: AtomicU64,
    /// Who waits for which answer.
    asks: Mutex<HashMap<u64, oneshot::Sender<Json>>>,
}

/// Why a client's answer did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    #[error("the client is gone")]
    Gone,
    #[error("the client did not answer in time")]
    Late,
}

impl Peer {
    pub(super) fn new(
        remote: &Remote,
        namespace: &Namespace,
        wire: Arc<dyn Wire>,
        (identity, standing): (Identity, Authorization),
    ) -> Self {
        Peer(Arc::new(PeerInner {
            remote: remote.clone(),
            wire,
            namespace: namespace.name(),
            public_id: Uuid::now_v7().simple().to_string(),
            number: remote.roster().next_number(),
            identity,
            standing: RwLock::new(Arc::new(standing)),
            left: AtomicBool::new(false),
            goodbye: AtomicBool::new(false),
            asked: AtomicU64::new(0),
            asks: Mutex::default(),
        }))
    }

    /// The id the client calls itself by. Of those that were let in, all under this id act for one
    /// and the same user.
    pub fn client(&self) -> &str {
        &self.0.identity.client
    }

    /// Tells instances of one client apart; the client's id where it does not say.
    pub fn identity(&self) -> &str {
        &self.0.identity.identity
    }

    /// What the client says it is. Compat(newage): `SillyTavern`, `monitor` or anything; it gives
    /// no rights.
    pub fn kind(&self) -> &str {
        &self.0.identity.kind
    }

    pub fn description(&self) -> &str {
        &self.0.identity.description
    }

    /// The page that the client runs in, where it is one.
    pub fn origin(&self) -> Option<&str> {
        self.0.identity.origin.as_deref()
    }

    pub fn namespace(&self) -> &'static str {
        self.0.namespace
    }

    pub fn standing(&self) -> Arc<Authorization> {
        self.0.standing.read().clone()
    }

    pub fn rights(&self) -> Rights {
        self.standing().rights
    }

    /// On whose behalf this client acts.
    pub fn principal(&self) -> Principal {
        self.standing().principal(self.client())
    }

    /// The same, as methods and people know them.
    pub fn user(&self) -> String {
        self.standing().user(self.client())
    }

    /// The chat of this client alone.
    pub fn session(&self) -> &SessionKey {
        &self.0.identity.session
    }

    /// Tells the client, after everything it was told before.
    pub fn emit(&self, event: &str, arguments: &[Json]) -> Result<(), Disconnected> {
        self.tell(event, arguments, None)
    }

    /// Waits until the client has read most of what it was told: for streams, before each piece.
    pub async fn ready(&self) -> Result<(), Disconnected> {
        while !self.has_left() {
            if self.0.wire.waiting() <= COMFORTABLE {
                return Ok(());
            }
            tokio::time::sleep(AGAIN).await;
        }
        Err(Disconnected)
    }

    /// Waits until nothing it was told waits for it here, or it is gone.
    pub async fn sent(&self) {
        while !self.has_left() && self.0.wire.waiting() > 0 {
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Tells the client and waits for what its callback says, null if it says nothing.
    pub async fn ask(
        &self,
        event: &str,
        arguments: &[Json],
        within: Duration,
    ) -> Result<Json, AnswerError> {
        let id = self.0.asked.fetch_add(1, Ordering::Relaxed);
        let (tell, answer) = oneshot::channel();
        self.0.asks.lock().insert(id, tell);
        let _forget = Forget(self, id);
        let told = self.tell(event, arguments, Some(id));
        told.map_err(|Disconnected| AnswerError::Gone)?;
        match tokio::time::timeout(within, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(AnswerError::Gone),
            Err(_) => Err(AnswerError::Late),
        }
    }

    /// Ends this socket; the connection and its other namespaces stay.
    pub fn disconnect(&self) {
        self.0.wire.leave(self.namespace());
        self.leave();
    }

    pub(super) fn remote(&self) -> &Remote {
        &self.0.remote
    }

    /// Ends the whole connection.
    pub(super) fn hang_up(&self) {
        self.0.wire.hang_up();
    }

    pub fn has_left(&self) -> bool {
        self.0.left.load(Ordering::Acquire)
    }

    /// The client says that it leaves.
    pub fn says_goodbye(&self) {
        self.0.goodbye.store(true, Ordering::Release);
    }

    /// It is gone and did not say so: whether it has heard what it was told last, nobody knows.
    pub fn is_lost(&self) -> bool {
        self.has_left() && !self.0.goodbye.load(Ordering::Acquire)
    }

    fn tell(&self, event: &str, arguments: &[Json], id: Option<u64>) -> Result<(), Disconnected> {
        if self.has_left() {
            return Err(Disconnected);
        }
        self.0.wire.event(self.namespace(), event, arguments, id)
    }

    /// What the client says to what it was asked.
    pub fn answered(&self, id: u64, answer: Json) {
        if let Some(tell) = self.0.asks.lock().remove(&id) {
            // Who asked may have stopped waiting.
            let _ = tell.send(answer);
        }
    }

    /// Nobody reaches it any more.
    pub fn leave(&self) {
        if !self.0.left.swap(true, Ordering::AcqRel) {
            self.0.remote.roster().remove(self);
        }
        // Whoever waits for an answer hears at once that none will come.
        self.0.asks.lock().clear();
    }

    pub(super) fn change_standing(&self, standing: Authorization) {
        *self.0.standing.write() = Arc::new(standing);
    }

    /// What the client is told as its socket id.
    pub fn public_id(&self) -> &str {
        &self.0.public_id
    }

    /// Orders peers by when they came.
    pub(super) fn number(&self) -> u64 {
        self.0.number
    }
}

impl PartialEq for Peer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

struct Forget<'a>(&'a Peer, u64);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.0.0.asks.lock().remove(&self.1);
    }
}
