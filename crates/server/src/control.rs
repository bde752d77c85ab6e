//! [`Client`]: the way to the service of a data directory. One process owns it and does the work; every
//! other asks the owner through the control socket. Which of the two we are may change while we wait.

mod mcp;
mod visitors;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use callgate_agent::RunReport;
use callgate_service::{
    EventListener, Observer, Operation, RecoveredRun, Requester, Service, ServiceError, Settings,
    operations::{OPERATIONS, RunCode, SendMessage, TurnSummaryLine},
    request::{Answer, OperationRequest, Request},
};
use callgate_store::{ControlError, Events, Handler, Owner, OwnerError};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value as Json, json};
use tokio::{task::JoinHandle, time::Instant};

use crate::Surfaces;
use mcp::McpChannels;
use visitors::ActiveRequests;

/// How long an owner may hold the lock and not answer: it has just begun, or is about to end.
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(20);
/// For the last answer to leave on the socket once its work is done.
const FAREWELL: Duration = Duration::from_millis(50);

/// What the command wants of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Reads or changes rows and is gone.
    Look,
    /// Runs code or calls methods: recovers runs first, and serves others meanwhile.
    Work,
    /// Answers messages: recovers runs and turns first, and serves others meanwhile.
    Talk,
    /// Serves others at once; what is to be recovered, its command does meanwhile.
    Stay,
}

/// Told of what was recovered.
pub type Notice = fn(&str);

pub struct Client {
    settings: Settings,
    purpose: Purpose,
    notice: Notice,
    /// `None`: another process owns the directory.
    inside: Option<InProcess>,
}

struct InProcess {
    surfaces: Surfaces,
    visitors: Arc<ActiveRequests>,
    /// Serves the socket until the door closes; it also keeps the lock.
    serving: Option<JoinHandle<()>>,
    _owner: Arc<Owner>,
}

impl Client {
    pub async fn open(
        settings: Settings,
        purpose: Purpose,
        notice: Notice,
    ) -> Result<Client, ServiceError> {
        let inside = enter(&settings, purpose, notice).await?;
        if inside.is_none() && !settings.plugins.is_empty() {
            return Err(ServiceError::refused(
                "another callgate is running on this data directory, with plugins of its own",
                "leave out --plugin and install it, or choose another directory with --data DIR",
            ));
        }
        Ok(Client {
            settings,
            purpose,
            notice,
            inside,
        })
    }

    pub fn is_outside(&self) -> bool {
        self.inside.is_none()
    }

    /// Of the owner, if that is us.
    pub fn surfaces(&self) -> Option<&Surfaces> {
        self.inside.as_ref().map(|inside| &inside.surfaces)
    }

    fn service(&self) -> Option<&Service> {
        self.surfaces().map(|surfaces| &surfaces.service)
    }

    /// Does it here, or has the owner do it; then only events of `observer` are heard.
    pub async fn perform(
        &mut self,
        request: Request,
        observer: Observer,
    ) -> Result<Json, ServiceError> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(inside) = &self.inside {
                return inside.surfaces.service.answer(request, observer).await;
            }
            let heard = |event| {
                if let (Some(hear), Ok(event)) = (&observer.events, serde_json::from_value(event)) {
                    hear(event);
                }
            };
            if let Some(response) = ask_owner(&self.settings.data, &json!(request), heard).await? {
                return Ok(response);
            }
            if Instant::now() > until {
                return Err(silent());
            }
            tokio::time::sleep(AGAIN).await;
            self.inside = enter(&self.settings, self.purpose, self.notice).await?;
        }
    }

    /// Does it here, or has the owner do it.
    pub async fn call<O: Operation>(&mut self, operation: O) -> Result<O::Response, ServiceError> {
        let until = Instant::now() + PATIENCE;
        let named = json!(OperationRequest::of(&operation)?);
        loop {
            if let Some(service) = self.service() {
                return service.call(&Requester::Terminal, operation).await;
            }
            if let Some(response) = ask_owner(&self.settings.data, &named, drop).await? {
                return read_response(response);
            }
            if Instant::now() > until {
                return Err(silent());
            }
            tokio::time::sleep(AGAIN).await;
            self.inside = enter(&self.settings, self.purpose, self.notice).await?;
        }
    }

    /// One message, followed to the end of its turn.
    pub async fn send_message(
        &mut self,
        message: SendMessage,
        observer: Observer,
    ) -> Result<TurnSummaryLine, ServiceError> {
        let turn = self.perform(Request::Send(message), observer).await?;
        read_response(turn)
    }

    pub async fn run_code(
        &mut self,
        run: RunCode,
        observer: Observer,
    ) -> Result<RunReport, ServiceError> {
        let report = self.perform(Request::Run(run), observer).await?;
        read_response(report)
    }

    /// A second way to the owner, while the first is waited at.
    pub fn beside(&self) -> SideClient {
        SideClient {
            service: self.service().cloned(),
            data: self.settings.data.clone(),
        }
    }

    /// Waits for what other processes have asked, then lets go of the directory.
    pub async fn close(self) {
        let Some(inside) = self.inside else {
            return;
        };
        let service = &inside.surfaces.service;
        service.mcp_servers().shutdown().await;
        service.plugins().shutdown().await;
        if let Some(serving) = inside.serving {
            if inside.visitors.leave().await {
                tokio::time::sleep(FAREWELL).await;
            }
            serving.abort();
            // Cancelled, as it was just told.
            let _ = serving.await;
        }
        service.leave().await;
    }
}

/// What a process that owns the directory and is at work answers; `None` where there is none. It opens
/// nothing here.
pub async fn call_running<O: Operation>(
    data: &Path,
    operation: &O,
) -> Result<Option<O::Response>, ServiceError> {
    let named = json!(OperationRequest::of(operation)?);
    let response = ask_owner(data, &named, drop).await?;
    response.map(read_response).transpose()
}

/// An answer of another shape than this version expects.
fn read_response<T: DeserializeOwned>(response: Json) -> Result<T, ServiceError> {
    serde_json::from_value(response).map_err(|error| {
        ServiceError::refused(
            format!("the running callgate answered what this one cannot read: {error}"),
            "use the same version of callgate for both",
        )
    })
}

async fn ask_owner(
    data: &Path,
    request: &Json,
    heard: impl FnMut(Json),
) -> Result<Option<Json>, ServiceError> {
    let asked = callgate_store::request(data, request, heard).await;
    match asked.and_then(|answer| Ok(serde_json::from_value(answer)?)) {
        Ok(Answer::Done(value)) => Ok(Some(value)),
        Ok(Answer::Failed(failure)) => Err(failure),
        Ok(Answer::Closing) | Err(ControlError::NotRunning(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Asks whoever owns the directory now; it never becomes the owner itself.
#[derive(Clone)]
pub struct SideClient {
    /// `None`: another process owns the directory.
    service: Option<Service>,
    data: PathBuf,
}

impl SideClient {
    pub async fn call<O: Operation>(&self, operation: O) -> Result<O::Response, ServiceError> {
        if let Some(service) = &self.service {
            return service.call(&Requester::Terminal, operation).await;
        }
        let response = call_running(&self.data, &operation).await?;
        response.ok_or_else(silent)
    }

    pub async fn perform(&self, request: Request) -> Result<Json, ServiceError> {
        if let Some(service) = &self.service {
            return service.answer(request, Observer::default()).await;
        }
        let answer = ask_owner(&self.data, &json!(request), drop).await?;
        answer.ok_or_else(silent)
    }
}

fn silent() -> ServiceError {
    ServiceError::refused(
        "another callgate is running on this data directory and does not answer",
        "wait for it to end, or choose another directory with --data DIR",
    )
}

async fn enter(
    settings: &Settings,
    purpose: Purpose,
    notice: Notice,
) -> Result<Option<InProcess>, ServiceError> {
    let owner = match Owner::acquire(&settings.data) {
        Ok(owner) => Arc::new(owner),
        Err(OwnerError::Held(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let surfaces = Surfaces::new(Service::open(settings).await?);
    let visitors = Arc::new(ActiveRequests::default());
    let serving = match purpose {
        Purpose::Look => None,
        _ => Some(serve(owner.clone(), surfaces.clone(), visitors.clone())),
    };
    // Served before recovering: what is recovered may wait for an answer.
    if let Purpose::Work | Purpose::Talk = purpose {
        recover(&surfaces.service, notice, purpose == Purpose::Talk).await?;
    }
    Ok(Some(InProcess {
        surfaces,
        visitors,
        serving,
        _owner: owner,
    }))
}

/// What the last owner left: runs, each of which is told of, and `turns`. A run may take long; no chat
/// waits for it.
pub async fn recover(service: &Service, notice: Notice, turns: bool) -> Result<(), ServiceError> {
    let tell = |recovered: Vec<RecoveredRun>| {
        for RecoveredRun { run, what } in recovered {
            notice(&format!("recovered run {}: {what}", run.0));
        }
    };
    tell(service.end_cut_off().await?);
    let runs = async {
        tell(service.recover_runs().await?);
        Ok(())
    };
    let turns = async {
        if turns {
            service.recover_turns().await?;
        }
        Ok(())
    };
    let (runs, turns) = tokio::join!(runs, turns);
    runs.and(turns)
}

fn serve(owner: Arc<Owner>, surfaces: Surfaces, visitors: Arc<ActiveRequests>) -> JoinHandle<()> {
    let lines = Arc::new(McpChannels::default());
    let handler: Handler = Arc::new(move |request, events| {
        let (surfaces, visitors, lines) = (surfaces.clone(), visitors.clone(), lines.clone());
        Box::pin(async move {
            let service = &surfaces.service;
            if let Ok(named) = OperationRequest::deserialize(&request) {
                let Some(_visit) = visitors.enter() else {
                    return json!(Answer::Closing);
                };
                return match call_named(service, named).await {
                    Ok(response) => json!(Answer::Done(response)),
                    Err(error) => json!(Answer::Failed(error)),
                };
            }
            let request = match serde_json::from_value(request) {
                Ok(request) => request,
                Err(error) => return json!(Answer::Failed(not_understood(error))),
            };
            let observer = Observer {
                events: Some(forwarded(events.clone())),
                ..Observer::default()
            };
            if let Request::McpOpen { connection } = request {
                // No visitor either: it stays as long as its client does.
                lines.open(&surfaces.mcp, connection, events).await;
                return json!(Answer::Closing);
            }
            if let Request::Listen { .. } = request {
                // Nothing is waited for: who listens is no visitor, and leaves when it likes.
                tokio::select! {
                    _ = service.answer(request, observer) => {}
                    () = events.closed() => {}
                }
                return json!(Answer::Closing);
            }
            let Some(_visit) = visitors.enter() else {
                return json!(Answer::Closing);
            };
            let answered = match request {
                Request::McpSay { connection, line } => lines.say(&connection, line).await,
                request => service.answer(request, observer).await,
            };
            match answered {
                Ok(value) => json!(Answer::Done(value)),
                Err(failure) => json!(Answer::Failed(failure)),
            }
        })
    });
    tokio::spawn(async move {
        if let Err(error) = owner.serve(handler).await {
            tracing::warn!(%error, "control socket failed; other commands cannot reach this process");
        }
    })
}

async fn call_named(service: &Service, named: OperationRequest) -> Result<Json, ServiceError> {
    let known = OPERATIONS.iter().find(|it| it.name == named.operation);
    let unknown = || not_understood(format!("there is no operation '{}'", named.operation));
    let known = known.ok_or_else(unknown)?;
    // The socket asks for a secret that only the directory's own user can read.
    known
        .call(service, &Requester::Terminal, named.request)
        .await
}

fn not_understood(reason: impl std::fmt::Display) -> ServiceError {
    ServiceError::refused(
        format!("the running callgate does not understand this: {reason}"),
        "use the same version of callgate for both",
    )
}

fn forwarded(events: Events) -> EventListener {
    Arc::new(move |event| events.tell(json!(event)))
}
