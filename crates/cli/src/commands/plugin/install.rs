//! Installing, listing, removing, enabling and reloading plugins of a data directory.

use std::{collections::BTreeMap, process::ExitCode};

use callgate_plugins::{
    environment::Environments,
    install::{InstallOptions, Installation, InstalledPlugin, Library},
    survey::Survey,
};
use callgate_sandbox::Wall;
use serde_json::json;

use super::{
    check::{exit_code, show_reports},
    workshop,
};
use callgate_server::control::call_running;
use callgate_service::{
    Settings,
    operations::{ListPlugins, Page, PluginView, ReloadPlugins},
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
    let errors = errors_told(&settings).await?;
    let unwalled = unwalled(&settings);
    let error_of = |plugin: &InstalledPlugin| {
        errors
            .get(&plugin.name)
            .cloned()
            .or_else(|| unwalled.clone())
    };
    if common.json {
        let shown = installed.iter().map(|plugin| {
            let mut shown = json!(plugin);
            shown["error"] = json!(error_of(plugin));
            shown
        });
        show::json(&shown.collect());
        return Ok(ExitCode::SUCCESS);
    }
    let errors = installed.iter().map(error_of).collect::<Vec<_>>();
    let rows = installed.into_iter().zip(errors);
    let rows: Vec<Vec<String>> = rows.map(|(plugin, error)| row(plugin, error)).collect();
    show::data(&show::table(&rows));
    if rows.is_empty() {
        show::note("no plugins; `callgate plugin new NAME` or `callgate plugin install SOURCE`");
    }
    Ok(ExitCode::SUCCESS)
}

/// By the name of its folder, why each plugin that did not load did not, where a server runs.
async fn errors_told(settings: &Settings) -> Result<BTreeMap<String, String>, Failure> {
    let mut errors = BTreeMap::new();
    let mut page = Page::default();
    loop {
        let list = ListPlugins {
            session: None,
            page: page.clone(),
        };
        let Some(list) = call_running(&settings.data, &list).await? else {
            return Ok(errors);
        };
        let failed = |it: PluginView| Some((it.folder?, it.error?.message));
        errors.extend(list.items.into_iter().filter_map(failed));
        page.cursor = list.next;
        if page.cursor.is_none() {
            return Ok(errors);
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
    let name = &installed.name;
    let taken_over = tell_owner(common, Some(name.clone())).await;
    if let (Err(failure), Some(previous)) = (&taken_over, previous) {
        library.restore(previous)?;
        tell_owner(common, Some(name.clone())).await?;
        return Err(Failure::new(
            format!(
                "the new {name} is not used: {}; the one before is back",
                failure.error
            ),
            &failure.hint,
        ));
    }
    taken_over.map_err(|failure| {
        Failure::new(
            format!("{name} is installed, but {}", failure.error),
            &failure.hint,
        )
    })?;
    if common.json {
        show::json(&json!(installed))
    } else {
        show_installed(&installed, &found)
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

fn show_installed(installed: &InstalledPlugin, found: &Survey) {
    let name = paint(Colour::Bold, &installed.name);
    show::line(&format!("installed {name} ({})", installed.flavour));
    if installed.worker != installed.flavour {
        show::line("  it has an environment and a worker of its own");
    }
    for need in &found.needs {
        show::line(&format!(
            "  needs {}: not configured ({})",
            need.what, need.place
        ));
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
/// was to be loaded does not load.
async fn tell_owner(common: &Common, name: Option<String>) -> Result<(), Failure> {
    let reports = workshop::call_owner(common, ReloadPlugins { name }).await?;
    let Some(report) = reports.into_iter().flatten().find(|report| !report.ok) else {
        return Ok(());
    };
    let error = report.error.as_deref().unwrap_or("no reason was given");
    let hint = report.hint.as_deref();
    Err(Failure::new(
        format!("{} does not load: {error}", report.name),
        hint.unwrap_or("`callgate plugin check` shows where it fails"),
    ))
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
