//! Models that give no answer, through the whole product: people are told what happened and what to do, in their
//! language; whoever looks after the model also reads the provider's words, and learns of a wrong key at the start.

use serde_json::{Value as Json, json};

use crate::{
    adding_models::refusing,
    scene::{Scene, wait_until},
    server::Server,
};

const KEY: &str = "sk-very-secret";

fn operator(scene: &Scene) -> String {
    let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    made.succeeded().json()["key"].as_str().unwrap().to_owned()
}

/// A model that answers nothing at `url`.
fn failing(url: &str, more: &str) -> Scene {
    let model =
        format!("[[models.list]]\nid = \"broken\"\nbase_url = \"{url}\"\nretries = 0\n{more}");
    Scene::configured(&model)
}

fn send(scene: &Scene, text: &str) -> (String, Json) {
    let lines = scene.callgate(&["send", text, "--json"]).lines();
    let message = lines.iter().find(|line| line["type"] == "message").unwrap();
    let text = message["parts"][0]["text"].as_str().unwrap().to_owned();
    (text, lines.last().unwrap().clone())
}

#[test]
fn a_wrong_key_is_seen_at_the_start() {
    let scene = failing(&refusing(), &format!("key = \"{KEY}\"\n"));
    let key = operator(&scene);
    let server = Server::start(&scene);
    let models = || server.api("GET", "/api/models", &key, None).1["items"].clone();
    wait_until(|| models()[0]["key_refused"].is_string());
    let told = models()[0]["key_refused"].to_string();
    assert!(told.contains("wrong key") && !told.contains(KEY), "{told}");
    let log = server.api("GET", "/api/logs?level=warn", &key, None).1;
    let log = log["items"].to_string();
    assert!(
        log.contains("key is refused") && log.contains("broken") && !log.contains(KEY),
        "{log}"
    );
    let doctor = scene.callgate(&["doctor", "--json"]);
    assert_eq!(doctor.code, Some(1));
    let checks = doctor.json()["checks"].as_array().cloned().unwrap();
    let check = checks.iter().find(|check| check["name"] == "model broken");
    let check = check.unwrap();
    assert_eq!(check["status"], "fail", "{check}");
    assert!(
        check["hint"]
            .as_str()
            .unwrap()
            .contains("callgate model add"),
        "{check}"
    );

    // A key that is mended while the server runs is asked about again.
    let file = scene.data().join("callgate.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace(&format!("key = \"{KEY}\"\n"), "")).unwrap();
    wait_until(|| models()[0]["key_refused"].is_null());
}

#[test]
fn people_are_told_what_happened_in_their_language() {
    let scene = failing(&refusing(), &format!("key = \"{KEY}\"\n"));
    let (said, end) = send(&scene, "hello");
    assert_eq!(
        said,
        "The model could not answer: its provider does not accept the key. Whoever runs this has to enter a valid one."
    );
    assert_eq!(
        (&end["stop"], &end["failure"]["error"]),
        (&json!("error"), &json!("auth"))
    );
    let words = end["failure"]["message"].as_str().unwrap();
    assert!(
        words.contains("wrong key") && !words.contains(KEY),
        "{words}"
    );
    let (said, _) = send(&scene, "你好");
    assert_eq!(
        said,
        "模型没能回答：它的服务商不接受密钥。需要管理者填写有效的密钥。"
    );

    // At the terminal, whoever looks after it is the one who asks.
    let shown = scene.callgate(&["send", "hello"]);
    assert_eq!(shown.code, Some(1));
    assert!(
        shown.stderr.contains("callgate model test broken"),
        "{}",
        shown.stderr
    );

    let key = operator(&scene);
    let server = Server::start(&scene);
    let turns = server.api("GET", "/api/turns", &key, None).1;
    assert_eq!(turns["items"][0]["failure"]["error"], "auth", "{turns}");
}

#[test]
fn a_server_that_is_not_there_is_said_to_be_that() {
    let scene = failing("http://127.0.0.1:9/v1", "");
    let (said, end) = send(&scene, "hello");
    assert!(
        said.contains("cannot be reached") && said.contains("try again"),
        "{said}"
    );
    assert!(!said.contains("127.0.0.1"), "no address for people: {said}");
    assert_eq!(end["failure"]["error"], "unreachable");
    let (said, _) = send(&scene, "你好");
    assert!(said.contains("连不上"), "{said}");
}
