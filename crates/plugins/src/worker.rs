//! [`Worker`]: a process that hosts plugins, started when it is first needed and again after it
//! ended. Nothing is asked twice: what waited for a process that ended is told so.

use std::{
    collections::HashMap,
    os::fd::AsRawFd,
    path::PathBuf,
    sync::{Arc, Mutex, Weak},
    time::{Duration, Instant},
};

use callgate_contract::{Caller, Value, json};
use serde_json::Value as Json;
use tokio::{net::UnixStream, sync::watch, time::timeout};

use crate::{
    Loaded, Source, WorkerError,
    failure::{Failure, described},
    frame::Named,
    identity::{Identities, Issued},
    link::{Answer, Answers, AskError, Link, lock},
    live::{Death, Live, Patient},
    log,
    plugins::Inner,
    serve,
    spawn::{Order, spawn},
};

/// Deaths closer together than this are a row of deaths.
const ROW: Duration = Duration::from_secs(60);
const LONGEST_REST: Duration = Duration::from_secs(60);

pub struct Worker {
    name: String,
    flavour: String,
    plugins: Weak<Inner>,
    identities: Arc<Identities>,
    /// A mutex held for a look.
    state: Mutex<State>,
    /// One start at a time; held until every plugin is loaded.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    current: Option<Arc<Running>>,
    sources: Vec<Source>,
    /// Deaths in a row, and the last of them.
    deaths: u32,
    died: Option<Instant>,
    blamed: HashMap<String, u32>,
    ended: bool,
}

/// A process and which of the plugins it has by now.
struct Running {
    live: Arc<Live>,
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
        let state = lock(&self.state);
        state.current.as_ref().is_some_and(|it| !it.live.is_over())
    }

    /// Of the process, while there is one.
    pub fn pid(&self) -> Option<u32> {
        self.current().and_then(|running| running.live.pid())
    }

    /// A connection to the routes of the worker's plugins, each below `/<plugin>/`. They are served
    /// from the first time on; whoever connects has checked who asks.
    pub async fn connect_web(self: &Arc<Self>) -> Result<UnixStream, WorkerError> {
        let failed = |reason: String| WorkerError::Web {
            worker: self.name.clone(),
            reason,
        };
        let name = self.ask("web", Vec::new(), None).await?;
        let gone = || failed("the product is being stopped".to_owned());
        let home = self.plugins.upgrade().ok_or_else(gone)?.home(&self.name);
        let failed = |error: std::io::Error| failed(error.to_string());
        // By descriptor, since a socket's whole path may have no more than 107 bytes.
        let home = std::fs::File::open(home).map_err(failed)?;
        let number = home.as_raw_fd();
        let socket = format!(
            "/proc/self/fd/{number}/{}",
            name.as_str().unwrap_or_default()
        );
        UnixStream::connect(socket).await.map_err(failed)
    }

    /// Asks for one step on behalf of `caller`, or of the worker itself. Dropped, it is cancelled.
    pub async fn ask(
        self: &Arc<Self>,
        step: &str,
        arguments: Named,
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
        arguments: Named,
        caller: &Caller,
    ) -> Result<Value, WorkerError> {
        let running = self.running().await?;
        running.is_loaded(plugin).await;
        let _busy = running.live.busy(plugin);
        self.ask_live(&running.live, "call", arguments, Some(caller))
            .await
    }

    /// A step with many answers. Dropped, it is cancelled.
    pub async fn stream(
        self: &Arc<Self>,
        step: &str,
        arguments: Named,
        caller: Option<&Caller>,
    ) -> Result<StepStream, WorkerError> {
        let running = self.running().await?;
        running.all_loaded().await;
        let issued = caller.map(|caller| self.identities.issue(caller));
        let token = issued.as_ref().map(Issued::bytes);
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
        live: &Live,
        step: &str,
        arguments: Named,
        caller: Option<&Caller>,
    ) -> Result<Value, WorkerError> {
        let issued = caller.map(|caller| self.identities.issue(caller));
        let token = issued.as_ref().map(Issued::bytes);
        match live.main.ask(token, step, arguments).await {
            Ok(Answer::Value(value) | Answer::Item(value)) => Ok(value),
            Ok(Answer::Raised(failure)) => Err(WorkerError::Raised(Box::new(failure))),
            Err(error) => Err(self.explain(live, error).await),
        }
    }

    async fn explain(&self, live: &Live, error: AskError) -> WorkerError {
        match error {
            AskError::Unpassable(error) => WorkerError::Unpassable(error.to_string()),
            AskError::Closed => WorkerError::Ended {
                worker: self.name.clone(),
                reason: live.death().await.reason,
            },
        }
    }

    /// Adds plugins and loads them now, one after the other. One of a known path is loaded anew.
    pub(crate) async fn load(
        self: &Arc<Self>,
        sources: Vec<Source>,
    ) -> Vec<(Source, Result<Loaded, WorkerError>)> {
        let covered = {
            let mut state = lock(&self.state);
            for source in &sources {
                state.sources.retain(|known| known.path != source.path);
                state.sources.push(source.clone());
            }
            state.current.as_ref().is_none_or(|running| {
                let inside = |source: &Source| {
                    let walls = &running.live.inside;
                    walls.iter().any(|wall| source.path.starts_with(wall))
                };
                sources.iter().all(inside)
            })
        };
        if !covered {
            // A process cannot be let out of its wall: another starts with a wider one.
            self.stop().await;
        }
        let mut known = HashMap::new();
        if self.current().is_none() {
            known = match self.start().await {
                Ok(results) => results,
                Err(error) => sources
                    .iter()
                    .map(|source| (source.path.clone(), Err(error.clone())))
                    .collect(),
            };
        }
        let mut results = Vec::new();
        for source in sources {
            let result = match known.remove(&source.path) {
                Some(result) => result,
                None => self.load_one(&source).await,
            };
            results.push((source, result));
        }
        results
    }

    async fn load_one(self: &Arc<Self>, source: &Source) -> Result<Loaded, WorkerError> {
        let running = self.running().await?;
        self.load_into(&running, source).await
    }

    pub(crate) async fn unload(self: &Arc<Self>, plugin: &str, path: &PathBuf) {
        lock(&self.state)
            .sources
            .retain(|source| source.path != *path);
        if let Some(running) = self.current() {
            running
                .loaded
                .send_modify(|(ids, _)| ids.retain(|id| id != plugin));
            let arguments = vec![("plugin".to_owned(), Value::Str(plugin.to_owned()))];
            let limit = self.limit();
            let asked = self.ask_live(&running.live, "unload", arguments, None);
            match timeout(limit, asked).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::warn!(plugin, %error, "a plugin did not unload cleanly"),
                Err(_) => tracing::warn!(plugin, "a plugin takes too long to unload"),
            }
        }
    }

    /// Ends the process after its plugins have been told.
    pub(crate) async fn stop(&self) {
        let running = lock(&self.state).current.take();
        let Some(running) = running else {
            return;
        };
        let _patient = running.live.patient();
        let told = self.ask_live(&running.live, "shutdown", Vec::new(), None);
        if timeout(Duration::from_secs(10), told).await.is_ok() {
            let _ = timeout(Duration::from_secs(1), running.live.death()).await;
        }
        running.live.kill();
    }

    /// As [`Worker::stop`], for good.
    pub(crate) async fn end(&self) {
        lock(&self.state).ended = true;
        self.stop().await;
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

    fn current(&self) -> Option<Arc<Running>> {
        let state = lock(&self.state);
        state.current.clone().filter(|it| !it.live.is_over())
    }

    /// The process, started now if there is none.
    async fn running(self: &Arc<Self>) -> Result<Arc<Running>, WorkerError> {
        if let Some(running) = self.current() {
            return Ok(running);
        }
        self.start().await?;
        self.current().ok_or_else(|| WorkerError::Ended {
            worker: self.name.clone(),
            reason: "it ended while it started".to_owned(),
        })
    }

    /// Starts the process, unless somebody else just has, and loads every plugin; gives what came
    /// of each.
    async fn start(
        self: &Arc<Self>,
    ) -> Result<HashMap<PathBuf, Result<Loaded, WorkerError>>, WorkerError> {
        let _one_at_a_time = self.starting.lock().await;
        if self.current().is_some() {
            return Ok(HashMap::new());
        }
        let sources = {
            let state = lock(&self.state);
            if state.ended {
                return Err(WorkerError::Ended {
                    worker: self.name.clone(),
                    reason: "it was stopped".to_owned(),
                });
            }
            if let Some(rest) = state.rest() {
                return Err(WorkerError::Resting {
                    worker: self.name.clone(),
                    seconds: rest.as_secs() + 1,
                });
            }
            state.sources.clone()
        };
        let running = self.launch(&sources).map_err(|error| WorkerError::Start {
            worker: self.name.clone(),
            reason: error.to_string(),
        })?;
        let mut results = HashMap::new();
        for source in &sources {
            let result = self.load_into(&running, source).await;
            results.insert(source.path.clone(), result);
        }
        running.loaded.send_modify(|(_, done)| *done = true);
        Ok(results)
    }

    fn launch(self: &Arc<Self>, sources: &[Source]) -> std::io::Result<Arc<Running>> {
        let gone = || std::io::Error::other("the product is being stopped");
        let plugins = self.plugins.upgrade().ok_or_else(gone)?;
        let order: Order = plugins.order(&self.name, &self.flavour, sources)?;
        let mut inside = order.readable.clone();
        inside.extend(order.writable.clone());
        let spawned = spawn(&order)?;
        let (gate, identities) = (plugins.gate.clone(), self.identities.clone());
        let main = Link::open(spawned.main, serve::main(gate.clone(), identities.clone()));
        let lane = Link::open(spawned.lane, serve::lane(gate, identities));
        let live = Arc::new(Live::new(main, lane, spawned.child.id(), inside));
        for pipe in spawned.output {
            let (data, name) = (plugins.options.data.clone(), self.name.clone());
            tokio::spawn(log::follow(pipe, data, name));
        }
        let (ping, patience) = (plugins.options.ping, plugins.options.patience);
        let (watched, worker) = (live.clone(), Arc::downgrade(self));
        tokio::spawn(async move {
            let death = watched
                .watch(spawned.child, spawned.dump, ping, patience)
                .await;
            if let Some(worker) = worker.upgrade() {
                worker.after(&watched, death).await;
            }
        });
        let running = Arc::new(Running {
            live,
            loaded: watch::Sender::default(),
        });
        lock(&self.state).current = Some(running.clone());
        Ok(running)
    }

    async fn load_into(
        self: &Arc<Self>,
        running: &Running,
        source: &Source,
    ) -> Result<Loaded, WorkerError> {
        let result = self.try_load(running, source).await;
        match &result {
            Ok(loaded) => {
                running.live.knows(&loaded.id, source.path.clone());
                let id = loaded.id.clone();
                running.loaded.send_modify(|(ids, _)| ids.push(id));
                if let Some(plugins) = self.plugins.upgrade() {
                    plugins.loaded(self, source, loaded).await;
                }
            }
            Err(_) => lock(&self.state)
                .sources
                .retain(|known| known.path != source.path),
        }
        result
    }

    async fn try_load(&self, running: &Running, source: &Source) -> Result<Loaded, WorkerError> {
        let gone = || WorkerError::Ended {
            worker: self.name.clone(),
            reason: "the product is being stopped".to_owned(),
        };
        let plugins = self.plugins.upgrade().ok_or_else(gone)?;
        let name = source.name();
        running.live.knows(&name, source.path.clone());
        let text = |text: &str| Value::Str(text.to_owned());
        let data = plugins.data_of(&name).display().to_string();
        let options = json::from_json(Json::Object(source.options.clone()));
        let arguments = vec![
            ("path".to_owned(), text(&source.path.display().to_string())),
            ("id".to_owned(), Value::Null),
            ("data".to_owned(), text(&data)),
            (
                "options".to_owned(),
                options.unwrap_or(Value::Dict(Vec::new())),
            ),
        ];
        let _busy = running.live.busy(&name);
        let _patient = running.live.patient();
        let limit = plugins.options.load_limit;
        let asked = self.ask_live(&running.live, "load", arguments, None);
        let value = timeout(limit, asked)
            .await
            .map_err(|_| WorkerError::Deadline {
                step: format!("loading {name}"),
                seconds: limit.as_secs(),
            })??;
        serde_json::from_value(described(&value)).map_err(|error| {
            WorkerError::Raised(Box::new(Failure {
                kind: "TypeError".to_owned(),
                message: format!("the flavour described {name} wrongly: {error}"),
                ..Failure::default()
            }))
        })
    }

    /// The process has ended: others get a new one, at once if this was the first time.
    async fn after(self: &Arc<Self>, live: &Arc<Live>, death: Death) {
        let (rest, evicted, sources) = {
            let mut state = lock(&self.state);
            let ours = state
                .current
                .as_ref()
                .is_some_and(|it| Arc::ptr_eq(&it.live, live));
            if !ours || state.ended {
                // It was stopped.
                return;
            }
            state.current = None;
            let in_a_row = state.died.is_some_and(|died| died.elapsed() < ROW);
            state.deaths = if in_a_row { state.deaths + 1 } else { 1 };
            state.died = Some(Instant::now());
            let evicted = death.blamed.as_ref().and_then(|plugin| state.blame(plugin));
            if evicted.is_some() {
                // The others have done nothing.
                state.deaths = 0;
            }
            (state.rest(), evicted, state.sources.len())
        };
        tracing::warn!(
            worker = self.name,
            reason = death.reason,
            "a plugins' worker ended"
        );
        let plugins = self.plugins.upgrade();
        if let (Some(plugins), Some(path)) = (&plugins, evicted)
            && sources > 1
            && let Some(source) = self.give_up(&path)
        {
            plugins.move_out(source);
        }
        let worker = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(rest.unwrap_or_default()).await;
            if let Err(error) = worker.running().await {
                tracing::warn!(worker = worker.name, %error, "a plugins' worker does not start again");
            }
        });
    }

    fn give_up(&self, name: &str) -> Option<Source> {
        let plugins = self.plugins.upgrade()?;
        let mut state = lock(&self.state);
        let index = state.sources.iter().position(|source| {
            source.name() == name || plugins.path_of(name).as_ref() == Some(&source.path)
        })?;
        Some(state.sources.remove(index))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(running) = &lock(&self.state).current {
            running.live.kill();
        }
    }
}

/// The answers of one step.
pub struct StepStream {
    answers: Answers,
    worker: Arc<Worker>,
    live: Arc<Live>,
    /// What the step's code does meanwhile is done in this name.
    _issued: Option<Issued>,
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

impl State {
    /// How long it is to rest, after several deaths in a row.
    fn rest(&self) -> Option<Duration> {
        let times = self.deaths.checked_sub(2)?;
        let rest = Duration::from_secs(1 << times.min(10)).min(LONGEST_REST);
        rest.checked_sub(self.died?.elapsed())
    }

    /// The plugin, if it has now been at work at two deaths.
    fn blame(&mut self, plugin: &str) -> Option<String> {
        let times = self.blamed.entry(plugin.to_owned()).or_default();
        *times += 1;
        (*times == 2).then(|| plugin.to_owned())
    }
}

impl Running {
    async fn is_loaded(&self, plugin: &str) {
        let loaded = |(ids, done): &(Vec<String>, bool)| *done || ids.iter().any(|id| id == plugin);
        let _ = self.wait(loaded).await;
    }

    async fn all_loaded(&self) {
        let _ = self.wait(|(_, done)| *done).await;
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
