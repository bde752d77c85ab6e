//! [`Peer`]: the way back to the plugin code that calls a host method, while it waits for it. A long
//! method tells of its progress and asks for decisions this way. It is no way around the gate: a
//! peer is asked for steps of its own, never for methods.

use std::{fmt, sync::Arc};

use crate::{BoxFuture, MethodError, Value};

/// What is said to a peer.
#[derive(Clone, Debug, PartialEq)]
pub enum PeerMessage {
    /// One of many answers. Taken when the peer wants the next.
    Item(Value),
    /// A question of ours, by the name of the step that answers it.
    Step {
        name: String,
        arguments: Vec<(String, Value)>,
    },
}

type SendFn = dyn Fn(PeerMessage) -> BoxFuture<'static, Result<Value, MethodError>> + Send + Sync;

/// Clones lead to the same place.
#[derive(Clone)]
pub struct Peer(Arc<SendFn>);

impl Peer {
    pub fn new(
        tell: impl Fn(PeerMessage) -> BoxFuture<'static, Result<Value, MethodError>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Peer(Arc::new(tell))
    }

    /// Waits until the peer has room for it; an error says that nobody listens any more.
    pub async fn item(&self, value: Value) -> Result<(), MethodError> {
        (self.0)(PeerMessage::Item(value)).await.map(drop)
    }

    pub async fn ask(
        &self,
        step: &str,
        arguments: Vec<(String, Value)>,
    ) -> Result<Value, MethodError> {
        let name = step.to_owned();
        (self.0)(PeerMessage::Step { name, arguments }).await
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Peer")
    }
}
