//! Every request on the control socket, and every chat command.

use callgate_service::{Capability, Surface};
use callgate_store::ControlError;
use serde_json::{Value as Json, json};

use super::{entries, site::Site};
use crate::{model::FakeModel, scene::wait_until, server::Server};

/// Its answer; an error if it was not even read.
fn ask(site: &Site, request: &Json) -> Result<Json, ControlError> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let data = site.scene.data();
    let asked = callgate_store::request(&data, request, drop);
    runtime.block_on(asked)
}

#[test]
fn the_control_socket_answers_nobody_without_its_key() {
    let site = Site::start("");
    let file = site.scene.data().join("control.key");
    let expired = std::fs::read(&file).unwrap();
    // Its owner makes another one at each start.
    let Site { scene, server, .. } = site;
    server.end();
    let server = Server::start(&scene);
    let site = Site::again(scene, server);
    // The page may be there before the socket is.
    wait_until(|| std::fs::read(&file).is_ok_and(|key| !key.is_empty() && key != expired));
    let valid = std::fs::read(&file).unwrap();
    let requests = entries(Surface::Control).into_iter().map(|(name, _)| {
        if name.contains('.') {
            json!({ "operation": name, "request": {} })
        } else {
            json!({ "command": name })
        }
    });
    let requests: Vec<Json> = requests.collect();
    assert!(requests.len() > 70);
    let before = site.witness();
    for key in [&expired[..], b"wrong", b""] {
        std::fs::write(&file, key).unwrap();
        for request in &requests {
            let answer = ask(&site, request);
            assert!(answer.is_err(), "{request}: {answer:?}");
        }
    }
    std::fs::write(&file, &valid).unwrap();
    assert_eq!(
        site.witness(),
        before,
        "somebody without the key did something"
    );
    let known = json!({ "operation": "sessions.list", "request": {} });
    assert!(ask(&site, &known).unwrap()["done"].is_object());
}

#[test]
fn a_command_that_changes_a_shared_chat_is_for_administrators() {
    let model = FakeModel::start(0, "fine");
    let mut site = Site::start(&format!(
        "{}[agent]\nadministrators = [\"web:boss\"]\n",
        model.toml()
    ));
    let key = site.holding(&[Capability::Operator]);
    for (command, needs) in entries(Surface::ChatCommand) {
        let said = |user: &str| {
            let path = format!("/api/sessions/web:GroupMessage:{command}-{user}/messages");
            let message = json!({ "text": format!("/{command} none"), "user": user });
            let (status, answer) = site.server.api("POST", &path, &key, Some(&message));
            assert_eq!(
                (status, &answer["stop"]),
                (200, &json!("command")),
                "{answer}"
            );
            let log = path.replace("/messages", "/log");
            let (_, log) = site.server.api("GET", &log, &key, None);
            log.to_string()
        };
        let refused = |said: &str| said.contains("Only administrators can do that");
        let (member, boss) = (said("member"), said("boss"));
        assert_eq!(refused(&member), needs != [Capability::Anyone], "{member}");
        assert!(!refused(&boss), "{boss}");
    }
}
