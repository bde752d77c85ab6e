//! Coming from another system with `callgate import`: what comes, what cannot, once and not twice, and undone.

mod astrbot;
mod nekro;
mod newage;

use serde_json::Value as Json;

use crate::scene::Scene;

/// A report by its lines: `kind name` to fate and detail.
pub struct Report(pub Json);

impl Report {
    pub fn of(scene: &Scene, arguments: &[&str]) -> Report {
        let arguments = [&["import"], arguments, &["--json"]].concat();
        Report(scene.callgate(&arguments).succeeded().json())
    }

    pub fn line(&self, kind: &str, name: &str) -> &Json {
        let mut lines = self.0["items"].as_array().unwrap().iter();
        let found = lines.find(|line| line["kind"] == kind && line["name"] == name);
        found.unwrap_or_else(|| panic!("no {kind} {name} in {:#}", self.0))
    }

    pub fn fate(&self, kind: &str, name: &str) -> &str {
        self.line(kind, name)["fate"].as_str().unwrap()
    }

    pub fn detail(&self, kind: &str, name: &str) -> &str {
        self.line(kind, name)["detail"].as_str().unwrap_or_default()
    }

    pub fn count(&self, fate: &str) -> usize {
        let lines = self.0["items"].as_array().unwrap().iter();
        lines.filter(|line| line["fate"] == fate).count()
    }
}

#[test]
fn what_is_no_folder_of_that_system_is_refused() {
    let scene = Scene::new();
    let folder = scene.home().to_str().unwrap();
    let said = scene.callgate(&["import", "astrbot", folder]);
    assert_eq!(said.code, Some(1));
    let told = said.stderr.replace(folder, "FOLDER");
    insta::assert_snapshot!(told, @r"
    error: FOLDER is no data folder of AstrBot
    hint: name the folder itself, such as the one that is mounted into its container
    ");
    let said = scene.callgate(&["import", "undo", "7"]);
    insta::assert_snapshot!(said.stderr, @r"
    error: no import 7
    hint: see the imports with `callgate import list`
    ");
}
