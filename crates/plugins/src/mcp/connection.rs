//! [`Connection`]: one conversation with a server, by its process or by HTTP. Calls use it side by
//! side; the one who looks after it, through [`Attendance`], learns of changes and of its end.

use std::{sync::Arc, time::Duration};

use callgate_contract::Onlooker;
use rmcp::{
    ClientLifecycleMode, RoleClient, ServiceError,
    model::{
        CallToolRequestParams, CallToolResult, JsonObject, ProtocolVersion, RequestParamsMeta,
        ServerNotification, SubscriptionFilter, Tool,
    },
    serve_client_with_lifecycle,
    service::{ClientInitializeError, RunningService, Subscription},
    transport::{StreamableHttpClientTransport, async_rw::AsyncRwTransport},
};
use tokio::{
    sync::mpsc,
    time::{Interval, MissedTickBehavior, interval},
};

use super::{
    McpSettings, Reach,
    child::Process,
    http,
    notifications::{ClientNotifications, Notice},
    wire::{ObservedTransport, Onlookers},
    words,
};

/// Bytes of one message of a process; results may hold images.
const LONGEST_LINE: usize = 64 << 20;
/// How often we look whether the conversation has ended: the SDK tells only whoever gives it away.
const LOOK: Duration = Duration::from_millis(250);
/// How often a server by HTTP, which hangs up on nobody, is asked whether it is there.
const CHECK: Duration = Duration::from_secs(30);

pub(super) struct Connection {
    service: RunningService<RoleClient, ClientNotifications>,
    reach: Reach,
    onlookers: Onlookers,
    notices: mpsc::Sender<Notice>,
}

/// What only the one who looks after a connection hears.
pub(super) struct Attendance {
    process: Option<Process>,
    heard: mpsc::Receiver<Notice>,
    subscription: Option<Subscription>,
    look: Interval,
    check: Option<Interval>,
}

pub(super) enum ConnectionEvent {
    /// Its tools may be others now.
    Refresh,
    Lost(String),
}

pub(super) enum RequestError {
    /// In the server's words.
    Refused(String),
    Lost(String),
}

impl Connection {
    /// `by_hand`: with the handshake of older versions, without asking first what is spoken.
    pub(super) async fn open(
        settings: &McpSettings,
        by_hand: bool,
    ) -> Result<(Arc<Connection>, Attendance), String> {
        let (notices, heard) = mpsc::channel(16);
        let notifications = ClientNotifications {
            server: settings.name.clone(),
            notices: notices.clone(),
        };
        let lifecycle = if by_hand {
            ClientLifecycleMode::Initialize
        } else {
            ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: None,
            }
        };
        let (reach, onlookers) = (&settings.reach, Onlookers::default());
        let (service, process) = match reach {
            Reach::Command {
                program,
                arguments,
                environment,
            } => {
                let started = Process::start(&settings.name, program, arguments, environment);
                let (mut process, read, write) =
                    started.map_err(|error| format!("cannot start '{program}': {error}"))?;
                let transport =
                    AsyncRwTransport::new_client(read, write).with_max_line_length(LONGEST_LINE);
                let transport = ObservedTransport {
                    transport,
                    onlookers: onlookers.clone(),
                };
                match serve_client_with_lifecycle(notifications, transport, lifecycle).await {
                    Ok(service) => (service, Some(process)),
                    Err(error) => {
                        let ended = process.end().await;
                        return Err(match (&error, ended) {
                            // Why it hung up, it has said itself.
                            (ClientInitializeError::ConnectionClosed(_), Some(ended)) => ended,
                            _ => words::of_start(&error, reach),
                        });
                    }
                }
            }
            Reach::Url {
                url,
                bearer,
                headers,
            } => {
                let config = http::config(url, bearer.as_deref(), headers)?;
                let client = http::client()?;
                let transport = ObservedTransport {
                    transport: StreamableHttpClientTransport::with_client(client, config),
                    onlookers: onlookers.clone(),
                };
                let served = serve_client_with_lifecycle(notifications, transport, lifecycle).await;
                (
                    served.map_err(|error| words::of_start(&error, reach))?,
                    None,
                )
            }
        };
        let subscription = subscribe(&service).await;
        let by_url = matches!(reach, Reach::Url { .. });
        let attendance = Attendance {
            process,
            heard,
            subscription,
            look: every(LOOK),
            check: by_url.then(|| every(CHECK)),
        };
        let connection = Connection {
            service,
            reach: reach.clone(),
            onlookers,
            notices,
        };
        Ok((Arc::new(connection), attendance))
    }

    pub(super) async fn tools(&self) -> Result<Vec<Tool>, String> {
        let offers_tools = self
            .service
            .peer_info()
            .is_none_or(|info| info.capabilities.tools.is_some());
        if offers_tools {
            self.service
                .list_all_tools()
                .await
                .map_err(|error| words::of_service(&error, &self.reach))
        } else {
            Ok(Vec::new())
        }
    }

    /// Dropped, the server is told that nobody waits any more.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        progress: &Onlooker,
    ) -> Result<CallToolResult, RequestError> {
        let mut request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let listening = self.onlookers.listen(progress);
        if let Some(listening) = &listening {
            request.set_progress_token(listening.token());
        }
        let called = self.service.call_tool(request).await;
        let error = match called {
            Ok(result) => return Ok(result),
            Err(error) => error,
        };
        let reason = words::of_service(&error, &self.reach);
        match error {
            ServiceError::TransportSend(_) | ServiceError::TransportClosed => {
                // If it is full, somebody has said so already.
                let _ = self.notices.try_send(Notice::Lost(reason.clone()));
                Err(RequestError::Lost(reason))
            }
            _ => Err(RequestError::Refused(reason)),
        }
    }
}

/// Servers of the newest version tell of changes only who asks for it.
async fn subscribe(
    service: &RunningService<RoleClient, ClientNotifications>,
) -> Option<Subscription> {
    let info = service.peer_info()?;
    let tools = info.capabilities.tools.as_ref()?;
    if info.protocol_version.has_initialize() || tools.list_changed != Some(true) {
        return None;
    }
    let wish = SubscriptionFilter::builder().tools_list_changed().build();
    // Without it, the tools are those of the beginning.
    service.listen(wish).await.ok()
}

fn every(period: Duration) -> Interval {
    let mut every = interval(period);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick comes at once.
    every.reset();
    every
}

impl Attendance {
    /// Waits for something to happen.
    pub(super) async fn next(&mut self, connection: &Connection) -> ConnectionEvent {
        loop {
            tokio::select! {
                ended = ended(&mut self.process) => return ConnectionEvent::Lost(ended),
                notice = self.heard.recv() => match notice {
                    Some(Notice::Changed) => return ConnectionEvent::Refresh,
                    Some(Notice::Lost(reason)) => return ConnectionEvent::Lost(reason),
                    None => return ConnectionEvent::Lost("the connection has ended".to_owned()),
                },
                changed = changed(&mut self.subscription) => if changed {
                    return ConnectionEvent::Refresh;
                },
                _ = self.look.tick() => if connection.service.is_transport_closed() {
                    return ConnectionEvent::Lost("it closed the connection".to_owned());
                },
                () = tick(&mut self.check) => return ConnectionEvent::Refresh,
            }
        }
    }

    pub(super) async fn end(mut self, connection: &Connection) {
        self.subscription = None;
        connection.service.cancellation_token().cancel();
        if let Some(mut process) = self.process {
            process.end().await;
        }
    }
}

async fn ended(process: &mut Option<Process>) -> String {
    match process {
        Some(process) => process.ended().await,
        None => std::future::pending().await,
    }
}

/// False if it is something else that has happened; the subscription is then perhaps over.
async fn changed(subscription: &mut Option<Subscription>) -> bool {
    let Some(open) = subscription else {
        return std::future::pending().await;
    };
    match open.next().await {
        Ok(Some(ServerNotification::ToolListChangedNotification(_))) => true,
        Ok(Some(_)) => false,
        Ok(None) | Err(_) => {
            *subscription = None;
            false
        }
    }
}

async fn tick(check: &mut Option<Interval>) {
    match check {
        Some(check) => drop(check.tick().await),
        None => std::future::pending().await,
    }
}
