//! [`McpServers`]: servers of the Model Context Protocol that the operator named. Each is looked
//! after by a task of its own; its tools are methods of origin `mcp:<name>` while it can be reached.
//! Nobody waits for a server who did not ask for one of its tools.

mod child;
mod connection;
mod describe;
mod http;
mod method;
mod notifications;
mod outcome;
mod server;
mod wire;
mod words;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use callgate_gate::Gate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::{sync::watch, task::JoinSet};

use server::Server;

/// A server as the operator described it.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// A short word: the methods' origin is `mcp:<name>`.
    pub name: String,
    pub reach: Reach,
    /// How long one of its tools may take.
    pub deadline: Duration,
    /// Remote clients may call its tools too.
    pub remote: bool,
    /// Tools whose result a model is to look at, as an image.
    pub shown: Vec<String>,
    /// How long its methods stay while it is away: a short absence changes no prompt.
    pub grace: Duration,
    /// For the handshake, and for a list of tools.
    pub handshake: Duration,
}

/// How a server is reached. The values may be secrets: nothing here is ever shown.
#[derive(Clone)]
pub enum Reach {
    Command {
        program: String,
        arguments: Vec<String>,
        /// All that it finds in its environment besides `PATH` and `HOME`.
        environment: BTreeMap<String, String>,
    },
    Url {
        url: String,
        bearer: Option<String>,
        headers: BTreeMap<String, String>,
    },
}

impl std::fmt::Debug for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reach::Command { program, .. } => f.debug_tuple("Command").field(program).finish(),
            Reach::Url { url, .. } => f.debug_tuple("Url").field(url).finish(),
        }
    }
}

/// How a server is doing, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McpState {
    pub name: String,
    pub state: McpStatus,
    /// Why it is not connected.
    pub error: Option<String>,
    /// Its tools as methods.
    pub methods: Vec<String>,
    /// Tools that cannot be methods, and why.
    pub left_out: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpStatus {
    /// For the first time; nobody knows yet how it ends.
    Connecting,
    Connected,
    NotConnected,
}

/// Clones share everything.
#[derive(Clone)]
pub struct McpServers(Arc<McpInner>);

struct McpInner {
    servers: Vec<Arc<Server>>,
    /// Are they looked after?
    started: AtomicBool,
    awaited: AtomicBool,
    /// False ends them all.
    wanted: watch::Sender<bool>,
    /// Mutex: taken by who starts and by who ends.
    tasks: tokio::sync::Mutex<JoinSet<()>>,
}

impl McpServers {
    /// Nothing is started.
    pub fn new(gate: &Gate, settings: Vec<McpSettings>) -> Self {
        let servers = settings.into_iter();
        let servers = servers.map(|settings| Arc::new(Server::new(gate.downgrade(), settings)));
        McpServers(Arc::new(McpInner {
            servers: servers.collect(),
            started: AtomicBool::new(false),
            awaited: AtomicBool::new(false),
            wanted: watch::Sender::new(true),
            tasks: tokio::sync::Mutex::default(),
        }))
    }

    /// Connects to them behind the caller's back, once. `awaited`: somebody may wait for them to be
    /// settled, as a command does that is gone before it could hear of those who come late.
    pub async fn start(&self, awaited: bool) {
        let mut tasks = self.0.tasks.lock().await;
        if self.0.started.swap(true, Ordering::Relaxed) {
            return;
        }
        self.0.awaited.store(awaited, Ordering::Relaxed);
        for server in &self.0.servers {
            let wanted = self.0.wanted.subscribe();
            tasks.spawn(server.clone().look_after(wanted));
        }
    }

    /// [`McpServers::tried`], if they are awaited at all.
    pub async fn settled(&self, within: Duration) {
        if self.0.awaited.load(Ordering::Relaxed) {
            self.tried(within).await;
        }
    }

    /// Returns when each has been reached or not for the first time, at the latest after `within`; at once
    /// where nobody has started them.
    pub async fn tried(&self, within: Duration) {
        if !self.0.started.load(Ordering::Relaxed) {
            return;
        }
        let all = async {
            for server in &self.0.servers {
                server.tried().await;
            }
        };
        // Those that take longer come later.
        let _ = tokio::time::timeout(within, all).await;
    }

    pub fn states(&self) -> Vec<McpState> {
        let servers = self.0.servers.iter();
        servers.map(|server| server.state()).collect()
    }

    /// Ends the processes, and what talks to others.
    pub async fn shutdown(&self) {
        self.0.wanted.send_replace(false);
        let mut tasks = self.0.tasks.lock().await;
        while tasks.join_next().await.is_some() {}
    }
}
