//! Every plugin that is there, also one that did not load or is switched off, as one kind of row.

use std::collections::BTreeMap;

use crate::operations::{
    PluginCommand, PluginError, PluginMethod, PluginState, PluginView, WorkerView,
};
use callgate_contract::SessionKey;
use callgate_plugins::{Plugin, check::CheckReport, install::InstalledPlugin, survey::Survey};
use serde_json::Value as Json;

use crate::{processes::memory_of, service::Service};

impl Service {
    pub async fn plugin_views(&self, session: Option<&SessionKey>) -> Vec<PluginView> {
        self.with_plugins().await;
        let installed = self.shelf.library().list();
        let mut reports = self.shelf.reports();
        let surveys = self.surveys(&installed).await;
        let mut views = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        for plugin in self.plugins().list() {
            let path = &plugin.source.path;
            let own = installed
                .iter()
                .find(|it| self.shelf.library().code(&it.name) == *path);
            seen.extend(own.map(|it| it.name.clone()));
            let report = reports.remove(path);
            let survey = surveys.get(&plugin.source.name());
            views.push(self.loaded_view(&plugin, own, report.as_ref(), survey, session));
        }
        for plugin in installed.iter().filter(|it| !seen.contains(&it.name)) {
            let report = reports.remove(&self.shelf.library().code(&plugin.name));
            views.push(installed_view(plugin, report, surveys.get(&plugin.name)));
        }
        // What a command gave, or the operator's functions, and did not load.
        let failed = reports
            .into_values()
            .filter(|report| report.error.is_some());
        views.extend(failed.map(failed_view));
        views.sort_by(|one, other| one.id.cmp(&other.id));
        views
    }

    /// Why installed plugins that failed did, by the names of their folders.
    pub(in crate::service) async fn plugin_errors(&self) -> Json {
        let views = self.plugin_views(None).await.into_iter();
        let failed = views.filter_map(|view| Some((view.folder?, view.error?.message)));
        failed.collect::<BTreeMap<_, _>>().into_iter().collect()
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
        let meant = meant.or_else(|| self.shelf.worker_meant(&source.path));
        let moved = source.worker != meant.unwrap_or(&source.flavour);
        let state = match (enabled, is_running, moved) {
            (false, _, _) => PluginState::Disabled,
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
            methods: methods(plugin),
            commands: loaded.commands.iter().map(command).collect(),
            hooks: loaded.hooks.clone(),
            warnings,
            needs: survey.map_or_else(Vec::new, needs),
            has_config: has_config(loaded.config.as_ref()),
            web: has_routes(plugin).then(|| format!("/plugins/{}/", loaded.id)),
        }
    }
}

fn methods(plugin: &Plugin) -> Vec<PluginMethod> {
    let methods = plugin.loaded.methods.iter();
    methods
        .map(|method| PluginMethod {
            name: method.name.clone(),
            kind: method.kind,
            title: method.title.clone(),
            description: method.description.clone(),
        })
        .collect()
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

fn has_routes(plugin: &Plugin) -> bool {
    let loaded = &plugin.loaded;
    let routes = loaded.extra.get("routes").and_then(Json::as_array);
    loaded.hooks.iter().any(|hook| hook == "router") || routes.is_some_and(|it| !it.is_empty())
}

fn needs(survey: &Survey) -> Vec<String> {
    let needs = survey.needs.iter();
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

fn installed_view(
    installed: &InstalledPlugin,
    report: Option<CheckReport>,
    survey: Option<&Survey>,
) -> PluginView {
    let failed = report.filter(|report| report.error.is_some());
    PluginView {
        id: installed
            .id
            .clone()
            .unwrap_or_else(|| installed.name.clone()),
        folder: Some(installed.name.clone()),
        flavour: installed.flavour.clone(),
        version: installed.version.clone(),
        author: survey.map(|it| it.author.clone()).unwrap_or_default(),
        description: installed.description.clone(),
        source: Some(installed.source.clone()),
        state: match (installed.enabled, &failed) {
            (false, _) => PluginState::Disabled,
            (true, Some(_)) => PluginState::Failed,
            (true, None) => PluginState::Stopped,
        },
        enabled: installed.enabled,
        needs: survey.map_or_else(Vec::new, needs),
        ..absent(&installed.name, failed)
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
        needs: Vec::new(),
        has_config: false,
        web: None,
    }
}
