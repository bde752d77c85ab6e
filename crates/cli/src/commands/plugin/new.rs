//! `callgate plugin new`: a plugin that runs, and a scenario that tests it.

use std::{path::PathBuf, process::ExitCode};

use callgate_service::plugins::skeleton;
use serde_json::json;

use crate::{
    args::{Common, NewPlugin},
    failure::Failure,
    show,
};

pub fn perform(common: &Common, new: NewPlugin) -> Result<ExitCode, Failure> {
    let folder = PathBuf::from(&new.name);
    skeleton::make(&folder)?;
    if common.json {
        let files: Vec<&str> = skeleton::FILES.iter().map(|(file, _)| *file).collect();
        show::json(&json!({ "path": folder, "files": files }));
        return Ok(ExitCode::SUCCESS);
    }
    let path = folder.display();
    show::line(&format!("made {path}; now try"));
    show::line(&format!("  callgate plugin check {path}"));
    show::line(&format!(
        "  callgate plugin test {path} {path}/scenario.json"
    ));
    Ok(ExitCode::SUCCESS)
}
