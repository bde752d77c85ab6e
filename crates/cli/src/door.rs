//! [`Door`]: the way to a data directory. One process owns it and does the work; every other asks
//! the owner through the control socket. Which of the two we are may change while we wait.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use callgate_store::{ControlError, Events, Handler, Owner, OwnerError};
use serde_json::{Value as Json, json};
use tokio::{sync::watch, task::JoinHandle, time::Instant};

use crate::{
    app::{App, Hear, Live, Settings},
    failure::Failure,
    plugins,
    request::{Answer, Request},
    show,
};

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

pub struct Door {
    settings: Settings,
    purpose: Purpose,
    /// `None`: another process owns the directory.
    inside: Option<Inside>,
}

struct Inside {
    app: App,
    visitors: Arc<Visitors>,
    /// Serves the socket until the door closes; it also keeps the lock.
    serving: Option<JoinHandle<()>>,
    _owner: Arc<Owner>,
}

impl Door {
    pub async fn open(settings: &Settings, purpose: Purpose) -> Result<Door, Failure> {
        let mut settings = settings.clone();
        settings.given = plugins::given_by(&settings).await?;
        let inside = enter(&settings, purpose).await?;
        if inside.is_none() && !settings.plugins.is_empty() {
            return Err(Failure::new(
                "another callgate is running on this data directory, with plugins of its own",
                "leave out --plugin and install it, or choose another directory with --data DIR",
            ));
        }
        Ok(Door {
            settings,
            purpose,
            inside,
        })
    }

    pub fn is_outside(&self) -> bool {
        self.inside.is_none()
    }

    /// Of the owner, if that is us.
    pub fn app(&self) -> Option<&App> {
        self.inside.as_ref().map(|inside| &inside.app)
    }

    /// Does it here, or has the owner do it; then only events of `live` are heard.
    pub async fn perform(&mut self, request: Request, live: Live) -> Result<Json, Failure> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(inside) = &self.inside {
                return inside.app.answer(request, live).await;
            }
            let heard = |event| {
                if let (Some(hear), Ok(event)) = (&live.events, serde_json::from_value(event)) {
                    hear(event);
                }
            };
            let asked = callgate_store::request(&self.settings.data, &json!(request), heard).await;
            match asked.and_then(|answer| Ok(serde_json::from_value(answer)?)) {
                Ok(Answer::Done(value)) => return Ok(value),
                Ok(Answer::Failed(failure)) => return Err(failure),
                Ok(Answer::Closing) | Err(ControlError::NotRunning(_)) => {}
                Err(error) => return Err(error.into()),
            }
            if Instant::now() > until {
                return Err(silent());
            }
            tokio::time::sleep(AGAIN).await;
            self.inside = enter(&self.settings, self.purpose).await?;
        }
    }

    /// A second way to the owner, while the first is waited at.
    pub fn beside(&self) -> SideDoor {
        SideDoor {
            app: self.app().cloned(),
            data: self.settings.data.clone(),
        }
    }

    /// Waits for what other processes have asked, then lets go of the directory.
    pub async fn close(self) {
        let Some(inside) = self.inside else {
            return;
        };
        inside.app.mcp_servers().shutdown().await;
        inside.app.plugins().shutdown().await;
        if let Some(serving) = inside.serving {
            if inside.visitors.leave().await {
                tokio::time::sleep(FAREWELL).await;
            }
            serving.abort();
            // Cancelled, as it was just told.
            let _ = serving.await;
        }
    }
}

/// What a process that owns the directory and is at work answers; `None` where there is none. It opens
/// nothing here.
pub async fn ask_running(data: &Path, request: &Request) -> Result<Option<Json>, Failure> {
    let asked = callgate_store::request(data, &json!(request), drop).await;
    match asked.and_then(|answer| Ok(serde_json::from_value(answer)?)) {
        Ok(Answer::Done(value)) => Ok(Some(value)),
        Ok(Answer::Failed(failure)) => Err(failure),
        Ok(Answer::Closing) | Err(ControlError::NotRunning(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Asks whoever owns the directory now; it never becomes the owner itself.
#[derive(Clone)]
pub struct SideDoor {
    /// `None`: another process owns the directory.
    app: Option<App>,
    data: PathBuf,
}

impl SideDoor {
    pub async fn perform(&self, request: Request) -> Result<Json, Failure> {
        if let Some(app) = &self.app {
            return app.answer(request, Live::default()).await;
        }
        let answer = ask_running(&self.data, &request).await?;
        answer.ok_or_else(silent)
    }
}

fn silent() -> Failure {
    Failure::new(
        "another callgate is running on this data directory and does not answer",
        "wait for it to end, or choose another directory with --data DIR",
    )
}

async fn enter(settings: &Settings, purpose: Purpose) -> Result<Option<Inside>, Failure> {
    let owner = match Owner::acquire(&settings.data) {
        Ok(owner) => Arc::new(owner),
        Err(OwnerError::Held(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let app = App::open(settings).await?;
    let visitors = Arc::new(Visitors::default());
    let serving = match purpose {
        Purpose::Look => None,
        _ => Some(serve(owner.clone(), app.clone(), visitors.clone())),
    };
    // Served before recovering: what is recovered may wait for an answer.
    if let Purpose::Work | Purpose::Talk = purpose {
        recover_runs(&app).await?;
    }
    if purpose == Purpose::Talk {
        app.recover_turns().await?;
    }
    Ok(Some(Inside {
        app,
        visitors,
        serving,
        _owner: owner,
    }))
}

/// Runs that the last owner left; each is told of.
pub async fn recover_runs(app: &App) -> Result<(), Failure> {
    for recovered in app.recover().await? {
        let (run, what) = (recovered.run.0, recovered.what);
        show::note(&format!("recovered run {run}: {what}"));
    }
    Ok(())
}

fn serve(owner: Arc<Owner>, app: App, visitors: Arc<Visitors>) -> JoinHandle<()> {
    let handler: Handler = Arc::new(move |request, events| {
        let (app, visitors) = (app.clone(), visitors.clone());
        Box::pin(async move {
            let request = match serde_json::from_value(request) {
                Ok(request) => request,
                Err(error) => {
                    let hint = "use the same version of callgate for both";
                    let reason = format!("the running callgate does not understand this: {error}");
                    return json!(Answer::Failed(Failure::new(reason, hint)));
                }
            };
            let live = Live {
                events: Some(forwarded(events.clone())),
                ..Live::default()
            };
            if let Request::McpOpen { connection } = request {
                // No visitor either: it stays as long as its client does.
                app.mcp_open(connection, events).await;
                return json!(Answer::Closing);
            }
            if let Request::Listen { .. } = request {
                // Nothing is waited for: who listens is no visitor, and leaves when it likes.
                tokio::select! {
                    _ = app.answer(request, live) => {}
                    () = events.closed() => {}
                }
                return json!(Answer::Closing);
            }
            let Some(_visit) = visitors.enter() else {
                return json!(Answer::Closing);
            };
            match app.answer(request, live).await {
                Ok(value) => json!(Answer::Done(value)),
                Err(failure) => json!(Answer::Failed(failure)),
            }
        })
    });
    tokio::spawn(async move {
        if let Err(error) = owner.serve(handler).await {
            tracing::warn!(%error, "other commands cannot reach this process");
        }
    })
}

fn forwarded(events: Events) -> Hear {
    Arc::new(move |event| events.tell(json!(event)))
}

/// Counts requests in progress. A watch, since closing must neither miss a visitor that has just
/// come nor shut the door on one: both change the same state.
struct Visitors(watch::Sender<Visiting>);

#[derive(Default)]
struct Visiting {
    inside: usize,
    ever: bool,
    closed: bool,
}

struct Visit(Arc<Visitors>);

impl Default for Visitors {
    fn default() -> Self {
        Visitors(watch::Sender::new(Visiting::default()))
    }
}

impl Visitors {
    fn enter(self: &Arc<Self>) -> Option<Visit> {
        let open = self.0.send_if_modified(|state| {
            if !state.closed {
                state.inside += 1;
                state.ever = true;
            }
            !state.closed
        });
        open.then(|| Visit(Arc::clone(self)))
    }

    /// Returns when nobody is inside and nobody can come any more; true if somebody ever came.
    async fn leave(&self) -> bool {
        let mut changes = self.0.subscribe();
        loop {
            let closed = self.0.send_if_modified(|state| {
                state.closed = state.inside == 0;
                state.closed
            });
            if closed {
                return self.0.borrow().ever;
            }
            // We hold the sender, so there is always one.
            let _ = changes.wait_for(|state| state.inside == 0).await;
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.inside -= 1);
    }
}
