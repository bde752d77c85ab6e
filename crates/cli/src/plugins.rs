//! Plugins that a command was given: read, and what they need installed, before anything is opened.

use std::path::{Path, PathBuf};

use callgate_plugins::{
    Source,
    check::CheckReport,
    environment::Environments,
    survey::{Survey, survey},
};
use serde_json::Map;

use callgate_service::{Settings, plugins::GivenPlugin};

use crate::{failure::Failure, show};

/// Reads the plugins at `paths` and installs what they need, unless told not to. One that is no
/// plugin is told of by its report.
pub async fn prepare(
    environments: &Environments,
    paths: &[PathBuf],
    install: bool,
) -> Result<Vec<Result<GivenPlugin, Box<CheckReport>>>, Failure> {
    let (environments, paths) = (environments.clone(), paths.to_vec());
    with_spinner("reading plugins", move |say| {
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let found = survey(&environments, &paths)?;
        Ok(found
            .into_iter()
            .map(|survey| given(&environments, survey, install, say))
            .collect())
    })
    .await?
}

fn given(
    environments: &Environments,
    survey: Survey,
    install: bool,
    say: &(dyn Fn(&str) + Send + Sync),
) -> Result<GivenPlugin, Box<CheckReport>> {
    let Some(flavour) = survey.flavour.clone() else {
        return Err(Box::new(CheckReport::unknown(&survey)));
    };
    let mut worker = flavour.clone();
    let mut notes = Vec::new();
    if install {
        match environments.prepare(&flavour, &survey.name, &survey.packages(), say) {
            Ok(environment) => {
                worker = environment.worker;
                notes = environment.notes;
            }
            // It may load all the same, and if not, its own error says what is missing.
            Err(error) => notes.push(format!("{error} ({})", error.hint())),
        }
    }
    let path = survey.path.canonicalize();
    Ok(GivenPlugin {
        source: Source {
            path: path.unwrap_or_else(|_| survey.path.clone()),
            flavour,
            worker,
            options: Map::new(),
            kept: None,
        },
        survey,
        notes,
    })
}

/// The environments below `root`, made with the interpreter of the settings.
pub fn environments(settings: &Settings, root: PathBuf) -> Result<Environments, Failure> {
    let library = callgate_plugins::library(&settings.data).map_err(|error| {
        let hint = "check the space and the permissions there with `callgate doctor`";
        let place = settings.data.display();
        Failure::new(
            format!("cannot write our Python files to {place}: {error}"),
            hint,
        )
    })?;
    let chosen = &settings.config.plugins;
    let environments = Environments::new(root, settings.config.python()?, library);
    Ok(environments
        .building_from_source(chosen.source_packages)
        .reaching(settings.config.near()?)
        .unwalled(chosen.unwalled))
}

/// The plugins of `--plugin`, ready to be loaded.
pub async fn given_by(settings: &Settings) -> Result<Vec<GivenPlugin>, Failure> {
    if settings.plugins.is_empty() {
        return Ok(Vec::new());
    }
    let environments = environments(settings, settings.data.join("environments"))?;
    let mut ready = Vec::new();
    for result in prepare(&environments, &settings.plugins, true).await? {
        match result {
            Ok(given) => {
                for note in &given.notes {
                    show::note(&format!("{}: {note}", given.survey.name));
                }
                ready.push(given);
            }
            Err(report) => {
                let error = report.error.unwrap_or_default();
                return Err(Failure::new(
                    format!("{} is no plugin: {error}", report.path),
                    "see `callgate plugin check`",
                ));
            }
        }
    }
    Ok(ready)
}

/// Does blocking work with a sign of life; it is told what happens at the moment.
pub async fn with_spinner<T: Send + 'static>(
    message: &str,
    work: impl FnOnce(&(dyn Fn(&str) + Send + Sync)) -> T + Send + 'static,
) -> Result<T, Failure> {
    let progress = show::spinner(message);
    let telling = progress.clone();
    let working = move || work(&|line: &str| telling.set_message(line.to_owned()));
    let done = tokio::task::spawn_blocking(working).await;
    progress.finish_and_clear();
    done.map_err(|error| {
        let hint = "this is a fault of callgate: report it";
        Failure::new(format!("the work broke: {error}"), hint)
    })
}
