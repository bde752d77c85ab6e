//! [`Plugins`]: every plugin and worker of one data directory. It decides who is loaded where; what a
//! plugin means is its flavour's business, and who may call it the gate's.

mod offer;
mod order;

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::Duration,
};

use callgate_contract::{Caller, Listener, MethodError, Origin, SessionKey, Value};
use callgate_gate::Gate;
use callgate_store::Store;
use parking_lot::Mutex;

use crate::{
    LoadedPlugin, Source, Worker, WorkerError,
    context::Contexts,
    described::DescriptionCache,
    environment::{Environments, InstallError, is_requirement},
    host,
    listener::PluginListener,
    log, python,
    render::Renderer,
    switches::Switches,
    wall::NearAddresses,
};

/// How plugins are hosted.
#[derive(Clone, Debug)]
pub struct PluginOptions {
    pub data: PathBuf,
    /// The interpreter of workers that have no environment of their own.
    pub python: PathBuf,
    /// Further places that workers import from.
    pub paths: Vec<PathBuf>,
    /// Top-level modules that code in the sandbox can import besides the standard library.
    pub packages: Vec<String>,
    /// How often a worker is asked whether it still answers, and how long it may take to.
    pub ping: Duration,
    pub patience: Duration,
    /// How long one plugin may take to load.
    pub load_limit: Duration,
    /// Bytes of address space of one worker; 0 sets no limit.
    pub memory: u64,
    /// Packages without a wheel may be built, which runs their code.
    pub source_packages: bool,
    /// Folders of this machine that the operator lets plugins read and write.
    pub folders: Vec<PathBuf>,
    /// Addresses of this machine and its link that the operator lets plugins reach.
    pub near: NearAddresses,
    /// Plugins run without a wall: the operator's choice.
    pub unwalled: bool,
    /// What to do about a wall that the kernel refused, by its reason.
    pub advice: fn(&str) -> String,
}

impl PluginOptions {
    pub fn new(data: &Path) -> Self {
        PluginOptions {
            data: data.canonicalize().unwrap_or_else(|_| data.to_owned()),
            python: PathBuf::from("python3"),
            paths: Vec::new(),
            packages: Vec::new(),
            ping: Duration::from_secs(2),
            patience: Duration::from_secs(30),
            load_limit: Duration::from_secs(120),
            memory: 8 << 30,
            source_packages: false,
            folders: Vec::new(),
            near: NearAddresses::default(),
            unwalled: false,
            advice: |_| "`callgate doctor` says what to enable".to_owned(),
        }
    }
}

/// Clones share everything. The processes end with the last one.
#[derive(Clone)]
pub struct Plugins(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) options: PluginOptions,
    pub(crate) gate: Gate,
    pub(crate) contexts: Arc<Contexts>,
    pub(crate) library: PathBuf,
    pub(crate) store: Store,
    pub(crate) switches: Arc<Switches>,
    /// Mutexes held for a look; both maps change only when plugins come and go.
    workers: Mutex<BTreeMap<String, Arc<Worker>>>,
    pub(crate) plugins: Mutex<BTreeMap<String, Plugin>>,
    /// Addresses of ours that plugins may reach. A mutex held for a look.
    pub(crate) ours: Mutex<Vec<SocketAddr>>,
    pub(crate) renderer: Renderer,
    pub(crate) described: DescriptionCache,
    this: Weak<Inner>,
}

/// A plugin that is loaded.
#[derive(Clone, Debug)]
pub struct Plugin {
    pub source: Source,
    /// Shared: every message looks through all plugins.
    pub loaded: Arc<LoadedPlugin>,
    pub enabled: bool,
}

/// The operator's setting: ids of plugins that are loaded and not offered.
const DISABLED: &str = "plugins.disabled";

impl Plugins {
    /// Registers what plugins may ask of the host; nothing is started.
    pub fn open(gate: Gate, store: Store, options: PluginOptions) -> io::Result<Plugins> {
        let library = python::unpack(&options.data)?;
        if options.unwalled {
            tracing::warn!("plugins run without a wall, as the operator has chosen");
        }
        let plugins = Plugins(Arc::new_cyclic(|this| Inner {
            contexts: Arc::new(Contexts::new(store.clone())),
            renderer: Renderer::new(&options, library.clone()),
            described: DescriptionCache::new(&options.data),
            options,
            gate,
            library,
            store,
            switches: Arc::default(),
            workers: Mutex::default(),
            plugins: Mutex::default(),
            ours: Mutex::default(),
            this: this.clone(),
        }));
        let inner = &plugins.0;
        for method in host::all(&inner.store, &inner.gate, &inner.this) {
            let name = method.info().name.clone();
            if let Err(error) = inner.gate.register(method) {
                return Err(io::Error::other(format!("{name}: {error}")));
            }
        }
        Ok(plugins)
    }

    pub(crate) fn of(inner: Arc<Inner>) -> Plugins {
        Plugins(inner)
    }

    /// Adds packages to the environment of a worker, which meanwhile may stand still.
    pub(crate) async fn install(
        &self,
        worker: &str,
        specs: Vec<String>,
    ) -> Result<(), InstallError> {
        if let Some(odd) = specs.iter().find(|it| !is_requirement(it)) {
            return Err(InstallError::NoRequirement(odd.clone()));
        }
        let options = &self.0.options;
        let environments = Environments::new(
            options.data.join("environments"),
            options.python.clone(),
            self.0.library.clone(),
        )
        .building_from_source(options.source_packages)
        .reaching(options.near.clone())
        .unwalled(options.unwalled);
        let patient = self.worker(worker).map(|worker| worker.patient());
        let name = worker.to_owned();
        let say = |line: &str| tracing::info!(target: "plugin", "{line}");
        let install = move || environments.extend(&name, &specs, &say);
        let installed = tokio::task::spawn_blocking(install).await;
        drop(patient);
        let installed = installed.unwrap_or_else(|error| {
            Err(InstallError::files(&options.data, io::Error::other(error)))
        });
        installed.map(drop)
    }

    /// Lets plugins reach an address of ours, from those that run to those that will.
    pub async fn let_reach(&self, address: SocketAddr) {
        {
            let mut ours = self.0.ours.lock();
            if !ours.contains(&address) {
                ours.push(address);
            }
        }
        let workers: Vec<_> = self.0.workers.lock().values().cloned().collect();
        for worker in workers {
            worker.let_reach(address).await;
        }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.0.gate
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    /// Where our own Python packages lie.
    pub fn library(&self) -> &Path {
        &self.0.library
    }

    /// The interpreter of a worker: its environment's, where it has one.
    pub fn python_of(&self, worker: &str) -> PathBuf {
        self.0.python_of(worker)
    }

    /// Loads plugins, workers side by side, plugins of one worker in the order given.
    pub async fn load(
        &self,
        sources: Vec<Source>,
    ) -> Vec<(Source, Result<LoadedPlugin, WorkerError>)> {
        let mut by_worker: BTreeMap<String, Vec<Source>> = BTreeMap::new();
        for source in sources {
            by_worker
                .entry(source.worker.clone())
                .or_default()
                .push(source);
        }
        let mut loading = tokio::task::JoinSet::new();
        for sources in by_worker.into_values() {
            let inner = self.0.clone();
            loading.spawn(async move {
                let Some(first) = sources.first() else {
                    return Vec::new();
                };
                inner.worker(first).load(sources).await
            });
        }
        let mut results = Vec::new();
        while let Some(loaded) = loading.join_next().await {
            results.extend(loaded.unwrap_or_default());
        }
        results
    }

    pub async fn unload(&self, plugin: &str) -> bool {
        let Some(known) = self.0.plugins.lock().remove(plugin) else {
            return false;
        };
        self.0
            .gate
            .unregister_origin(&Origin::Plugin(plugin.to_owned()));
        if let Some(worker) = self.worker(&known.source.worker) {
            worker.unload(plugin, &known.source.path).await;
        }
        true
    }

    /// Loads the plugin anew, all its modules fresh; `None` if there is no such plugin.
    pub async fn reload(&self, plugin: &str) -> Option<Result<LoadedPlugin, WorkerError>> {
        let source = self.plugin(plugin)?.source;
        self.unload(plugin).await;
        let results = self.load(vec![source]).await;
        results.into_iter().next().map(|(_, result)| result)
    }

    /// Whether the plugin's methods are offered and its hooks heard; false if there is none.
    pub async fn enable(
        &self,
        plugin: &str,
        enabled: bool,
    ) -> Result<bool, callgate_store::StoreError> {
        let settings = self.0.store.settings();
        let mut disabled: Vec<String> = settings.get(DISABLED).await?.unwrap_or_default();
        disabled.retain(|id| id != plugin);
        if !enabled {
            disabled.push(plugin.to_owned());
        }
        settings.set(DISABLED, &disabled).await?;
        let known = {
            let mut plugins = self.0.plugins.lock();
            plugins.get_mut(plugin).map(|known| {
                known.enabled = enabled;
                known.clone()
            })
        };
        let Some(known) = known else {
            return Ok(false);
        };
        if let Some(worker) = self.worker(&known.source.worker) {
            self.0.offer(&worker, &known);
            let step = if enabled { "enabled" } else { "disabled" };
            let argument = ("plugin".to_owned(), crate::context::text(plugin));
            if let Err(error) = worker.ask(step, vec![argument], None).await {
                tracing::debug!(plugin, step, %error, "a plugin was not told");
            }
        }
        Ok(true)
    }

    /// The same in one session; false if there is no such plugin.
    pub async fn enable_in(
        &self,
        plugin: &str,
        session: &SessionKey,
        enabled: bool,
    ) -> Result<bool, callgate_store::StoreError> {
        if self.plugin(plugin).is_none() {
            return Ok(false);
        }
        let inner = &self.0;
        inner
            .switches
            .set(&inner.store, plugin, session, enabled)
            .await?;
        Ok(true)
    }

    /// The sessions that a plugin is not for, though it is enabled.
    pub fn disabled_in(&self, plugin: &str) -> Vec<SessionKey> {
        self.0.switches.off(plugin)
    }

    /// By id.
    pub fn list(&self) -> Vec<Plugin> {
        self.0.plugins.lock().values().cloned().collect()
    }

    pub fn plugin(&self, id: &str) -> Option<Plugin> {
        self.0.plugins.lock().get(id).cloned()
    }

    pub fn worker(&self, name: &str) -> Option<Arc<Worker>> {
        self.0.workers.lock().get(name).cloned()
    }

    /// The worker that a plugin lives in.
    pub fn worker_of(&self, plugin: &str) -> Option<Arc<Worker>> {
        self.worker(&self.plugin(plugin)?.source.worker)
    }

    /// The working directory of its worker.
    pub fn home_of(&self, plugin: &str) -> Option<PathBuf> {
        Some(self.0.home(&self.plugin(plugin)?.source.worker))
    }

    /// Enabled plugins with a webhook at this endpoint, by id.
    pub fn listening(&self, endpoint: &str) -> Vec<String> {
        let enabled = self.0.enabled().into_iter().map(|plugin| plugin.loaded);
        let listens = |loaded: &Arc<LoadedPlugin>| {
            let hooks = loaded.extra.get("webhooks");
            hooks.is_some_and(|hooks| hooks.get(endpoint).is_some())
        };
        enabled
            .filter(listens)
            .map(|loaded| loaded.id.clone())
            .collect()
    }

    pub fn workers(&self) -> Vec<Arc<Worker>> {
        self.0.workers.lock().values().cloned().collect()
    }

    /// What a step is told of where it happens, on behalf of `caller`.
    pub async fn context(&self, caller: &Caller) -> Result<Value, MethodError> {
        self.0.contexts.of_call(caller).await
    }

    /// What plugins hear of messages and turns.
    pub fn listener(&self) -> Arc<dyn Listener> {
        Arc::new(PluginListener(self.0.this.clone()))
    }

    /// What `plugin` printed, in a file of bounded size; older lines are in the same with `.1`.
    pub fn log_of(&self, plugin: &str) -> PathBuf {
        log::file_of(&self.0.options.data, plugin)
    }

    /// Tells all plugins and ends the processes.
    pub async fn shutdown(&self) {
        let mut ending = tokio::task::JoinSet::new();
        for worker in self.workers() {
            ending.spawn(async move { worker.end().await });
        }
        ending.join_all().await;
    }
}

impl Inner {
    pub(crate) fn enabled(&self) -> Vec<Plugin> {
        let plugins = self.plugins.lock();
        plugins
            .values()
            .filter(|plugin| plugin.enabled)
            .cloned()
            .collect()
    }

    /// Workers with those of their plugins that are enabled.
    pub(crate) fn hearers(&self) -> Vec<(Arc<Worker>, Vec<Plugin>)> {
        let enabled = self.enabled();
        let workers = self.workers.lock();
        let plugins_of = |worker: &Arc<Worker>| {
            let own = enabled
                .iter()
                .filter(|plugin| plugin.source.worker == worker.name());
            own.cloned().collect::<Vec<_>>()
        };
        let hearers = workers
            .values()
            .map(|worker| (worker.clone(), plugins_of(worker)));
        hearers.filter(|(_, plugins)| !plugins.is_empty()).collect()
    }

    pub(crate) fn worker(&self, source: &Source) -> Arc<Worker> {
        let mut workers = self.workers.lock();
        let new = || {
            Arc::new(Worker::new(
                &source.worker,
                &source.flavour,
                self.this.clone(),
            ))
        };
        workers
            .entry(source.worker.clone())
            .or_insert_with(new)
            .clone()
    }

    pub(crate) fn flavour_of(&self, worker: &str) -> Option<String> {
        let workers = self.workers.lock();
        workers
            .get(worker)
            .map(|worker| worker.flavour().to_owned())
    }

    /// A worker has loaded a plugin, for the first time or again, or will when it is needed. Is it
    /// enabled?
    pub(crate) async fn loaded(
        &self,
        worker: &Arc<Worker>,
        source: &Source,
        loaded: &LoadedPlugin,
    ) -> bool {
        self.switches.load(&self.store).await;
        let disabled = self.store.settings().get::<Vec<String>>(DISABLED).await;
        let disabled = disabled.ok().flatten().unwrap_or_default();
        let plugin = Plugin {
            source: source.clone(),
            loaded: Arc::new(loaded.clone()),
            enabled: !disabled.contains(&loaded.id),
        };
        self.offer(worker, &plugin);
        let enabled = plugin.enabled;
        self.plugins.lock().insert(loaded.id.clone(), plugin);
        enabled
    }

    /// Gives a plugin a worker of its own: it was at work when the shared one ended, twice.
    pub(crate) fn move_out(&self, source: Source) {
        let own = Source {
            worker: format!("{}-{}", source.flavour, source.name()),
            ..source
        };
        tracing::warn!(
            plugin = own.name(),
            worker = own.worker,
            "moving plugin to its own worker"
        );
        let Some(inner) = self.this.upgrade() else {
            return;
        };
        tokio::spawn(async move {
            for (source, result) in inner.worker(&own).load(vec![own.clone()]).await {
                if let Err(error) = result {
                    tracing::warn!(plugin = source.name(), %error, "plugin failed to load in its own worker");
                }
            }
        });
    }
}
