//! [`Mcp`]: methods as tools, files of sessions as resources and personas as prompts, for clients of
//! the Model Context Protocol. The SDK speaks the protocol; what may be seen and called is decided
//! by the gate, and who asks by a verified key or by whoever started us.

mod call;
mod completion;
mod content;
mod files;
mod handler;
mod http;
mod lists;
mod page;
mod prompts;
mod told;
mod tools;
mod uri;
mod watched;
mod who;

use std::{io, sync::Arc};

use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

use callgate_service::Remote;
use handler::Handler;
use who::ClientIdentity;

pub(crate) use handler::VERBS;
pub(crate) use http::{NEEDS, routes};

/// Clones share everything.
#[derive(Clone)]
pub struct Mcp(Arc<McpInner>);

struct McpInner {
    /// Store and gate, and whether methods are still on their way.
    remote: Remote,
    http: http::SessionOwners,
}

impl Mcp {
    pub fn new(remote: Remote) -> Self {
        Mcp(Arc::new(McpInner {
            remote,
            http: http::SessionOwners::default(),
        }))
    }

    /// Serves one client over a pair of streams, a line for each message, as the operator. Returns
    /// when the client has left.
    pub async fn serve(
        &self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> io::Result<()> {
        let handler = Handler::new(self.clone(), Some(ClientIdentity::operator()));
        let serving = handler.serve((read, write)).await;
        let serving = serving.map_err(io::Error::other)?;
        serving.waiting().await.map_err(io::Error::other)?;
        Ok(())
    }

    /// Ends the streams of clients over HTTP, which would otherwise stay open for ever.
    pub fn close(&self) {
        self.0.http.close();
    }

    fn store(&self) -> &callgate_store::Store {
        self.0.remote.store()
    }

    fn gate(&self) -> &callgate_gate::Gate {
        self.0.remote.gate()
    }

    /// Returns once the methods that a start brings are there.
    async fn settled(&self) {
        if self.0.remote.is_loading() {
            self.0.remote.settled().await;
        }
    }
}
