//! Every plugin that is there, also one that did not load or is switched off, as one kind of row.

use callgate_contract::{Kind, SessionKey};
use callgate_plugins::{
    LoadedPlugin, Plugin, check::CheckReport, install::InstalledPlugin, survey::Survey,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{Service, processes::memory_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PluginState {
    Running,
    /// It runs in a worker of its own, since it was there when a shared one ended, twice.
    Moved,
    /// Its worker has no process at this moment.
    Stopped,
    /// Its files do not load; where the version before goes on, the error says so.
    Failed,
    Disabled,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PluginView {
    pub id: String,
    pub name: String,
    /// The name it is installed under; none for one that the command line gave.
    pub folder: Option<String>,
    /// `native`, `nekro` or `astrbot`.
    pub flavour: String,
    pub version: String,
    pub author: String,
    pub description: String,
    /// Where it was installed from.
    pub source: Option<String>,
    pub state: PluginState,
    pub enabled: bool,
    /// In the session that was asked for.
    pub enabled_here: bool,
    pub disabled_in: Vec<SessionKey>,
    pub worker: Option<WorkerView>,
    /// Why it did not load.
    pub error: Option<PluginError>,
    pub methods: Vec<PluginMethod>,
    pub commands: Vec<PluginCommand>,
    pub hooks: Vec<String>,
    pub warnings: Vec<String>,
    /// Names of its methods that others have too, and which of them is meant.
    pub shadows: Vec<String>,
    /// What it needs and is not configured.
    pub needs: Vec<String>,
    pub has_config: bool,
    /// Where its own pages are, if it has routes.
    pub web: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorkerView {
    pub name: String,
    pub pid: Option<u32>,
    pub memory_bytes: Option<u64>,
    /// Ends that nobody asked for.
    pub restarts: u32,
    /// Why the process last ended.
    pub last_end: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PluginError {
    pub message: String,
    pub hint: Option<String>,
    pub traceback: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PluginMethod {
    pub name: String,
    pub kind: Kind,
    pub title: String,
    pub description: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PluginCommand {
    pub name: String,
    pub aliases: Vec<String>,
    pub description: String,
    pub usage: String,
}

impl Service {
    pub(crate) async fn plugin_views(&self, session: Option<&SessionKey>) -> Vec<PluginView> {
        self.with_plugins().await;
        let installed = self.library().list();
        let mut reports = self.plugin_reports();
        let surveys = self.plugin_surveys(&installed).await;
        let mut views = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        for plugin in self.plugins().list() {
            let path = &plugin.source.path;
            let own = installed
                .iter()
                .find(|it| self.library().code(&it.name) == *path);
            seen.extend(own.map(|it| it.name.clone()));
            let report = reports.remove(path);
            let survey = surveys.get(&plugin.source.name());
            views.push(self.loaded_view(&plugin, own, report.as_ref(), survey, session));
        }
        for plugin in installed.iter().filter(|it| !seen.contains(&it.name)) {
            let report = reports.remove(&self.library().code(&plugin.name));
            let loaded = self.last_description(plugin);
            views.push(installed_view(
                plugin,
                loaded,
                report,
                surveys.get(&plugin.name),
                self.provided(),
            ));
        }
        // What a command gave, or the operator's functions, and did not load.
        let failed = reports
            .into_values()
            .filter(|report| report.error.is_some());
        views.extend(failed.map(failed_view));
        views.sort_by(|one, other| one.id.cmp(&other.id));
        views
    }

    fn loaded_view(
        &self,
        plugin: &Plugin,
        installed: Option<&InstalledPlugin>,
        report: Option<&CheckReport>,
        survey: Option<&Survey>,
        session: Option<&SessionKey>,
    ) -> PluginView {
        let Plugin {
            source,
            loaded,
            enabled,
        } = plugin;
        let worker = self.plugins().worker(&source.worker);
        let is_running = worker.as_ref().is_some_and(|worker| worker.is_running());
        let meant = installed.map(|it| it.worker.as_str());
        let meant = meant.or_else(|| self.intended_worker(&source.path));
        let moved = source.worker != meant.unwrap_or(&source.flavour);
        let state = match (enabled, is_running, moved) {
            (false, _, _) => PluginState::Disabled,
            _ if source.kept.is_some() => PluginState::Failed,
            (true, false, _) => PluginState::Stopped,
            (true, true, true) => PluginState::Moved,
            (true, true, false) => PluginState::Running,
        };
        let disabled_in = self.plugins().disabled_in(&loaded.id);
        let here = session.is_none_or(|session| !disabled_in.contains(session));
        let mut warnings = report.map_or_else(Vec::new, |report| report.warnings.clone());
        warnings.extend(survey.into_iter().flat_map(|it| it.warnings.clone()));
        warnings.extend(loaded.warnings.clone());
        warnings.sort();
        warnings.dedup();
        PluginView {
            id: loaded.id.clone(),
            name: loaded.name.clone(),
            folder: installed.map(|it| it.name.clone()),
            flavour: source.flavour.clone(),
            version: loaded.version.clone(),
            author: loaded.author.clone(),
            description: loaded.description.clone(),
            source: installed.map(|it| it.source.clone()),
            state,
            enabled: *enabled,
            enabled_here: *enabled && here,
            disabled_in,
            worker: worker.map(|worker| {
                let (restarts, last_end) = worker.ends();
                let pid = worker.pid();
                WorkerView {
                    name: worker.name().to_owned(),
                    pid,
                    memory_bytes: pid.and_then(memory_of),
                    restarts,
                    last_end,
                }
            }),
            error: report.and_then(error),
            methods: methods(loaded),
            commands: commands(loaded),
            hooks: loaded.hooks.clone(),
            warnings,
            shadows: self.shadows_of(&loaded.id),
            needs: survey.map_or_else(Vec::new, |survey| needs(survey, self.provided())),
            has_config: has_config(loaded.config.as_ref()),
            web: has_routes(loaded).then(|| format!("/plugins/{}/", loaded.id)),
        }
    }
}

fn methods(loaded: &LoadedPlugin) -> Vec<PluginMethod> {
    let methods = loaded.methods.iter();
    methods
        .map(|method| PluginMethod {
            name: method.name.clone(),
            kind: method.kind,
            title: method.title.clone(),
            description: method.description.clone(),
        })
        .collect()
}

fn commands(loaded: &LoadedPlugin) -> Vec<PluginCommand> {
    loaded.commands.iter().map(command).collect()
}

fn command(described: &Json) -> PluginCommand {
    let text = |name: &str| described[name].as_str().unwrap_or_default().to_owned();
    let aliases = described["aliases"].as_array().into_iter().flatten();
    let usage = match described["usage"].as_str() {
        Some(usage) if !usage.is_empty() => usage.to_owned(),
        _ => text("arguments"),
    };
    PluginCommand {
        name: text("name"),
        aliases: aliases
            .filter_map(|alias| Some(alias.as_str()?.to_owned()))
            .collect(),
        description: text("description"),
        usage,
    }
}

/// Values alone, or values with what describes them.
fn has_config(config: Option<&Json>) -> bool {
    let Some(config) = config.and_then(Json::as_object) else {
        return false;
    };
    match config.get("schema") {
        Some(schema) => !schema.is_null(),
        None => !config.is_empty(),
    }
}

fn has_routes(loaded: &LoadedPlugin) -> bool {
    let routes = loaded.extra.get("routes").and_then(Json::as_array);
    loaded.hooks.iter().any(|hook| hook == "router") || routes.is_some_and(|it| !it.is_empty())
}

fn needs(survey: &Survey, provided: &[&str]) -> Vec<String> {
    let needs = survey.needs.iter();
    let needs = needs.filter(|need| !provided.contains(&need.what.as_str()));
    let mut needs: Vec<String> = needs.map(|need| need.what.clone()).collect();
    needs.dedup();
    needs
}

fn error(report: &CheckReport) -> Option<PluginError> {
    Some(PluginError {
        message: report.error.clone()?,
        hint: report.hint.clone(),
        traceback: report.traceback.clone(),
    })
}

/// `loaded` is what it was when it was last loaded, if it has not changed since.
fn installed_view(
    installed: &InstalledPlugin,
    loaded: Option<LoadedPlugin>,
    report: Option<CheckReport>,
    survey: Option<&Survey>,
    provided: &[&str],
) -> PluginView {
    let needs = survey.map_or_else(Vec::new, |survey| needs(survey, provided));
    let failed = report.filter(|report| report.error.is_some());
    let state = match (installed.enabled, &failed) {
        (false, _) => PluginState::Disabled,
        (true, Some(_)) => PluginState::Failed,
        (true, None) => PluginState::Stopped,
    };
    let id = installed.id.as_ref().unwrap_or(&installed.name);
    let unloaded = PluginView {
        id: id.clone(),
        folder: Some(installed.name.clone()),
        flavour: installed.flavour.clone(),
        version: installed.version.clone(),
        author: survey.map(|it| it.author.clone()).unwrap_or_default(),
        description: installed.description.clone(),
        source: Some(installed.source.clone()),
        state,
        enabled: installed.enabled,
        needs,
        ..absent(&installed.name, failed)
    };
    let Some(loaded) = loaded else {
        return unloaded;
    };
    PluginView {
        methods: methods(&loaded),
        commands: commands(&loaded),
        id: loaded.id,
        name: loaded.name,
        version: loaded.version,
        author: loaded.author,
        description: loaded.description,
        hooks: loaded.hooks,
        ..unloaded
    }
}

fn failed_view(report: CheckReport) -> PluginView {
    PluginView {
        flavour: report.flavour.clone().unwrap_or_default(),
        version: report.version.clone(),
        ..absent(&report.name.clone(), Some(report))
    }
}

/// One that is not in any worker.
fn absent(name: &str, report: Option<CheckReport>) -> PluginView {
    PluginView {
        id: name.to_owned(),
        name: name.to_owned(),
        folder: None,
        flavour: String::new(),
        version: String::new(),
        author: String::new(),
        description: String::new(),
        source: None,
        state: PluginState::Failed,
        enabled: true,
        enabled_here: false,
        disabled_in: Vec::new(),
        worker: None,
        error: report.as_ref().and_then(error),
        methods: Vec::new(),
        commands: Vec::new(),
        hooks: Vec::new(),
        warnings: report.map(|it| it.warnings).unwrap_or_default(),
        shadows: Vec::new(),
        needs: Vec::new(),
        has_config: false,
        web: None,
    }
}
