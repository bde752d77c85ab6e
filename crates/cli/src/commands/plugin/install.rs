//! Installing, listing, removing, enabling and reloading plugins of a data directory.

use std::{collections::BTreeMap, path::Path, process::ExitCode};

use callgate_plugins::{
    environment::Environments,
    install::{InstallOptions, Installation, InstalledPlugin, Library},
};
use callgate_sandbox::Wall;
use serde_json::json;

use super::{
    check::{exit_code, show_reports},
    jobs, workshop,
};
use callgate_server::control::call_running;
use callgate_service::{
    Settings,
    operations::{InstallResult, ListPlugins, Page, PluginError, PluginView, ReloadPlugins},
};

use crate::{
    args::{Common, InstallPlugin},
    connect::Purpose,
    failure::Failure,
    plugins::{environments, with_spinner},
    show::{self, Colour, paint},
};

pub async fn list(common: &Common) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    let installed = library(&settings)?.list();
    let views = views_told(&settings).await?;
    let errors: BTreeMap<&String, &PluginError> = views
        .iter()
        .filter_map(|view| Some((view.folder.as_ref()?, view.error.as_ref()?)))
        .collect();
    let unwalled = unwalled(&settings);
    let told = |plugin: &InstalledPlugin| errors.get(&plugin.name);
    let error_of = |plugin: &InstalledPlugin| {
        let error = told(plugin).map(|error| error.message.clone());
        error.or_else(|| unwalled.clone())
    };
    if common.json {
        let shown = installed.iter().map(|plugin| {
            let mut shown = json!(plugin);
            shown["error"] = json!(error_of(plugin));
            let view = views
                .iter()
                .find(|it| it.folder.as_ref() == Some(&plugin.name));
            shown["shadows"] = json!(view.map_or(&[][..], |view| &view.shadows));
            shown["traceback"] = json!(told(plugin).and_then(|error| error.traceback.as_ref()));
            shown
        });
        show::json(&shown.collect());
        return Ok(ExitCode::SUCCESS);
    }
    let tracebacks: Vec<(String, String)> = installed
        .iter()
        .filter_map(|plugin| Some((plugin.name.clone(), told(plugin)?.traceback.clone()?)))
        .collect();
    let errors = installed.iter().map(error_of).collect::<Vec<_>>();
    let rows = installed.into_iter().zip(errors);
    let rows: Vec<Vec<String>> = rows.map(|(plugin, error)| row(plugin, error)).collect();
    show::data(&show::table(&rows));
    for view in views.iter().filter(|view| !view.shadows.is_empty()) {
        show::line(&format!("{}:", view.id));
        show_shadows(&view.shadows);
    }
    for (name, traceback) in tracebacks {
        show::note(&format!("{name}:"));
        show_traceback(&traceback);
    }
    if rows.is_empty() {
        show::note("no plugins; `callgate plugin new NAME` or `callgate plugin install SOURCE`");
    }
    Ok(ExitCode::SUCCESS)
}

/// What a server knows of its plugins, where one runs.
async fn views_told(settings: &Settings) -> Result<Vec<PluginView>, Failure> {
    let mut views = Vec::new();
    let mut page = Page::default();
    loop {
        let list = ListPlugins {
            session: None,
            page: page.clone(),
        };
        let Some(list) = call_running(&settings.data, &list).await? else {
            return Ok(views);
        };
        views.extend(list.items);
        page.cursor = list.next;
        if page.cursor.is_none() {
            return Ok(views);
        }
    }
}

/// Why no plugin can run here, where the kernel lacks a part of their wall.
fn unwalled(settings: &Settings) -> Option<String> {
    if settings.config.plugins.unwalled {
        return None;
    }
    let walls = callgate_sandbox::probe(None).into_iter();
    let of_plugins = |it| matches!(it, Wall::UserNamespaces | Wall::Landlock | Wall::Seccomp);
    let missing = walls.into_iter().find(|it| of_plugins(it.wall) && !it.ok)?;
    let hint = missing.hint.unwrap_or_default();
    Some(format!("{:?} is {}; {hint}", missing.wall, missing.detail))
}

fn row(plugin: InstalledPlugin, error: Option<String>) -> Vec<String> {
    let state = match (&error, plugin.enabled) {
        (_, false) => "disabled",
        (Some(_), true) => "failed",
        (None, true) => "",
    };
    let about = error.unwrap_or_else(|| show::shortened(&plugin.description, 60));
    vec![
        plugin.name,
        plugin.flavour,
        plugin.version,
        state.to_owned(),
        about,
    ]
}

pub async fn perform(common: &Common, install: InstallPlugin) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    let library = library(&settings)?;
    let Some(source) = install.source.filter(|_| !install.base) else {
        return base(common, library.environments().clone()).await;
    };
    let source = absolute(source);
    let begin = callgate_service::operations::InstallPlugin {
        source: source.clone(),
        name: install.name.clone(),
        replace: install.replace,
        with: install.with.clone(),
    };
    if let Some(begun) = call_running(&settings.data, &begin).await? {
        let result = jobs::follow(&settings, begun).await?;
        return show_result(common, &library, result);
    }
    let options = InstallOptions {
        name: install.name,
        replace: install.replace,
        with: install.with,
        told_as: None,
    };
    let installing = library.clone();
    let working =
        move |say: &(dyn Fn(&str) + Send + Sync)| installing.install(&source, &options, say);
    let Installation {
        installed,
        found,
        previous,
    } = with_spinner("installing", working).await??;
    // Nobody serves it: it is loaded when somebody does.
    drop(previous);
    if common.json {
        show::json(&json!(installed))
    } else {
        let needs = found.needs.iter();
        let needs = needs.map(|need| format!("{} ({})", need.what, need.place));
        show_installed(&installed, &needs.collect::<Vec<_>>());
    }
    Ok(ExitCode::SUCCESS)
}

async fn base(common: &Common, environments: Environments) -> Result<ExitCode, Failure> {
    const FLAVOURS: [&str; 2] = ["nekro", "astrbot"];
    let working = move |say: &(dyn Fn(&str) + Send + Sync)| {
        for flavour in FLAVOURS {
            environments.prepare(flavour, flavour, &[], say)?;
        }
        Ok::<_, Failure>(())
    };
    with_spinner("installing the base", working).await??;
    if common.json {
        show::json(&json!({ "base": FLAVOURS }))
    } else {
        show::line("what plugins take for granted is installed")
    }
    Ok(ExitCode::SUCCESS)
}

/// Names that several methods have.
fn show_shadows(shadows: &[String]) {
    for shadow in shadows {
        show::line(&format!("  {} {shadow}", paint(Colour::Yellow, "warning:")));
    }
}

/// What came of an installation by the server.
fn show_result(
    common: &Common,
    library: &Library,
    result: InstallResult,
) -> Result<ExitCode, Failure> {
    let installed = library.get(&result.folder)?;
    if let Some(error) = result.error {
        if let Some(traceback) = error.traceback.as_deref().filter(|_| !common.json) {
            show_traceback(traceback);
        }
        let name = &installed.name;
        return Err(Failure::new(
            format!(
                "{name} is installed, but {name} does not load: {}",
                error.message
            ),
            error
                .hint
                .as_deref()
                .unwrap_or("`callgate plugin check` shows where it fails"),
        ));
    }
    if common.json {
        show::json(&json!(installed))
    } else {
        show_installed(&installed, &result.needs);
        show_shadows(&result.shadows);
    }
    Ok(ExitCode::SUCCESS)
}

/// As the server, which was started elsewhere, finds it.
fn absolute(source: String) -> String {
    let path = Path::new(&source);
    match path.exists().then(|| std::path::absolute(path)) {
        Some(Ok(whole)) => whole.display().to_string(),
        _ => source,
    }
}

fn show_installed(installed: &InstalledPlugin, needs: &[String]) {
    let name = paint(Colour::Bold, &installed.name);
    show::line(&format!("installed {name} ({})", installed.flavour));
    if installed.worker != installed.flavour {
        show::line("  it has an environment and a worker of its own");
    }
    for need in needs {
        show::line(&format!("  needs {need}: not configured"));
    }
}

pub async fn remove(common: &Common, name: &str) -> Result<ExitCode, Failure> {
    let removed = library(&common.settings()?)?.remove(name)?;
    workshop::call_owner(common, ReloadPlugins { name: None }).await?;
    said(common, &removed, "removed")
}

pub async fn enable(common: &Common, name: &str, enabled: bool) -> Result<ExitCode, Failure> {
    let changed = library(&common.settings()?)?.enable(name, enabled)?;
    tell_owner(common, Some(name.to_owned())).await?;
    said(
        common,
        &changed,
        if enabled { "enabled" } else { "disabled" },
    )
}

pub async fn reload(common: &Common, name: Option<String>) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    if let Some(name) = &name {
        library(&settings)?.get(name)?;
    }
    let reload = ReloadPlugins { name };
    let reports = crate::commands::call(common, Purpose::Work, reload).await?;
    common.show(&reports, |reports| show_reports(reports));
    Ok(exit_code(&reports))
}

/// A running callgate takes it over at once; without one there is nobody to tell. An error if what
/// was to be loaded does not load; else which of its names others have too.
async fn tell_owner(common: &Common, name: Option<String>) -> Result<Vec<String>, Failure> {
    let reports = workshop::call_owner(common, ReloadPlugins { name }).await?;
    let reports = reports.unwrap_or_default();
    let Some(report) = reports.iter().find(|report| !report.ok) else {
        return Ok(reports.into_iter().flat_map(|it| it.shadows).collect());
    };
    let error = report.error.as_deref().unwrap_or("no reason was given");
    if let Some(traceback) = report.traceback.as_deref().filter(|_| !common.json) {
        show_traceback(traceback);
    }
    let hint = report.hint.as_deref();
    Err(Failure::new(
        format!("{} does not load: {error}", report.name),
        hint.unwrap_or("`callgate plugin check` shows where it fails"),
    ))
}

/// Where it failed, for its author.
fn show_traceback(traceback: &str) {
    for line in traceback.trim_end().lines() {
        show::note(&format!("  {line}"));
    }
}

fn said(common: &Common, plugin: &InstalledPlugin, what: &str) -> Result<ExitCode, Failure> {
    if common.json {
        show::json(&json!(plugin))
    } else {
        show::line(&format!("{what} {}", plugin.name))
    }
    Ok(ExitCode::SUCCESS)
}

/// The plugins of a data directory.
pub fn library(settings: &Settings) -> Result<Library, Failure> {
    let environments = environments(settings, settings.data.join("environments"))?;
    Ok(Library::new(&settings.data, environments))
}
