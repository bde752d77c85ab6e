//! [`Wire`]: a client's connection as the service needs it. What carries it, and how packets are
//! written, is the server's.

use serde_json::Value as Json;

/// The connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client is gone")]
pub struct Disconnected;

/// Not for anything but a connection: whoever listens in this process uses [`crate::Live`].
pub trait Wire: Send + Sync {
    /// Tells the client, after everything it was told before. With an id the client answers.
    fn event(
        &self,
        namespace: &str,
        event: &str,
        arguments: &[Json],
        id: Option<u64>,
    ) -> Result<(), Disconnected>;

    /// Bytes that wait for the client to read.
    fn waiting(&self) -> usize;

    /// Ends the client's place in one namespace.
    fn leave(&self, namespace: &str);

    /// Ends the whole connection.
    fn hang_up(&self);
}
