//! [`Service`]: the parts of the product put together on one data directory. It neither parses nor
//! prints, and it knows no surface.

mod approvals;
mod calls;
mod configuration;
mod mcp;
mod models;
mod outlets;
mod plugin_web;
mod plugins;
mod recovery;
mod runs;
mod turns;

pub(crate) use plugins::wall_advice;

pub use outlets::OPENAI_PLATFORM;
pub use plugin_web::{ForwardRequest, PluginWebError, Visit, Webhook};
pub use recovery::RecoveredRun;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate_agent::{Agent, Coder, Watch, search::Meanings};
use callgate_builtins::fetch::Fetcher;
use callgate_contract::{
    Budget, Caller, Cancel, Grant, JournalId, NamedModel, OutputListener, Role, SessionKey, Surface,
};
use callgate_gate::Gate;
use callgate_plugins::mcp::McpServers;
use callgate_sandbox::Jail;
use callgate_store::Store;
use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};
use serde_json::{Value as Json, json};
use tokio::sync::OnceCell;

use crate::{
    CountedSandbox, ErrorCode, EventListener, Gauges, Hint, Jobs, Live, Logs, Metrics, Platforms,
    Remote, Requester, ServiceError,
    config::{self, Config},
    operations::TurnSummaryLine,
    packages,
    plugins::GivenPlugin,
    request::Request,
};

use plugins::PluginHost;
use runs::ActiveRuns;

/// Messages that one run or call may send.
const MESSAGES: u64 = 1_000;

/// Where to work, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    pub data: PathBuf,
    /// Where changes of the configuration are written.
    pub file: PathBuf,
    pub config: Config,
    /// A model that this process alone has, besides the configured ones.
    pub model: Option<String>,
    /// The only model, in the place of all others.
    pub only_model: Option<NamedModel>,
    /// Plugins that this process alone has, besides the installed ones.
    pub plugins: Vec<PathBuf>,
    /// The same, once they are read.
    pub given: Vec<GivenPlugin>,
    /// The lines that this process writes.
    pub logs: Logs,
}

impl Settings {
    /// The defaults, in a directory of its own.
    pub fn at(data: PathBuf) -> Self {
        Settings {
            file: data.join("callgate.toml"),
            data,
            config: Config::default(),
            model: None,
            only_model: None,
            plugins: Vec::new(),
            given: Vec::new(),
            logs: Logs::default(),
        }
    }
}

/// What the asker wants to hear while it waits. Of another process, only events arrive.
#[derive(Default)]
pub struct Observer {
    pub output: Option<OutputListener>,
    /// Sees calls as they are answered.
    pub watch: Watch,
    /// Told the number and method of each approval the run waits for.
    pub asked: Option<fn(i64, &str)>,
    pub events: Option<EventListener>,
    pub cancel: Cancel,
}

/// Clones share everything.
#[derive(Clone)]
pub struct Service {
    configuration: Arc<Configuration>,
    store: Store,
    gate: Gate,
    code: Arc<CodeExecution>,
    agent: Arc<LazyAgent>,
    plugin_host: Arc<PluginHost>,
    mcp_servers: McpServers,
    remote: Remote,
    platforms: Platforms,
    /// The one way to what a URL from a stranger names: from where the operator lets pages be fetched,
    /// nowhere unless they said so.
    fetcher: Fetcher,
    live: Arc<Live>,
    jobs: Jobs,
    logs: Logs,
    metrics: Arc<Metrics>,
    /// What began later is ours, and not to be recovered.
    started_at: Timestamp,
}

struct Configuration {
    data: PathBuf,
    /// Where changes are written.
    file: PathBuf,
    /// Rules all that cannot change while we run.
    at_start: Config,
    /// As it was last read.
    latest: RwLock<Arc<Config>>,
}

/// Code in the sandbox.
struct CodeExecution {
    coder: Coder,
    jail: Arc<Jail>,
    running: Arc<ActiveRuns>,
    /// What code finds besides the standard library.
    packages: Vec<String>,
}

type AgentHook = Box<dyn FnOnce(&Agent) + Send>;

/// Made when it is first needed: models may have to be looked for.
struct LazyAgent {
    made: OnceCell<Agent>,
    /// Of surfaces that wait for it. A mutex, held for a push or while they are called, once.
    hooks: Mutex<Vec<AgentHook>>,
    /// Methods by meaning, once it is made.
    meanings: Meanings,
    /// The models of this process alone, as [`Settings`] has them.
    named_model: Option<String>,
    only_model: Option<NamedModel>,
    /// What providers say against the keys of models, by the model's id. A mutex held for a look.
    refused_keys: Mutex<BTreeMap<String, String>>,
}

impl Service {
    pub async fn open(settings: &Settings) -> Result<Service, ServiceError> {
        let store = Store::open(settings.config.store(&settings.data)).await?;
        let gate = Gate::new(store.clone(), settings.config.policy());
        gate.follow_rules().await?;
        gate.set_preferred(settings.config.plugins.prefer.clone());
        let built_in = callgate_builtins::with(store.clone(), settings.config.methods()?);
        let meanings = Meanings::default();
        let search = callgate_agent::search::methods::all(&gate, &meanings);
        for method in built_in.into_iter().chain(search) {
            gate.register(method).map_err(|error| {
                ServiceError::refused(error.to_string(), "this is a fault of callgate: report it")
            })?;
        }
        let remote = settings.config.remote.settings();
        let remote = Remote::new(store.clone(), gate.clone(), remote);
        let mcp_servers = McpServers::new(&gate, config::mcp::settings(&settings.config.mcp)?);
        let installed = packages::installed_at(&settings.data);
        let packages = packages::list(&settings.data);
        let jail = settings
            .config
            .jail(store.files().sessions_path(), installed);
        let jail = Arc::new(Jail::new(jail));
        let metrics = Arc::new(Metrics::new(store.clone()));
        metrics.watch(&gate);
        let coder = Coder {
            gate: gate.clone(),
            store: store.clone(),
            sandbox: Arc::new(CountedSandbox::new(jail.clone(), metrics.clone())),
            limits: settings.config.limits(),
        };
        let names: Vec<String> = packages
            .iter()
            .map(|package| package.name.clone())
            .collect();
        let plugin_host = PluginHost::open(settings, gate.clone(), store.clone(), &names)?;
        let live: Arc<Live> = Arc::default();
        Ok(Service {
            configuration: Arc::new(Configuration {
                data: settings.data.clone(),
                file: settings.file.clone(),
                at_start: settings.config.clone(),
                latest: RwLock::new(Arc::new(settings.config.clone())),
            }),
            store,
            gate,
            code: Arc::new(CodeExecution {
                coder,
                jail,
                running: Arc::default(),
                packages: names,
            }),
            agent: Arc::new(LazyAgent {
                made: OnceCell::new(),
                hooks: Mutex::default(),
                meanings,
                named_model: settings.model.clone(),
                only_model: settings.only_model.clone(),
                refused_keys: Mutex::default(),
            }),
            plugin_host: Arc::new(plugin_host),
            mcp_servers,
            remote,
            platforms: Platforms::knowing(&settings.config.platform),
            fetcher: Fetcher::new(settings.config.methods()?.fetch),
            jobs: Jobs::new(live.clone()),
            live,
            logs: settings.logs.clone(),
            metrics,
            started_at: Timestamp::now(),
        })
    }

    /// In a task of its own: what has begun goes on when whoever asked has left.
    pub async fn detached<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, ServiceError>> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let cut_off = |_| {
            let message = "this was cut off";
            Err(ServiceError::new(ErrorCode::Internal, message, Hint::Log))
        };
        tokio::spawn(work).await.unwrap_or_else(cut_off)
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    pub fn logs(&self) -> &Logs {
        &self.logs
    }

    pub(crate) fn data(&self) -> &Path {
        &self.configuration.data
    }

    pub(crate) fn started_at(&self) -> Timestamp {
        self.started_at
    }

    pub fn config(&self) -> &Config {
        &self.configuration.at_start
    }

    pub(crate) fn config_file(&self) -> &Path {
        &self.configuration.file
    }

    pub(crate) fn configured(&self) -> Arc<Config> {
        self.configuration.latest.read().clone()
    }

    pub(crate) fn set_configured(&self, config: Config) {
        *self.configuration.latest.write() = Arc::new(config);
    }

    pub fn jail(&self) -> &Arc<Jail> {
        &self.code.jail
    }

    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    pub fn platforms(&self) -> &Platforms {
        &self.platforms
    }

    pub fn live(&self) -> &Arc<Live> {
        &self.live
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Of an address that a request names.
    pub async fn fetch_bytes(&self, url: &str) -> Result<Vec<u8>, String> {
        let fetched = self.fetcher.bytes(url).await;
        fetched.map_err(|error| error.to_string())
    }

    /// Opens an address of ours to plugins, behind whose wall this machine is closed.
    pub async fn let_plugins_reach(&self, address: SocketAddr) {
        self.plugins().let_reach(address).await;
    }

    /// What metrics show of this moment.
    pub fn now(&self) -> Gauges {
        let roster = self.remote.roster();
        let clients = roster.clients();
        let sockets = clients
            .iter()
            .map(|peer| roster.sockets(peer.client()).len());
        let workers = self.plugins().workers().into_iter();
        Gauges {
            waiting: self.code.jail.waiting(),
            sockets: sockets.sum(),
            clients: clients.len(),
            workers: workers
                .map(|worker| {
                    let name = worker.name().to_owned();
                    (name, worker.is_running(), worker.ends().0)
                })
                .collect(),
        }
    }

    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    pub async fn answer(&self, request: Request, observer: Observer) -> Result<Json, ServiceError> {
        Requester::Terminal.require(request.needs())?;
        match request {
            Request::Run(run) => {
                let report = self.run_code(&Requester::Terminal, run, observer);
                Ok(json!(report.await?))
            }
            Request::Send(message) => {
                let sent = self.send_message(&Requester::Terminal, message, observer);
                Ok(json!(sent.await?.map(TurnSummaryLine::from)))
            }
            Request::Listen { session } => match self.listen(&session, observer).await? {},
            // Answered where the protocol is spoken.
            Request::McpOpen { .. } | Request::McpSay { .. } => Ok(Json::Null),
        }
    }

    pub(crate) fn caller(
        &self,
        session: SessionKey,
        (principal, role): (callgate_contract::Principal, Role),
        surface: Surface,
        journal: JournalId,
    ) -> Caller {
        let budget = Budget::new(self.config().limits().calls, MESSAGES);
        Caller {
            session,
            principal,
            role,
            surface,
            journal,
            depth: 0,
            grant: Arc::new(Grant {
                budget,
                ..Grant::everything()
            }),
        }
    }
}
