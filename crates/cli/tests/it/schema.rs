//! The HTTP API against its own description, asked by schemathesis: whatever it makes up, no answer is
//! a fault of ours, and every answer is as described. Needs pip; without it this test fails.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::json;

use crate::{
    remote::install,
    scene::{Scene, wait_until},
    server::Server,
};

/// Never ends; takes long; fetches from elsewhere; ends the tester's own session.
const LEFT_OUT: &str = "^/api/(events|doctor|plugins/install|logout)$";
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance";

/// Begins one phase, with a key of its own: a key may ask fifty times a second.
#[allow(clippy::disallowed_methods, reason = "the tester")]
fn tester(scene: &Scene, server: &Server, phase: &str) -> Child {
    let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    wait_until(|| server.api("GET", "/api/models", &key, None).0 == 200);
    let folder = scene.home().join(phase);
    std::fs::create_dir(&folder).unwrap();
    let e2e = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e");
    let e2e = e2e.canonicalize().unwrap();
    Command::new("python3")
        .args(["-m", "schemathesis.cli", "run"])
        .arg(e2e.join("../docs/openapi.json"))
        .args(["--url", &format!("http://{}", server.address)])
        .args(["--header", &format!("Authorization: Bearer {key}")])
        .args(["--exclude-path-regex", LEFT_OUT, "--checks", CHECKS])
        .args(["--phases", phase, "--rate-limit", "48/s"])
        .args(["--max-examples", "5", "--seed", "1", "--no-shrink"])
        .args(["--suppress-health-check", "all", "--warnings", "off"])
        .env("PYTHONPATH", e2e.join("schema/python_modules"))
        .env("SCHEMATHESIS_HOOKS", e2e.join("schema/hooks.py"))
        .env("NO_COLOR", "1")
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn every_answer_is_as_described() {
    install("schema");
    let scene = Scene::new();
    let model = scene.script(&[json!({ "content": "hello" })]);
    // Rules that the testers make up have calls wait for an answer that nobody gives.
    let toml = format!("[models]\ndefault = \"{model}\"\n[approval]\nwait_seconds = 1\n");
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let server = Server::start(&scene);
    let testers = ["coverage", "fuzzing"].map(|phase| tester(&scene, &server, phase));
    for tester in testers {
        let run = tester.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{said}{errors}");
        // A run in which nothing was asked would succeed as well.
        assert!(said.contains("No issues found"), "{said}");
    }
}
