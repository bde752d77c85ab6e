//! The plugins of a data directory: installed ones, the operator's functions, and those a command
//! was given. They are loaded when something first needs them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use callgate_gate::SharedName;
use callgate_plugins::{
    LoadedPlugin, Plugin, PluginOptions, Plugins, Source,
    check::CheckReport,
    install::{InstalledPlugin, Library},
    kept::KeptCode,
    survey::{Survey, survey},
    watch::FileSnapshot,
};
use parking_lot::Mutex;
use serde_json::{Map, json};
use tokio::sync::OnceCell;

use super::{Service, Settings};
use crate::{ServiceError, plugins::GivenPlugin};

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The name of the operator's functions as a plugin.
const FUNCTIONS: &str = "functions";

/// What the service knows of plugins beside [`Plugins`].
pub(super) struct PluginHost {
    pub(super) plugins: Plugins,
    library: Library,
    kept: KeptCode,
    /// The folder of the operator's functions.
    functions: PathBuf,
    given: Vec<GivenPlugin>,
    /// What came of loading them when they were first needed.
    loaded: OnceCell<Vec<CheckReport>>,
    /// What last came of loading each, by path, and what reading told of those that are installed,
    /// by name. Mutexes held for a look.
    reports: Mutex<BTreeMap<PathBuf, CheckReport>>,
    surveys: Mutex<BTreeMap<String, (FileSnapshot, Survey)>>,
}

/// In the reason of a wall that is refused where somebody else listens to system calls, as around some
/// containers.
const NO_GUARD: &str = "cannot have a network guarded";

/// What to do where the kernel refuses the wall of plugins.
pub(crate) fn wall_advice(reason: &str) -> String {
    let hint = if reason.contains(NO_GUARD) {
        "open this machine's addresses to plugins: plugins.local_addresses = [\"*\"]".to_owned()
    } else {
        callgate_sandbox::hint(reason)
    };
    format!("{hint}; or run plugins without one: `callgate serve --unwalled-plugins`")
}

impl PluginHost {
    pub(super) fn open(
        settings: &Settings,
        gate: callgate_gate::Gate,
        store: callgate_store::Store,
        packages: &[String],
    ) -> Result<PluginHost, ServiceError> {
        let mut options = PluginOptions::new(&settings.data);
        // Without an interpreter the first plugin will say so: other commands need none.
        if let Ok(python) = settings.config.python() {
            options.python = python;
        }
        options.packages = packages.to_vec();
        let chosen = &settings.config.plugins;
        options.source_packages = chosen.source_packages;
        options.folders = chosen.folders.clone();
        options.near = settings.config.near()?;
        options.unwalled = chosen.unwalled;
        options.memory = u64::from(chosen.memory_mb.get()) << 20;
        options.advice = wall_advice;
        let broken = |error: std::io::Error| {
            let hint = "check the space and the permissions there with `callgate doctor`";
            ServiceError::refused(format!("plugins cannot be hosted: {error}"), hint)
        };
        let environments = callgate_plugins::environment::Environments::new(
            settings.data.join("environments"),
            options.python.clone(),
            callgate_plugins::library(&settings.data).map_err(broken)?,
        )
        .building_from_source(chosen.source_packages)
        .reaching(options.near.clone())
        .unwalled(chosen.unwalled);
        Ok(PluginHost {
            plugins: Plugins::open(gate, store, options).map_err(broken)?,
            library: Library::new(&settings.data, environments),
            kept: KeptCode::new(&settings.data),
            functions: settings.data.join(FUNCTIONS),
            given: settings.given.clone(),
            loaded: OnceCell::new(),
            reports: Mutex::default(),
            surveys: Mutex::default(),
        })
    }

    fn functions_source(&self) -> Source {
        Source {
            path: self.functions.clone(),
            flavour: "native".to_owned(),
            worker: "native".to_owned(),
            options: Map::from_iter([(FUNCTIONS.to_owned(), json!(true))]),
            kept: None,
        }
    }

    /// Everything that is to be loaded, with what is known of it.
    fn sources(&self) -> Vec<GivenPlugin> {
        let mut sources = Vec::new();
        if !FileSnapshot::at(&self.functions).is_empty() {
            sources.push(unread(self.functions_source()));
        }
        let installed = self.library.list().into_iter().filter(|it| it.enabled);
        sources.extend(installed.map(|plugin| unread(self.source(&plugin))));
        sources.extend(self.given.iter().cloned());
        sources
    }

    fn source(&self, installed: &InstalledPlugin) -> Source {
        Source {
            path: self.library.code(&installed.name),
            flavour: installed.flavour.clone(),
            worker: installed.worker.clone(),
            options: Map::new(),
            kept: None,
        }
    }
}

/// When plugins are loaded: now, whatever is known of them, or when one of them is needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LoadPolicy {
    Now,
    Later,
    /// Now, to see whether they load: no earlier version stands in.
    Tried,
}

fn unread(source: Source) -> GivenPlugin {
    let survey = Survey {
        path: source.path.clone(),
        flavour: Some(source.flavour.clone()),
        name: source.name(),
        ..Survey::default()
    };
    GivenPlugin {
        source,
        survey,
        notes: Vec::new(),
    }
}

impl Service {
    pub fn plugins(&self) -> &Plugins {
        &self.plugin_host.plugins
    }

    pub(crate) fn library(&self) -> &Library {
        &self.plugin_host.library
    }

    /// The loaded plugin that somebody means by its id, or by the name of its folder.
    pub(crate) fn find_plugin(&self, name: &str) -> Option<Plugin> {
        let by_id = self.plugins().plugin(name);
        let mut plugins = self.plugins().list().into_iter();
        by_id.or_else(|| plugins.find(|it| it.source.name() == name))
    }

    /// The worker that a plugin of the command line was to run in.
    pub(crate) fn intended_worker(&self, path: &Path) -> Option<&str> {
        let mut given = self.plugin_host.given.iter();
        let found = given.find(|it| it.source.path == path)?;
        Some(&found.source.worker)
    }

    /// What last came of loading each plugin, by its path.
    pub(crate) fn plugin_reports(&self) -> BTreeMap<PathBuf, CheckReport> {
        self.plugin_host.reports.lock().clone()
    }

    /// What an installed plugin was when it was last loaded, if it has not changed since.
    pub(crate) fn last_description(&self, installed: &InstalledPlugin) -> Option<LoadedPlugin> {
        self.plugins()
            .last_description(&self.plugin_host.source(installed))
    }

    /// Loads what is to be loaded, the first time it is asked; what came of it.
    pub async fn with_plugins(&self) -> &[CheckReport] {
        let load = || async {
            self.mcp_servers.start(true).await;
            let reports = self
                .load(self.plugin_host.sources(), LoadPolicy::Later)
                .await;
            reports.iter().for_each(tell);
            reports
        };
        self.plugin_host.loaded.get_or_init(load).await
    }

    /// What plugins ask of the host, also while they load, the agent answers in part.
    async fn wire_for_plugins(&self) {
        if let Err(failure) = self.agent.made.get_or_try_init(|| self.wire()).await {
            tracing::warn!(
                reason = failure.message,
                "no agent; plugins cannot reach models or send messages"
            );
        }
    }

    /// Only what the command was given, and nothing that is installed.
    pub async fn load_given(&self) -> Vec<CheckReport> {
        self.load(self.plugin_host.given.clone(), LoadPolicy::Tried)
            .await
    }

    async fn load(&self, given: Vec<GivenPlugin>, need: LoadPolicy) -> Vec<CheckReport> {
        if given.is_empty() {
            return Vec::new();
        }
        self.wire_for_plugins().await;
        let sources = given.iter().map(|given| given.source.clone()).collect();
        let mut results = match need {
            LoadPolicy::Now | LoadPolicy::Tried => self.plugin_host.plugins.load(sources).await,
            LoadPolicy::Later => self.plugin_host.plugins.adopt(sources).await,
        };
        let mut reports = Vec::new();
        for given in given {
            let found = results
                .iter()
                .position(|(source, _)| source.path == given.source.path);
            let Some((_, result)) = found.map(|index| results.remove(index)) else {
                continue;
            };
            let notes = given.notes.clone();
            let mut report =
                CheckReport::new(&given.survey, result.as_ref(), notes, self.provided());
            if need != LoadPolicy::Tried {
                self.keep_going(&given.source, &mut report, result.is_ok())
                    .await;
            }
            self.note(&given, &report);
            // Not kept: what others are called may change.
            report.shadows = self.shadows_of(report.id.as_deref().unwrap_or_default());
            reports.push(report);
        }
        reports
    }

    /// Keeps the code of what has loaded, and goes on with what was kept of that which has not.
    async fn keep_going(&self, source: &Source, report: &mut CheckReport, is_loaded: bool) {
        let kept = self.plugin_host.kept.clone();
        if is_loaded {
            let source = source.clone();
            let keeping = tokio::task::spawn_blocking(move || kept.keep(&source));
            if let Ok(Err(error)) = keeping.await {
                tracing::debug!(plugin = report.name, %error, "a plugin's code is not kept");
            }
            return;
        }
        let Some(code) = kept.before(source) else {
            return;
        };
        let before = Source {
            kept: Some(code),
            ..source.clone()
        };
        let loaded = self.plugin_host.plugins.load(vec![before]).await;
        if loaded.iter().any(|(_, result)| result.is_ok())
            && let Some(error) = &mut report.error
        {
            error.push_str("; the version before goes on");
        }
    }

    /// Names of a plugin's methods that others have too, in words.
    pub(crate) fn shadows_of(&self, plugin: &str) -> Vec<String> {
        let mut told = Vec::new();
        for SharedName {
            name,
            means,
            behind,
        } in self.gate().shared_names()
        {
            let own = format!("plugin:{plugin}/{name}");
            if means == own {
                told.extend(behind.iter().map(|other| {
                    format!("{name} means this plugin's method and not {other}; plugins.prefer = [\"{other}\"] gives the name back")
                }));
            } else if behind.contains(&own) {
                told.push(format!("{name} means {means} and not this plugin's method; plugins.prefer = [\"{own}\"] gives it the name"));
            }
        }
        told
    }

    fn note(&self, given: &GivenPlugin, report: &CheckReport) {
        let path = given.source.path.clone();
        let name = given.source.name();
        if let Some(id) = &report.id
            && self.plugin_host.library.code(&name) == path
            && let Err(error) = self.plugin_host.library.learn(&name, id)
        {
            tracing::debug!(%error, "what a plugin calls itself is not noted");
        }
        self.plugin_host.reports.lock().insert(path, report.clone());
    }

    /// What reading tells of installed plugins, each read again when its files change.
    pub(crate) async fn plugin_surveys(
        &self,
        installed: &[InstalledPlugin],
    ) -> BTreeMap<String, Survey> {
        let looks: Vec<(String, PathBuf, FileSnapshot)> = installed
            .iter()
            .map(|it| (it.name.clone(), self.plugin_host.library.code(&it.name)))
            .map(|(name, path)| (name, path.clone(), FileSnapshot::at(&path)))
            .collect();
        let unread: Vec<(String, PathBuf, FileSnapshot)> = {
            let known = self.plugin_host.surveys.lock();
            let is_new = |(name, _, look): &&(String, PathBuf, FileSnapshot)| {
                known.get(name).is_none_or(|(seen, _)| seen != look)
            };
            looks.iter().filter(is_new).cloned().collect()
        };
        if !unread.is_empty() {
            let environments = self.plugin_host.library.environments().clone();
            let reading = tokio::task::spawn_blocking(move || {
                let paths: Vec<&Path> = unread.iter().map(|(_, path, _)| path.as_path()).collect();
                let found = survey(&environments, &paths).unwrap_or_default();
                unread.into_iter().zip(found).collect::<Vec<_>>()
            });
            let read = reading.await.unwrap_or_default();
            let mut known = self.plugin_host.surveys.lock();
            for ((name, _, look), found) in read {
                known.insert(name, (look, found));
            }
        }
        let known = self.plugin_host.surveys.lock();
        let named = |(name, _, _): &(String, PathBuf, FileSnapshot)| {
            Some((name.clone(), known.get(name)?.1.clone()))
        };
        looks.iter().filter_map(named).collect()
    }

    /// Loads them now, and the operator learns of what did not load.
    async fn load_and_tell(&self, given: Vec<GivenPlugin>) -> Vec<CheckReport> {
        let reports = self.load(given, LoadPolicy::Now).await;
        reports.iter().for_each(tell);
        reports
    }

    /// Loads plugins again from their files; also those that came or went since.
    pub(crate) async fn reload_plugins(&self, name: Option<&str>) -> Vec<CheckReport> {
        if self.plugin_host.loaded.get().is_none() {
            let found = wanted(self.with_plugins().await, name);
            // What was installed after that loading had begun is not part of it.
            if !found.is_empty() {
                return found;
            }
        }
        let sources = self.plugin_host.sources();
        for plugin in self.plugin_host.plugins.list() {
            let stays = sources
                .iter()
                .any(|it| it.source.path == plugin.source.path);
            if !stays || is_meant(&plugin.source, &plugin.loaded, name) {
                self.plugin_host.plugins.unload(&plugin.loaded.id).await;
            }
        }
        let stays = |path: &PathBuf| sources.iter().any(|it| it.source.path == *path);
        self.plugin_host
            .reports
            .lock()
            .retain(|path, _| stays(path));
        let loaded = self.plugin_host.plugins.list();
        let is_loaded =
            |given: &GivenPlugin| loaded.iter().any(|it| it.source.path == given.source.path);
        let missing: Vec<GivenPlugin> = sources.into_iter().filter(|it| !is_loaded(it)).collect();
        let reports = self.load_and_tell(missing).await;
        wanted(&reports, name)
    }

    /// As long as the service lives: plugins' timers fire, and what changes is loaded again, of the
    /// operator's functions and of plugins that a command was given.
    pub fn follow_plugins(&self) {
        let plugins = self.plugins().clone();
        tokio::spawn(async move { plugins.keep_time(std::future::pending()).await });
        let service = self.clone();
        tokio::spawn(async move {
            service.with_plugins().await;
            let given = service.plugin_host.given.iter().map(|it| it.source.clone());
            let mut followed: Vec<(Source, FileSnapshot)> = given
                .chain([service.plugin_host.functions_source()])
                .map(|source| (source.clone(), FileSnapshot::at(&source.path)))
                .collect();
            loop {
                tokio::time::sleep(LOOK).await;
                for (source, seen) in &mut followed {
                    let now = FileSnapshot::at(&source.path);
                    if now != *seen {
                        *seen = now;
                        service.changed(source).await;
                    }
                }
            }
        });
    }

    async fn changed(&self, source: &Source) {
        tracing::info!(plugin = source.name(), "plugin files changed; reloading");
        let plugins = &self.plugin_host.plugins;
        let known = plugins
            .list()
            .into_iter()
            .find(|it| it.source.path == source.path);
        if let Some(known) = known {
            plugins.unload(&known.loaded.id).await;
        }
        if !FileSnapshot::at(&source.path).is_empty() {
            self.load_and_tell(vec![unread(source.clone())]).await;
        }
    }
}

/// The operator learns of what did not load, and of functions that replace others.
fn tell(report: &CheckReport) {
    let (plugin, path) = (report.name.as_str(), report.path.as_str());
    if let Some(error) = &report.error {
        let hint = report.hint.as_deref().unwrap_or_default();
        let traceback = report.traceback.as_deref().unwrap_or_default();
        tracing::warn!(
            plugin,
            path,
            hint,
            "a plugin does not load: {error}\n{traceback}"
        );
    }
    for shadow in &report.shadows {
        tracing::warn!(plugin, path, "{shadow}");
    }
    if plugin == FUNCTIONS {
        for warning in &report.warnings {
            tracing::warn!(path, "{warning}");
        }
    }
}

fn is_meant(source: &Source, loaded: &LoadedPlugin, name: Option<&str>) -> bool {
    name.is_none_or(|name| name == loaded.id || name == source.name())
}

fn wanted(reports: &[CheckReport], name: Option<&str>) -> Vec<CheckReport> {
    let is_meant = |report: &&CheckReport| {
        let folder = Path::new(&report.path).file_name();
        name.is_none_or(|name| report.id.as_deref() == Some(name) || folder == Some(name.as_ref()))
    };
    reports.iter().filter(is_meant).cloned().collect()
}
