//! [`Server`]: one server, from the first try to the last. It comes and goes; its methods come and
//! go with it, and a call in between is told why.

use std::{sync::Arc, time::Duration};

use callgate_contract::{Method, Onlooker, Origin};
use callgate_gate::WeakGate;
use parking_lot::Mutex;
use rmcp::model::{CallToolResult, JsonObject, Tool};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout},
};

use super::{
    McpSettings, McpState, McpStatus,
    connection::{Attendance, Connection, ConnectionEvent, RequestError},
    describe::names,
    method::McpMethod,
};

/// The pause before the second try; each further one is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Whoever stayed this long is tried again soon.
const STABLE: Duration = Duration::from_secs(30);
/// More than this of one server would bury everybody else's.
const MOST_TOOLS: usize = 1_000;

pub(super) struct Server {
    settings: McpSettings,
    origin: Origin,
    gate: WeakGate,
    /// Mutex, held for a look.
    line: Mutex<ServerState>,
    /// True once the first try has ended.
    tried: watch::Sender<bool>,
}

struct ServerState {
    standing: McpStatus,
    error: Option<String>,
    connection: Option<Arc<Connection>>,
    /// What is registered with the gate, if anything is.
    offered: Option<OfferedTools>,
}

struct OfferedTools {
    tools: Vec<Tool>,
    methods: Vec<String>,
    left_out: Vec<String>,
}

impl Server {
    pub(super) fn new(gate: WeakGate, settings: McpSettings) -> Self {
        Server {
            origin: Origin::Mcp(settings.name.clone()),
            settings,
            gate,
            line: Mutex::new(ServerState {
                standing: McpStatus::Connecting,
                error: None,
                connection: None,
                offered: None,
            }),
            tried: watch::Sender::new(false),
        }
    }

    pub(super) async fn tried(&self) {
        // The sender lives as long as we do.
        let _ = self.tried.subscribe().wait_for(|tried| *tried).await;
    }

    pub(super) fn state(&self) -> McpState {
        let line = self.line.lock();
        let offered = line.offered.as_ref();
        McpState {
            name: self.settings.name.clone(),
            state: line.standing,
            error: line.error.clone(),
            methods: offered.map(|it| it.methods.clone()).unwrap_or_default(),
            left_out: offered.map(|it| it.left_out.clone()).unwrap_or_default(),
        }
    }

    /// Until it is no longer wanted.
    pub(super) async fn look_after(self: Arc<Self>, mut wanted: watch::Receiver<bool>) {
        let mut pauses = Pauses::default();
        let mut seen = Instant::now();
        loop {
            let began = Instant::now();
            let ended = self.stay(&mut wanted).await;
            let Some(reason) = ended.reason else {
                break;
            };
            if ended.was_up {
                seen = Instant::now();
            }
            self.away(reason);
            let next = Instant::now() + pauses.after(began.elapsed());
            tokio::select! {
                () = self.rest(next, seen + self.settings.grace) => {}
                _ = wanted.wait_for(|wanted| !wanted) => break,
            }
        }
        self.withdraw();
    }

    async fn rest(&self, next: Instant, forget: Instant) {
        if forget <= next {
            sleep_until(forget).await;
            self.withdraw();
        }
        sleep_until(next).await;
    }

    /// One connection, from its beginning to its end.
    async fn stay(self: &Arc<Self>, wanted: &mut watch::Receiver<bool>) -> ConnectionEnd {
        let opened = tokio::select! {
            opened = timeout(self.settings.handshake, self.open()) => opened,
            _ = wanted.wait_for(|wanted| !wanted) => return ConnectionEnd::unwanted(),
        };
        let (connection, mut attendance) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(reason)) => return ConnectionEnd::never(reason),
            Err(_) => {
                let seconds = self.settings.handshake.as_secs_f64();
                return ConnectionEnd::never(format!("no answer within {seconds} s"));
            }
        };
        self.line.lock().connection = Some(connection.clone());
        let mut was_up = false;
        let reason = tokio::select! {
            reason = self.attend(&connection, &mut attendance, &mut was_up) => Some(reason),
            _ = wanted.wait_for(|wanted| !wanted) => None,
        };
        self.line.lock().connection = None;
        attendance.end(&connection).await;
        ConnectionEnd { reason, was_up }
    }

    /// Some servers cannot bear to be asked what they speak, some know nothing else.
    async fn open(&self) -> Result<(Arc<Connection>, Attendance), String> {
        match Connection::open(&self.settings, false).await {
            Ok(opened) => Ok(opened),
            Err(reason) => {
                let by_hand = Connection::open(&self.settings, true).await;
                by_hand.map_err(|_| reason)
            }
        }
    }

    /// Returns why the connection is of no use any more.
    async fn attend(
        self: &Arc<Self>,
        connection: &Connection,
        attendance: &mut Attendance,
        was_up: &mut bool,
    ) -> String {
        loop {
            match timeout(self.settings.handshake, connection.tools()).await {
                Ok(Ok(tools)) => self.offer(tools),
                Ok(Err(reason)) => return reason,
                Err(_) => return "it does not say which tools it has".to_owned(),
            }
            *was_up = true;
            match attendance.next(connection).await {
                ConnectionEvent::Refresh => {}
                ConnectionEvent::Lost(reason) => return reason,
            }
        }
    }

    /// Its tools from now on.
    fn offer(self: &Arc<Self>, mut tools: Vec<Tool>) {
        tools.truncate(MOST_TOOLS);
        let known = self
            .line
            .lock()
            .offered
            .as_ref()
            .is_some_and(|it| it.tools == tools);
        let offered = if known { None } else { self.register(tools) };
        let mut line = self.line.lock();
        if line.standing != McpStatus::Connected {
            tracing::info!(server = self.settings.name, "MCP server connected");
        }
        line.standing = McpStatus::Connected;
        line.error = None;
        if offered.is_some() {
            line.offered = offered;
        }
        drop(line);
        self.tried.send_replace(true);
    }

    fn register(self: &Arc<Self>, tools: Vec<Tool>) -> Option<OfferedTools> {
        let gate = self.gate.upgrade()?;
        gate.explain(&self.origin, None);
        let mut methods: Vec<Arc<McpMethod>> = Vec::new();
        for (name, tool) in names(&tools).into_iter().zip(&tools) {
            let method = McpMethod::new(self.clone(), &self.settings, name, tool);
            methods.push(Arc::new(method));
        }
        let all = methods
            .iter()
            .map(|method| method.clone() as Arc<dyn Method>);
        let left_out = gate.replace_origin(&self.origin, all);
        let left_out: Vec<String> = left_out.iter().map(ToString::to_string).collect();
        for reason in &left_out {
            tracing::warn!(
                server = self.settings.name,
                reason,
                "MCP tool cannot be a method"
            );
        }
        let full = |name: &str| format!("{}/{name}", self.origin);
        let names = methods.iter().map(|method| method.info().name.clone());
        Some(OfferedTools {
            methods: names
                .filter(|name| gate.find(&full(name)).is_some())
                .collect(),
            tools,
            left_out,
        })
    }

    fn withdraw(&self) {
        let offered = self.line.lock().offered.take();
        if offered.is_some()
            && let Some(gate) = self.gate.upgrade()
        {
            gate.unregister_origin(&self.origin);
        }
    }

    fn away(&self, reason: String) {
        if let Some(gate) = self.gate.upgrade() {
            gate.explain(&self.origin, Some(self.gone(&reason)));
        }
        let mut line = self.line.lock();
        if line.error.as_ref() != Some(&reason) {
            let server = &self.settings.name;
            tracing::warn!(server, reason, "MCP server not connected");
        }
        line.standing = McpStatus::NotConnected;
        line.error = Some(reason);
        drop(line);
        self.tried.send_replace(true);
    }

    fn gone(&self, why: &str) -> String {
        format!(
            "mcp server '{}' is not connected: {why}",
            self.settings.name
        )
    }

    /// `Err` is for the caller to read.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        progress: &Onlooker,
    ) -> Result<CallToolResult, String> {
        let (connection, error) = {
            let line = self.line.lock();
            (line.connection.clone(), line.error.clone())
        };
        let Some(connection) = connection else {
            let why = error.as_deref().unwrap_or("it is just being looked for");
            return Err(self.gone(why));
        };
        match connection.call(tool, arguments, progress).await {
            Ok(result) => Ok(result),
            Err(RequestError::Refused(message)) => Err(message),
            Err(RequestError::Lost(reason)) => Err(self.gone(&reason)),
        }
    }
}

/// How long to wait before the next try.
#[derive(Default)]
struct Pauses {
    last: Option<Duration>,
}

impl Pauses {
    /// A connection that `stayed` so long has ended.
    fn after(&mut self, stayed: Duration) -> Duration {
        let last = self.last.filter(|_| stayed < STABLE);
        let next = last.map_or(FIRST_PAUSE, |last| (last * 2).min(LONGEST_PAUSE));
        self.last = Some(next);
        next
    }
}

struct ConnectionEnd {
    /// `None`: it is no longer wanted.
    reason: Option<String>,
    /// It has answered before.
    was_up: bool,
}

impl ConnectionEnd {
    fn never(reason: String) -> Self {
        ConnectionEnd {
            reason: Some(reason),
            was_up: false,
        }
    }

    fn unwanted() -> Self {
        ConnectionEnd {
            reason: None,
            was_up: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_it_has_stayed_for_a_while() {
        let mut pauses = Pauses::default();
        let mut after = |stayed| pauses.after(Duration::from_secs(stayed)).as_secs();
        let tries: Vec<u64> = (0..8).map(|_| after(0)).collect();
        assert_eq!(tries, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!((after(3_600), after(0)), (1, 2));
    }
}
