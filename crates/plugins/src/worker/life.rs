//! The life of a worker's process: its start, its end, and what follows an end that nobody asked for.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::watch, time::timeout};

use super::{RunningProcess, Worker, WorkerState};
use crate::{
    LoadedPlugin, Source, WorkerError,
    link::Link,
    live::{Death, WorkerChannels},
    log, python, serve,
    spawn::{Order, spawn},
};

/// Deaths closer together than this are a row of deaths.
const ROW: Duration = Duration::from_secs(60);
const LONGEST_REST: Duration = Duration::from_secs(60);

impl Worker {
    /// Ends the process after its plugins have been told; the next need starts another.
    pub async fn stop(&self) {
        let running = self.state.lock().current.take();
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
        self.state.lock().ended = true;
        self.stop().await;
    }

    /// The process, started now if there is none.
    pub(super) async fn running(self: &Arc<Self>) -> Result<Arc<RunningProcess>, WorkerError> {
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
    pub(super) async fn start(
        self: &Arc<Self>,
    ) -> Result<HashMap<PathBuf, Result<LoadedPlugin, WorkerError>>, WorkerError> {
        let _one_at_a_time = self.starting.lock().await;
        if self.current().is_some() {
            return Ok(HashMap::new());
        }
        let sources = {
            let state = self.state.lock();
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
        self.compile().await;
        let mut results = HashMap::new();
        let mut left = sources;
        loop {
            let running = self.launch(&left).map_err(|error| WorkerError::Start {
                worker: self.name.clone(),
                reason: error.to_string(),
            })?;
            for source in &left {
                let result = self.load_into(&running, source).await;
                results.insert(source.path.clone(), result);
                if running.live.is_over() {
                    break;
                }
            }
            let others = self.state.lock().sources.clone();
            if !running.live.is_over() || others.len() >= left.len() {
                running.loaded.send_modify(|(_, done)| *done = true);
                break;
            }
            // One of them took the process along, and is out: the rest begin anew.
            left = others;
        }
        Ok(results)
    }

    /// Our own packages that its flavour uses, once for each interpreter.
    async fn compile(&self) {
        if let Some(plugins) = self.plugins.upgrade()
            && let Err(error) =
                python::compile(&plugins.library, &self.flavour, &plugins.options.python).await
        {
            tracing::debug!(%error, "our Python packages are not compiled; workers start slower");
        }
    }

    fn launch(self: &Arc<Self>, sources: &[Source]) -> std::io::Result<Arc<RunningProcess>> {
        let gone = || std::io::Error::other("the product is being stopped");
        let plugins = self.plugins.upgrade().ok_or_else(gone)?;
        let order: Order = plugins.order(&self.name, &self.flavour, sources)?;
        let spawned = spawn(&order)?;
        let (gate, identities) = (plugins.gate.clone(), self.identities.clone());
        let main = Link::open(spawned.main, serve::main(gate.clone(), identities.clone()));
        let lane = Link::open(
            spawned.lane,
            serve::lane(gate, identities, Arc::downgrade(self)),
        );
        let (pid, advice) = (spawned.child.id(), plugins.options.advice);
        let (control, wall) = (spawned.control, order.wall);
        let live = WorkerChannels::new([main, lane], pid, control, wall, advice);
        let live = Arc::new(live);
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
        let running = Arc::new(RunningProcess {
            live,
            python: order.python,
            loaded: watch::Sender::default(),
        });
        self.state.lock().current = Some(running.clone());
        Ok(running)
    }

    /// The process has ended: others get a new one, at once if this was the first time.
    async fn after(self: &Arc<Self>, live: &Arc<WorkerChannels>, death: Death) {
        let (rest, evicted, sources) = {
            let mut state = self.state.lock();
            let ours = state
                .current
                .as_ref()
                .is_some_and(|it| Arc::ptr_eq(&it.live, live));
            if !ours || state.ended {
                // It was stopped.
                return;
            }
            state.current = None;
            if death.is_final {
                state.last_end = Some(death.reason.clone());
                tracing::error!(
                    worker = self.name,
                    reason = death.reason,
                    "plugin worker cannot run here; not restarting"
                );
                return;
            }
            let in_a_row = state.died.is_some_and(|died| died.elapsed() < ROW);
            state.deaths = if in_a_row { state.deaths + 1 } else { 1 };
            state.died = Some(Instant::now());
            state.ends += 1;
            state.last_end = Some(death.reason.clone());
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
            "plugin worker stopped; restarting"
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
                tracing::warn!(worker = worker.name, %error, "plugin worker failed to restart");
            }
        });
    }

    fn give_up(&self, name: &str) -> Option<Source> {
        let plugins = self.plugins.upgrade()?;
        let mut state = self.state.lock();
        let index = state.sources.iter().position(|source| {
            source.name() == name || plugins.path_of(name).as_ref() == Some(&source.path)
        })?;
        Some(state.sources.remove(index))
    }
}

impl WorkerState {
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
