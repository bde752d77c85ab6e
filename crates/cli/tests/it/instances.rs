//! Several servers on one database, each in a data directory of its own.

use callgate_testkit::Home;
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use crate::{
    frozen::socket_io::client::Client,
    model::FakeModel,
    outages::{say, serve},
    scene::{Scene, wait_until},
    server::Server,
};

const SESSION: &str = "cli:FriendMessage:operator";

fn answers() -> Vec<Json> {
    let answer = |number| json!({ "content": format!("answer {number}") });
    (0..20).map(answer).collect()
}

fn answered(server: &Server, key: &str, text: &str) -> Json {
    let body = json!({ "text": text, "mode": "tools" });
    let (status, said) = say(server, key, SESSION, &body);
    assert_eq!(status, 200, "{said}");
    said["stop"].clone()
}

/// A server that was just started looks for its models first.
fn has_models(server: &Server, key: &str) {
    wait_until(|| server.api("GET", "/api/models", key, None).0 == 200);
}

#[test]
fn a_session_whose_server_died_in_it_and_came_back_is_answered_by_another() {
    let home = Runtime::new().unwrap().block_on(Home::postgres());
    let url = home.options().url.unwrap();
    let (first, second) = (Scene::new(), Scene::new());
    let (server, key) = serve(&first, Some(&url), &answers());
    server.end();
    // It dies with the session in its hands, when nothing is left to go on with there.
    let dying = Server::start_killed_at("turn.after_finish", &first, &[]);
    has_models(&dying, &key);
    let body = json!({ "text": "one", "mode": "tools" });
    let path = format!("/api/sessions/{SESSION}/messages");
    let answer = dying.try_api("POST", &path, &key, &[], Some(&body));
    assert!(answer.is_none(), "{answer:?}");
    drop(dying);
    let _back = Server::start(&first);
    let (other, _) = serve(&second, Some(&url), &answers());
    assert_eq!(answered(&other, &key, "two"), "answered");
}

#[test]
fn others_take_over_once_an_instance_was_silent_for_as_long_as_the_operator_says() {
    let home = Runtime::new().unwrap().block_on(Home::postgres());
    let url = home.options().url.unwrap();
    // It leaves the first request without an answer.
    let model = FakeModel::start(1, "here I am");
    let database = format!("[database]\nurl = \"{url}\"\ntakeover_seconds = 1\n");
    let toml = format!("{database}{}", model.toml());
    let (first, second) = (Scene::configured(&toml), Scene::configured(&toml));
    let made = first.callgate(&["key", "new", "--scope", "operator", "--json"]);
    let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    let (server, other) = (Server::start(&first), Server::start(&second));
    for server in [&server, &other] {
        has_models(server, &key);
    }
    let body = json!({ "text": "are you there?", "wait": false });
    assert_eq!(say(&server, &key, "web:FriendMessage:ann", &body).0, 200);
    wait_until(|| model.asked() == 1);
    server.kill();
    let log = "/api/sessions/web:FriendMessage:ann/log";
    wait_until(|| {
        let (_, log) = other.api("GET", log, &key, None);
        log["items"][0]["parts"][0]["text"] == "here I am"
    });
    assert_eq!(model.asked(), 2);
}

#[test]
fn a_copied_data_directory_is_an_instance_of_its_own() {
    let home = Runtime::new().unwrap().block_on(Home::postgres());
    let url = home.options().url.unwrap();
    let (original, copy) = (Scene::new(), Scene::new());
    let (first, key) = serve(&original, Some(&url), &answers());
    for file in ["callgate.toml", "instance"] {
        std::fs::copy(original.data().join(file), copy.data().join(file)).unwrap();
    }
    let second = Server::start(&copy);
    has_models(&second, &key);
    let name = |scene: &Scene| std::fs::read_to_string(scene.data().join("instance")).unwrap();
    assert_ne!(name(&original), name(&copy));
    for (place, server) in [&first, &second, &first, &second].into_iter().enumerate() {
        assert_eq!(answered(server, &key, &format!("{place}")), "answered");
    }
}

/// A client is not always connected to the instance that answers it, after a kill say.
#[test]
fn a_remote_client_hears_what_another_instance_answers() {
    let home = Runtime::new().unwrap().block_on(Home::postgres());
    let url = home.options().url.unwrap();
    let (first, second) = (Scene::new(), Scene::new());
    let (here, key) = serve(&first, Some(&url), &answers());
    let (there, _) = serve(&second, Some(&url), &answers());
    let mut client = Client::open(&here.address, "ann", &key);
    client.sit("/llm");
    let body = json!({ "text": "hello", "mode": "tools" });
    let (status, said) = say(&there, &key, "remote:FriendMessage:ann", &body);
    assert_eq!((status, &said["stop"]), (200, &json!("answered")), "{said}");
    let (_, told) = client.hear("message");
    assert_eq!(told[0]["data"], "answer 0");
}
