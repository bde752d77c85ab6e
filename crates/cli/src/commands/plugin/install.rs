//! Installing, listing, removing, enabling and reloading plugins of a data directory.

use std::process::ExitCode;

use callgate_plugins::{
    environment::Environments,
    install::{InstallOptions, Installed, Library},
    survey::Survey,
};
use serde_json::json;

use super::workshop;
use crate::{
    app::Settings,
    args::{Common, InstallPlugin},
    failure::Failure,
    plugins::{environments, with_spinner},
    request::Request,
    show::{self, Colour, paint},
};

pub fn list(common: &Common) -> Result<ExitCode, Failure> {
    let installed = library(&common.settings()?)?.list();
    if common.json {
        show::json(&json!(installed));
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = installed.into_iter().map(row).collect();
    show::data(&show::table(&rows));
    if rows.is_empty() {
        show::note("no plugins; `callgate plugin new NAME` or `callgate plugin install SOURCE`");
    }
    Ok(ExitCode::SUCCESS)
}

fn row(plugin: Installed) -> Vec<String> {
    let state = if plugin.enabled { "" } else { "disabled" };
    let about = show::shortened(&plugin.description, 60);
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
    let working = move |say: &(dyn Fn(&str) + Send + Sync)| library.install(&source, &options, say);
    let (installed, found) = with_spinner("installing", working).await??;
    tell_owner(common, Some(installed.name.clone())).await;
    match common.json {
        true => show::json(&json!(installed)),
        false => show_installed(&installed, &found),
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
    match common.json {
        true => show::json(&json!({ "base": FLAVOURS })),
        false => show::line("what plugins take for granted is installed"),
    }
    Ok(ExitCode::SUCCESS)
}

fn show_installed(installed: &Installed, found: &Survey) {
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
    tell_owner(common, None).await;
    said(common, &removed, "removed")
}

pub async fn enable(common: &Common, name: &str, enabled: bool) -> Result<ExitCode, Failure> {
    let changed = library(&common.settings()?)?.enable(name, enabled)?;
    tell_owner(common, Some(name.to_owned())).await;
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
    let request = Request::ReloadPlugins { name };
    let answer = super::super::ask(common, crate::door::Purpose::Work, request).await?;
    if common.json {
        show::json(&answer);
    } else {
        super::check::show_reports(&answer);
    }
    Ok(super::check::exit_code(&answer))
}

/// A running callgate takes it over at once; without one there is nobody to tell.
async fn tell_owner(common: &Common, name: Option<String>) {
    if let Err(failure) = workshop::tell_owner(common, Request::ReloadPlugins { name }).await {
        show::note(&format!(
            "the running callgate did not take it over: {}",
            failure.error
        ));
    }
}

fn said(common: &Common, plugin: &Installed, what: &str) -> Result<ExitCode, Failure> {
    match common.json {
        true => show::json(&json!(plugin)),
        false => show::line(&format!("{what} {}", plugin.name)),
    }
    Ok(ExitCode::SUCCESS)
}

/// The plugins of a data directory.
pub fn library(settings: &Settings) -> Result<Library, Failure> {
    let environments = environments(settings, settings.data.join("environments"))?;
    Ok(Library::new(&settings.data, environments))
}
