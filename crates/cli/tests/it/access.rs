//! Who gets in: the first key, keys with scopes, addresses that others reach, and the address that
//! is for remote clients alone.

use serde_json::{Value as Json, json};

use crate::{scene::Scene, server::Server};

#[test]
fn the_first_start_shows_a_key_once() {
    let scene = Scene::new();
    let first = Server::start(&scene);
    let login = first.ready["login"].as_str().unwrap().to_owned();
    let (link, key) = login.split_once('#').unwrap();
    assert_eq!(link, format!("http://{}/login", first.address));
    assert!(key.starts_with("callgate_"), "{key}");
    let (status, _) = first.api("GET", "/api/keys", key, None);
    assert_eq!(status, 200, "it opens what only the operator may");
    let listed = scene.callgate(&["key", "list", "--json"]).succeeded();
    assert_eq!(listed.json()[0]["scopes"], json!(["operator"]));
    assert!(!listed.stdout.contains(key));
    first.end();
    let second = Server::start(&scene);
    assert_eq!(second.ready["login"], Json::Null);
    second.end();
    let database = std::fs::read(scene.data().join("callgate.db")).unwrap();
    let held = database
        .windows(key.len())
        .any(|bytes| bytes == key.as_bytes());
    assert!(!held, "only its hash is kept");
}

#[test]
fn keys_have_scopes_and_may_belong_to_one_client() {
    let scene = Scene::new();
    let made = scene.callgate(&["key", "new", "--json"]).succeeded().json();
    assert_eq!(made.as_object().unwrap().len(), 2, "id and key: {made}");
    let narrow = [
        "key",
        "new",
        "--scope",
        "method:add",
        "--client",
        "SillyTavern-8000",
    ];
    scene.callgate(&narrow).succeeded();
    let keys = scene
        .callgate(&["key", "list", "--json"])
        .succeeded()
        .json();
    assert_eq!(
        (&keys[0]["scopes"], &keys[0]["client"]),
        (&json!(["methods"]), &Json::Null)
    );
    assert_eq!(keys[1]["scopes"], json!(["method:add"]));
    assert_eq!(keys[1]["client"], "SillyTavern-8000");
    let id = made["id"].as_str().unwrap();
    scene.callgate(&["key", "revoke", id]).succeeded();
    let keys = scene
        .callgate(&["key", "list", "--json"])
        .succeeded()
        .json();
    assert!(keys[0]["revoked_at"].is_string());
    let wrong = scene.callgate(&["key", "new", "--scope", "everything"]);
    insta::assert_snapshot!(wrong.stderr, @r"
    error: no scope 'everything'
    hint: there are operator, methods, method:NAME, chat, models, read, sessions, approve, plugins, settings and metrics
    ");
    let nobody = scene.callgate(&["client", "approve", "nobody"]);
    assert!(
        nobody.stderr.contains("no client 'nobody' has asked"),
        "{}",
        nobody.stderr
    );
    let none = scene.callgate(&["client", "list"]).succeeded();
    assert!(
        none.stderr.contains("no client has come"),
        "{}",
        none.stderr
    );
}

#[test]
fn an_address_that_others_reach_needs_tls_or_a_word_of_yours() {
    let scene = Scene::new();
    let refused = scene.callgate(&["serve", "--listen", "0.0.0.0:0"]);
    insta::assert_snapshot!(refused.stderr, @r"
    error: 0.0.0.0:0 is reached by other machines, and nothing would hide keys from the network
    hint: set serve.tls_cert and serve.tls_key, or serve.insecure = true if a proxy or the network itself keeps it safe
    ");
    let half = Scene::configured("[serve]\ntls_cert = \"a.pem\"\n");
    let half = half.callgate(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(half.stderr.contains("needs both"), "{}", half.stderr);
    let scene = Scene::configured("[serve]\ninsecure = true\n");
    Server::start_at(&scene, "0.0.0.0:0").end();
}

#[test]
fn remote_clients_can_have_an_address_of_their_own() {
    let scene = Scene::configured("[remote]\nlisten = \"127.0.0.1:0\"\n");
    std::fs::create_dir_all(scene.data().join("remote/web")).unwrap();
    let server = Server::start(&scene);
    let own = server.ready["remote"].as_str().unwrap();
    let own = own.strip_prefix("http://").unwrap().to_owned();
    let asked = |path: &str| server.at(&own, path, &[("Host", &own)]);
    assert!(asked("/socket.io/?EIO=4&transport=polling").starts_with("HTTP/1.1 200"));
    assert!(asked("/callgate.js").starts_with("HTTP/1.1 200"));
    for path in [
        "/",
        "/metrics",
        "/healthz",
        "/api/keys",
        "/v1/models",
        "/style.css",
    ] {
        let answer = asked(path);
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    let polling = server.asked("/socket.io/?EIO=4&transport=polling");
    assert!(
        polling.starts_with("HTTP/1.1 200"),
        "also at the main address: {polling}"
    );
    server.end();
}
