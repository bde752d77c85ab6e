//! The Model Context Protocol on both sides: a client of ours that speaks through another process,
//! and servers whose tools are methods.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use callgate_plugins::mcp::McpServers;
use callgate_server::Mcp;
use callgate_store::Events;
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf, duplex, split},
    sync::Mutex as Turn,
};

use super::App;
use crate::failure::Failure;

/// How long a command waits for servers; those that take longer it does without.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes on their way in one direction.
const BUFFER: usize = 64 << 10;

/// The way in to one client; `None` once it is closed. A mutex, so that lines do not mingle.
type WayIn = Arc<Turn<Option<WriteHalf<DuplexStream>>>>;

/// The ways in to clients that another process speaks for. A mutex, held for a look.
#[derive(Default)]
pub(super) struct Lines(Mutex<HashMap<String, WayIn>>);

impl Lines {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, WayIn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    pub fn mcp(&self) -> &Mcp {
        &self.mcp
    }

    /// Those the operator named.
    pub fn mcp_servers(&self) -> &McpServers {
        &self.servers
    }

    /// Waits for servers that the operator named, unless `method` is there already.
    pub(super) async fn with_servers(&self, method: Option<&str>) {
        if method.is_none_or(|method| self.gate.find(method).is_none()) {
            self.servers.settled(PATIENCE).await;
        }
    }

    /// Serves a client whose messages come by [`App::mcp_say`], until either side has left.
    pub async fn mcp_open(&self, connection: String, events: Events) {
        let (ours, theirs) = duplex(BUFFER);
        let (read, write) = split(ours);
        let way_in = Arc::new(Turn::new(Some(write)));
        self.lines.lock().insert(connection.clone(), way_in);
        let (their_read, their_write) = split(theirs);
        let serving = self.mcp.serve(their_read, their_write);
        events.tell(json!({ "open": true }));
        let telling = async {
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if !events.tell(json!({ "line": line })) {
                    return;
                }
            }
        };
        tokio::select! {
            // What it has said is told to the end: the other half closes when it is done.
            (served, ()) = async { tokio::join!(serving, telling) } => {
                if let Err(error) = served {
                    tracing::debug!(%error, "a client over MCP came to nothing");
                }
            }
            () = events.closed() => {}
        }
        self.lines.lock().remove(&connection);
    }

    /// `None`: the client has nothing more to say.
    pub(super) async fn mcp_say(
        &self,
        connection: &str,
        line: Option<String>,
    ) -> Result<Json, Failure> {
        let gone = || Failure::new("this client has left", "start `callgate mcp` again");
        let way_in = self.lines.lock().get(connection).cloned();
        let way_in = way_in.ok_or_else(gone)?;
        let mut way_in = way_in.lock().await;
        let Some(line) = line else {
            if let Some(mut write) = way_in.take() {
                // The other half of the stream would keep it open.
                write.shutdown().await.map_err(|_| gone())?;
            }
            return Ok(Json::Null);
        };
        let write = way_in.as_mut().ok_or_else(gone)?;
        let line = format!("{line}\n");
        let written = write.write_all(line.as_bytes()).await;
        written.map_err(|_| gone())?;
        Ok(Json::Null)
    }

    pub(super) async fn mcp_states(&self) -> Result<Json, Failure> {
        self.with_plugins().await;
        self.servers.settled(PATIENCE).await;
        Ok(json!(self.servers.states()))
    }
}
