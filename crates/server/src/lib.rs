//! The service over the network: the HTTP API, OpenAI's, Socket.IO, MCP, the control socket and the page.
//! Each only translates: what happens, and who may have it happen, the service decides.

mod api;
mod attempts;
pub mod control;
mod docs;
mod entrance;
mod health;
mod http;
mod mcp;
mod metrics;
mod openai;
mod page;
mod plugin_web;
pub mod remote;
mod revocation;
mod surfaces;
mod table;
mod unknown;
mod visitor;

pub use api::Api;
pub use docs::documents;
pub use entrance::{Entrance, EntranceError, Tls};
pub use http::{Site, serve, serve_remote};
pub use mcp::Mcp;
pub use openai::{Fetch, OpenAi};
pub use surfaces::Surfaces;
pub use table::{served_routes, table};
pub use visitor::Hosts;
