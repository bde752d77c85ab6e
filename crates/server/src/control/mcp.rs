//! Clients of the Model Context Protocol that another process speaks for.

use std::{collections::HashMap, sync::Arc};

use callgate_service::ServiceError;
use callgate_store::Events;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf, duplex, split},
    sync::Mutex as Turn,
};

use crate::Mcp;

/// Bytes on their way in one direction.
const BUFFER: usize = 64 << 10;

/// The way in to one client; `None` once it is closed. A mutex, so that lines do not mingle.
type WayIn = Arc<Turn<Option<WriteHalf<DuplexStream>>>>;

/// The ways in to clients that another process speaks for. A mutex, held for a look.
#[derive(Default)]
pub(super) struct McpChannels(Mutex<HashMap<String, WayIn>>);

impl McpChannels {
    /// Serves a client whose messages come by [`McpChannels::say`], until either side has left.
    pub(super) async fn open(&self, mcp: &Mcp, connection: String, events: Events) {
        let (ours, theirs) = duplex(BUFFER);
        let (read, write) = split(ours);
        let way_in = Arc::new(Turn::new(Some(write)));
        self.0.lock().insert(connection.clone(), way_in);
        let (their_read, their_write) = split(theirs);
        let serving = mcp.serve(their_read, their_write);
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
        self.0.lock().remove(&connection);
    }

    /// `None`: the client has nothing more to say.
    pub(super) async fn say(
        &self,
        connection: &str,
        line: Option<String>,
    ) -> Result<Json, ServiceError> {
        let gone = || ServiceError::refused("this client has left", "start `callgate mcp` again");
        let way_in = self.0.lock().get(connection).cloned();
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
}
