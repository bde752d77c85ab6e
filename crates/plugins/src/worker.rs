//! [`Worker`]: a process that hosts plugins, started when it is first needed and again after it
//! ended. Nothing is asked twice: what waited for a process that ended is told so.

mod life;
mod load;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use callgate_contract::{Caller, Onlooker, Value};
use parking_lot::Mutex;
use tokio::{net::UnixStream, sync::watch};
use tracing::Instrument;

use crate::{
    Source, WorkerError,
    frame::NamedValues,
    identity::{Identities, IssuedToken},
    link::{Answer, Answers, AskError},
    live::{Patient, WorkerChannels},
    plugins::Inner,
    spawn,
};

pub struct Worker {
    name: String,
    flavour: String,
    plugins: Weak<Inner>,
    identities: Arc<Identities>,
    /// A mutex held for a look.
    state: Mutex<WorkerState>,
    /// One start at a time; held until every plugin is loaded.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct WorkerState {
    current: Option<Arc<RunningProcess>>,
    sources: Vec<Source>,
    /// Deaths in a row, and the last of them.
    deaths: u32,
    died: Option<Instant>,
    blamed: HashMap<String, u32>,
    /// Plugins that were offered and did not load when they were needed, and why.
    failed: HashMap<String, WorkerError>,
    ended: bool,
    /// All ends that nobody asked for, and the reason of the last.
    ends: u32,
    last_end: Option<String>,
}

/// A process and which of the plugins it has by now.
struct RunningProcess {
    live: Arc<WorkerChannels>,
    /// Its interpreter, with the packages that were there for it.
    python: PathBuf,
    /// Ids that are loaded; the flag says that no more are coming.
    loaded: watch::Sender<(Vec<String>, bool)>,
}

impl Worker {
    pub(crate) fn new(name: &str, flavour: &str, plugins: Weak<Inner>) -> Self {
        Worker {
            name: name.to_owned(),
            flavour: flavour.to_owned(),
            plugins,
            identities: Arc::new(Identities::new(name)),
            state: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn flavour(&self) -> &str {
        &self.flavour
    }

    /// Is there a process at this moment?
    pub fn is_running(&self) -> bool {
        let state = self.state.lock();
        state.current.as_ref().is_some_and(|it| !it.live.is_over())
    }

    /// Is there anything that it would load?
    pub(crate) fn has_plugins(&self) -> bool {
        !self.state.lock().sources.is_empty()
    }

    /// A plugin of it that acts for nobody but itself.
    pub(crate) fn background(&self, plugin: &str) -> Caller {
        self.identities.background(None, plugin)
    }

    /// Of the process, while there is one.
    pub fn pid(&self) -> Option<u32> {
        self.current().and_then(|running| running.live.pid())
    }

    /// How often its process ended unasked, and why the last time.
    pub fn ends(&self) -> (u32, Option<String>) {
        let state = self.state.lock();
        (state.ends, state.last_end.clone())
    }

    /// A connection to the routes of the worker's plugins, each below `/<plugin>/`. They are served
    /// from the first time on; whoever connects has checked who asks.
    pub async fn connect_web(self: &Arc<Self>) -> Result<UnixStream, WorkerError> {
        let failed = |reason: String| WorkerError::Web {
            worker: self.name.clone(),
            reason,
        };
        self.ask("web", Vec::new(), None).await?;
        let gone = || failed("the product is being stopped".to_owned());
        let plugins = self.plugins.upgrade().ok_or_else(gone)?;
        let connected = spawn::connect(&plugins.web_socket(&self.name)).await;
        connected.map_err(|error| failed(error.to_string()))
    }

    /// Asks for one step on behalf of `caller`, or of the worker itself. Dropped, it is cancelled.
    pub async fn ask(
        self: &Arc<Self>,
        step: &str,
        arguments: NamedValues,
        caller: Option<&Caller>,
    ) -> Result<Value, WorkerError> {
        let running = self.running().await?;
        running.all_loaded().await;
        self.ask_live(&running.live, step, arguments, caller).await
    }

    /// The same for one plugin's method, which is to blame if the process ends meanwhile.
    pub(crate) async fn call(
        self: &Arc<Self>,
        plugin: &str,
        arguments: NamedValues,
        caller: &Caller,
        progress: &Onlooker,
    ) -> Result<Value, WorkerError> {
        let running = self.running().await?;
        if !running.is_loaded(plugin).await
            && let Some(failure) = self.state.lock().failed.get(plugin)
        {
            return Err(failure.clone());
        }
        let live = &running.live;
        let _busy = live.busy(plugin);
        let span = self.span("call");
        let issued = self.identities.issue(caller, progress.clone(), &span);
        let answer = live
            .main
            .ask_eagerly(Some(issued.bytes()), "call", arguments);
        self.settled(live, answer.instrument(span).await).await
    }

    /// A step with many answers. Dropped, it is cancelled.
    pub async fn stream(
        self: &Arc<Self>,
        step: &str,
        arguments: NamedValues,
        caller: Option<&Caller>,
    ) -> Result<StepStream, WorkerError> {
        let running = self.running().await?;
        running.all_loaded().await;
        let issued = self.issue(caller, &self.span(step));
        let token = issued.as_ref().map(IssuedToken::bytes);
        match running.live.main.stream(token, step, arguments) {
            Ok(answers) => Ok(StepStream {
                answers,
                worker: self.clone(),
                live: running.live.clone(),
                _issued: issued,
            }),
            Err(error) => Err(self.explain(&running.live, error).await),
        }
    }

    async fn ask_live(
        &self,
        live: &WorkerChannels,
        step: &str,
        arguments: NamedValues,
        caller: Option<&Caller>,
    ) -> Result<Value, WorkerError> {
        let span = self.span(step);
        let issued = self.issue(caller, &span);
        let token = issued.as_ref().map(IssuedToken::bytes);
        let answer = live.main.ask(token, step, arguments).instrument(span);
        self.settled(live, answer.await).await
    }

    /// Of one step; what its code asks of the host meanwhile is a part of it.
    fn span(&self, step: &str) -> tracing::Span {
        tracing::debug_span!("worker", worker = self.name, step)
    }

    /// For a step that is no call, whose progress nobody has asked for.
    fn issue(&self, caller: Option<&Caller>, span: &tracing::Span) -> Option<IssuedToken> {
        let caller = caller?;
        let issued = self.identities.issue(caller, Onlooker::default(), span);
        Some(issued)
    }

    async fn settled(
        &self,
        live: &WorkerChannels,
        answer: Result<Answer, AskError>,
    ) -> Result<Value, WorkerError> {
        match answer {
            Ok(Answer::Value(value) | Answer::Item(value)) => Ok(value),
            Ok(Answer::Raised(failure)) => Err(WorkerError::Raised(Box::new(failure))),
            Err(error) => Err(self.explain(live, error).await),
        }
    }

    async fn explain(&self, live: &WorkerChannels, error: AskError) -> WorkerError {
        match error {
            AskError::Unpassable(error) => WorkerError::Unpassable(error.to_string()),
            AskError::Closed => WorkerError::Ended {
                worker: self.name.clone(),
                reason: live.death().await.reason,
            },
        }
    }

    /// While the guard lives, its loop may stand still.
    pub(crate) fn patient(&self) -> Option<Patient> {
        self.current().map(|running| running.live.patient())
    }

    fn limit(&self) -> Duration {
        let plugins = self.plugins.upgrade();
        plugins.map_or(Duration::from_secs(60), |plugins| {
            plugins.options.load_limit
        })
    }

    fn current(&self) -> Option<Arc<RunningProcess>> {
        let state = self.state.lock();
        state.current.clone().filter(|it| !it.live.is_over())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(running) = &self.state.lock().current {
            running.live.kill();
        }
    }
}

/// The answers of one step.
pub struct StepStream {
    answers: Answers,
    worker: Arc<Worker>,
    live: Arc<WorkerChannels>,
    /// What the step's code does meanwhile is done in this name.
    _issued: Option<IssuedToken>,
}

impl StepStream {
    /// `None` after the last. The worker makes the next one only when it is asked for.
    pub async fn next(&mut self) -> Result<Option<Value>, WorkerError> {
        match self.answers.next().await {
            Ok(Answer::Item(value)) => Ok(Some(value)),
            Ok(Answer::Value(_)) => Ok(None),
            Ok(Answer::Raised(failure)) => Err(WorkerError::Raised(Box::new(failure))),
            Err(error) => Err(self.worker.explain(&self.live, error).await),
        }
    }
}

impl RunningProcess {
    /// False if it will not be.
    async fn is_loaded(&self, plugin: &str) -> bool {
        let has = |ids: &[String]| ids.iter().any(|id| id == plugin);
        if has(&self.loaded.borrow().0) {
            return true;
        }
        self.wait(|(ids, done)| *done || has(ids)).await;
        has(&self.loaded.borrow().0)
    }

    async fn all_loaded(&self) {
        self.wait(|(_, done)| *done).await;
    }

    async fn wait(&self, loaded: impl FnMut(&(Vec<String>, bool)) -> bool) {
        let mut seen = self.loaded.subscribe();
        // Of a process that ends meanwhile, the question itself will tell.
        tokio::select! {
            _ = seen.wait_for(loaded) => {}
            _ = self.live.over() => {}
        }
    }
}
