//! `callgate plugin test`: drives a plugin by a scenario, in a place of its own, and shows what came
//! differently.

mod alone;
mod heard;
mod pipeline;
mod python_json;
mod script;
mod stage;

use std::{fs, path::Path, process::ExitCode};

use callgate_agent::Administrator;
use callgate_plugins::{
    check::CheckReport,
    scenario::{Scenario, ScenarioReport, Step, StepReport, compare, differences},
};
use serde_json::{Map, Value as Json, json};

use super::workshop::Workshop;
use callgate_server::Surfaces;
use callgate_service::Service;

use crate::{
    args::{Common, TestPlugin},
    failure::Failure,
    plugins::prepare,
    show::{self, Colour, paint},
};
use script::ScriptedModel;
use stage::Stage;

/// In scenarios this user is an administrator, and nobody else.
const ADMINISTRATOR: (&str, &str) = ("test", "admin1");

pub async fn perform(common: &Common, test: TestPlugin) -> Result<ExitCode, Failure> {
    let mut scenario = read(&test.scenario)?;
    let workshop = Workshop::open(common)?;
    let path = workshop.copy(&test.path, scenario.recipe_top.folder())?;
    let mut prepared = prepare(&workshop.environments, &[path], !test.no_install).await?;
    let given = match prepared.pop() {
        Some(Ok(given)) => given,
        Some(Err(report)) => return Err(unloadable(&report)),
        None => {
            return Err(Failure::new(
                "there is nothing to test",
                "give a plugin's folder",
            ));
        }
    };
    let mut settings = workshop.settings.clone();
    let mut given = given;
    let recipe = &scenario.recipe_top;
    // Without it a worker runs no code but the plugin's.
    given
        .source
        .options
        .insert("scenario".to_owned(), json!(true));
    if let Some(folder) = recipe.folder() {
        given
            .source
            .options
            .insert("dirname".to_owned(), json!(folder));
    }
    if let Some(config) = &recipe.plugin_config {
        given
            .source
            .options
            .insert("config".to_owned(), json!(config));
    }
    settings.given = vec![given];
    let model = ScriptedModel::default();
    settings.only_model = Some(model.named());
    settings.config.agent.administrators =
        vec![Administrator::new(ADMINISTRATOR.0, ADMINISTRATOR.1)];
    let surfaces = Surfaces::new(Service::open(&settings).await?);
    let service = surfaces.service;
    alone::hide_others(service.gate());
    let loaded = service.load_given().await;
    let Some(plugin) = loaded.first().filter(|report| report.id.is_some()) else {
        service.plugins().shutdown().await;
        return Err(loaded.first().map_or_else(
            || Failure::new("the plugin did not load", "see `callgate plugin check`"),
            unloadable,
        ));
    };
    let mut stage = Stage::new(
        &service,
        plugin.id.clone().unwrap_or_default(),
        model,
        scenario.prompt_additions(),
    )?;
    let mut steps = Vec::new();
    let mut recorded = Vec::new();
    for step in &scenario.steps {
        let observed = perform_step(&mut stage, step).await;
        match observed {
            Ok(observed) => {
                steps.push(StepReport::new(compare(step, &observed)));
                recorded.push(step.recorded(&observed));
            }
            Err(reason) => {
                steps.push(StepReport::new(Some(reason)));
                recorded.push(step.clone());
            }
        }
    }
    service.plugins().shutdown().await;
    if test.record {
        scenario.steps = recorded;
        write(&test.scenario, &scenario)?;
        show::note(&format!("recorded {}", test.scenario.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let same = as_expected(&scenario, plugin);
    let name = plugin.id.clone().unwrap_or_else(|| plugin.name.clone());
    let report = ScenarioReport::new(name, same, steps);
    if common.json {
        show::json(&json!(report))
    } else {
        show_report(&report, &scenario.steps)
    }
    Ok(match report.failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

async fn perform_step(stage: &mut Stage<'_>, step: &Step) -> Result<Map<String, Json>, String> {
    stage.perform(step.action()?, &step.0).await
}

fn unloadable(report: &CheckReport) -> Failure {
    let error = report.error.clone().unwrap_or_default();
    let hint = report.hint.clone();
    let hint = hint.unwrap_or_else(|| format!("callgate plugin check {} says more", report.path));
    Failure::new(format!("the plugin does not load: {error}"), hint)
}

fn read(path: &Path) -> Result<Scenario, Failure> {
    let broken = |error: &dyn std::fmt::Display| {
        let hint = "docs/scenarios.md shows how steps are written";
        Failure::new(format!("cannot read {}: {error}", path.display()), hint)
    };
    let text = fs::read(path).map_err(|error| broken(&error))?;
    serde_json::from_slice(&text).map_err(|error| broken(&error))
}

fn write(path: &Path, scenario: &Scenario) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(scenario).unwrap_or_default();
    fs::write(path, text + "\n").map_err(|error| {
        let hint = "check the permissions there";
        Failure::new(format!("cannot write {}: {error}", path.display()), hint)
    })
}

/// What the plugin turned out to be, beside what the scenario says of it; `None` if it says nothing.
fn as_expected(scenario: &Scenario, plugin: &CheckReport) -> Option<StepReport> {
    let loaded = expected(&scenario.loaded);
    let loaded = loaded.map(|wanted| ("loaded", wanted, described(plugin, wanted)));
    let more = [("handlers", &scenario.handlers), ("tools", &scenario.tools)];
    let more = more.into_iter().filter_map(|(name, wanted)| {
        let wanted = wanted.as_ref()?;
        Some((name, wanted, plugin.extra[name].clone()))
    });
    let compared: Vec<_> = loaded.into_iter().chain(more).collect();
    if compared.is_empty() {
        return None;
    }
    let found = compared.iter();
    let found: Vec<String> = found
        .filter_map(|(name, wanted, came)| differences(name, wanted, came))
        .collect();
    Some(StepReport::new(
        (!found.is_empty()).then(|| found.join("\n")),
    ))
}

/// Of one plugin: a scenario tests one.
fn expected(loaded: &Json) -> Option<&Json> {
    match loaded.as_array().map(Vec::as_slice) {
        Some([one]) if one.is_object() => Some(one),
        _ => None,
    }
}

/// What the plugin turned out to be, in the words of the expectation.
fn described(plugin: &CheckReport, wanted: &Json) -> Json {
    let methods: Vec<Json> = plugin
        .methods
        .iter()
        .map(|it| json!([it["kind"], it["name"], it["title"]]))
        .collect();
    let commands: Vec<&Json> = plugin.commands.iter().map(|it| &it["name"]).collect();
    let hooked = |hook: &str| plugin.hooks.iter().any(|it| it == hook);
    let all = json!({
        "key": plugin.id,
        // Compat(astrbot): its name is what we call the id.
        "name": if plugin.flavour.as_deref() == Some("astrbot") {
            plugin.id.clone().unwrap_or_default()
        } else {
            plugin.name.clone()
        },
        "version": plugin.version,
        "methods": methods,
        "inject": hooked("inject") || hooked("prompt"),
        "on_user_message": hooked("message"),
        "on_reset": hooked("reset"),
        "cleanup": hooked("cleanup") || hooked("stop"),
        "init": hooked("init") || hooked("start"),
        "commands": commands,
        "router": hooked("router"),
        "config": plugin.config.clone().unwrap_or_else(|| json!({})),
        "activated": true,
    });
    let wanted = wanted.as_object().into_iter().flat_map(Map::keys);
    wanted.map(|key| (key.clone(), all[key].clone())).collect()
}

fn show_report(report: &ScenarioReport, steps: &[Step]) {
    let failed = |number: usize, what: &str, difference: &str| {
        show::line(&format!(
            "{} step {number}: {what}",
            paint(Colour::Red, "differs")
        ));
        for line in difference.lines() {
            show::line(&format!("  {line}"));
        }
    };
    if let Some(loaded) = report.loaded.as_ref().filter(|it| !it.ok) {
        failed(0, "what the plugin is", &loaded.difference);
    }
    for (index, (step, report)) in steps.iter().zip(&report.steps).enumerate() {
        if !report.ok {
            let what = step
                .0
                .iter()
                .next()
                .map(|(key, value)| format!("{key} {value}"));
            let what = show::shortened(&what.unwrap_or_default(), 70);
            failed(index + 1, &what, &report.difference);
        }
    }
    let (passed, all) = (report.passed, report.steps.len());
    show::line(&format!(
        "{}: {passed} of {all} steps as expected",
        report.plugin
    ));
}
