//! `callgate sandbox`: the packages the AI's code can import.

use std::process::ExitCode;

use callgate_store::{Owner, OwnerError};
use serde_json::{Value as Json, json};

use callgate_service::{
    Settings,
    packages::{self, Package},
};

use crate::{
    args::{Common, SandboxArguments, SandboxCommand},
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, sandbox: SandboxArguments) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    if let SandboxCommand::Install { packages } = sandbox.command {
        install(&settings, packages).await?;
    }
    let contents = contents(&settings)?;
    if common.json {
        show::json(&contents)
    } else {
        show_contents(&contents)
    }
    Ok(ExitCode::SUCCESS)
}

async fn install(settings: &Settings, requested: Vec<String>) -> Result<(), Failure> {
    // Held, if it can be had, so that nobody begins with the old packages meanwhile.
    let owner = match Owner::acquire(&settings.data) {
        Ok(owner) => Some(owner),
        Err(OwnerError::Held(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let shared = owner.is_none();
    let (data, python) = (settings.data.clone(), settings.config.python()?);
    let progress = show::spinner("installing");
    let installing = {
        let progress = progress.clone();
        let say = move |line: &str| progress.set_message(line.to_owned());
        move || packages::install(&data, &python, &requested, shared, &say)
    };
    let installed = tokio::task::spawn_blocking(installing).await;
    progress.finish_and_clear();
    installed.map_err(|error| {
        let hint = "this is a fault of callgate: report it";
        Failure::new(format!("the installation broke: {error}"), hint)
    })??;
    if shared {
        show::note("a running callgate shows the new packages after its restart");
    }
    Ok(())
}

/// What the code will have.
pub fn contents(settings: &Settings) -> Result<Json, Failure> {
    let python = settings.config.python()?;
    Ok(json!({
        "python": { "path": python, "version": packages::python_version(&python) },
        "packages": packages::list(&settings.data),
        "preload": settings.config.sandbox.preload,
    }))
}

fn show_contents(contents: &Json) {
    let python = &contents["python"];
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    show::line(&format!(
        "{}  {}",
        paint(Colour::Bold, &text(&python["version"])),
        text(&python["path"])
    ));
    let packages: Vec<Package> =
        serde_json::from_value(contents["packages"].clone()).unwrap_or_default();
    let rows: Vec<Vec<String>> = packages
        .into_iter()
        .map(|package| vec![package.name, package.version])
        .collect();
    show::data(&show::table(&rows));
    if rows.is_empty() {
        show::note("no packages beside the standard library; `callgate sandbox install common`");
    }
    let preload: Vec<String> =
        serde_json::from_value(contents["preload"].clone()).unwrap_or_default();
    if !preload.is_empty() {
        show::line(&format!("preloaded: {}", preload.join(", ")));
    }
}
