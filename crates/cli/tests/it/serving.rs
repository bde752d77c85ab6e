//! `serve`: HTTP, the control socket, timers, and coming back after it was killed.

use serde_json::json;

use crate::{
    model::FakeModel,
    scene::{Scene, finish, wait_until},
    server::Server,
};

#[test]
fn http_serves_its_own_names_only() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    assert!(server.asked("/healthz").starts_with("HTTP/1.1 200 OK"));
    assert!(server.asked("/healthz").ends_with("\r\n\r\nok\n"));
    let page = server.asked("/");
    assert!(page.contains("Callgate"), "{page}");
    assert!(
        page.to_lowercase()
            .contains("content-security-policy: default-src 'none'")
    );
    let elsewhere = server.get("/healthz", &[("Host", "evil.example")]);
    assert!(elsewhere.starts_with("HTTP/1.1 421"), "{elsewhere}");
    let own = format!("http://{}", server.address);
    let from = |origin: &str| server.get("/", &[("Host", &server.address), ("Origin", origin)]);
    assert!(from(&own).starts_with("HTTP/1.1 200"));
    assert!(from("http://evil.example").starts_with("HTTP/1.1 403"));
    assert!(!from(&own).to_lowercase().contains("access-control"));
    assert!(server.asked("/none").starts_with("HTTP/1.1 404"));
    server.end();
}

#[test]
fn other_commands_go_through_it_and_are_counted() {
    let scene = Scene::new();
    let answers = [
        json!({ "content": "```python\nsend_message('from code')\n```" }),
        json!({ "content": "from words" }),
    ];
    let model = scene.script(&answers);
    let toml = format!("[models]\ndefault = \"{model}\"\n");
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let server = Server::start(&scene);
    let said = scene.callgate(&["send", "one", "--json"]).succeeded();
    assert_eq!(said.messages(), ["from code"]);
    assert_eq!(said.lines()[1]["calls"][0]["method"], "send_message");
    let said = scene.given("two\n", &["chat"]).succeeded();
    assert_eq!(said.stdout, "from words\n", "streamed, and not said twice");
    let refused = scene.callgate(&["send", "three", "--model", "demo"]);
    insta::assert_snapshot!(refused.stderr, @r"
    error: another callgate is running on this data directory, with models of its own
    hint: leave out --model and say /model ID, or choose another directory with --data DIR
    ");
    let second = scene.callgate(&["serve", "--listen", "127.0.0.1:0"]);
    insta::assert_snapshot!(second.stderr, @r"
    error: another callgate is running on this data directory
    hint: end it first, or choose another directory with --data DIR
    ");

    server.asked("/healthz");
    assert!(server.asked("/metrics").starts_with("HTTP/1.1 401"));
    let login = server.ready["login"].as_str().unwrap();
    let (_, key) = login.split_once('#').unwrap();
    let (_, metrics) = server.text("GET", "/metrics", key, None);
    for line in [
        "callgate_turns_total{stop=\"answered\"} 2",
        "callgate_rounds_total 2",
        "callgate_calls_total{from=\"code\",method=\"builtin/send_message\",outcome=\"done\"} 1",
        "callgate_call_seconds_total{from=\"code\",method=\"builtin/send_message\"",
        "callgate_model_seconds_count{model=\"script:",
        "callgate_http_seconds_count{method=\"GET\",status=\"200\"} 1",
        "callgate_sockets 0",
        "callgate_clients 0",
        "callgate_runs_total{stop=\"finished\"} 1",
        "callgate_sandbox_waiting ",
        "callgate_uptime_seconds ",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    server.end();
}

#[test]
fn a_turn_cut_off_by_a_kill_is_answered_once_after_the_restart() {
    let model = FakeModel::start(1, "here I am");
    let scene = Scene::configured(&model.toml());
    let server = Server::start(&scene);
    let asking = scene.command(&["send", "are you there?"]).spawn().unwrap();
    wait_until(|| model.asked() == 1);
    drop(server);
    assert_eq!(finish(asking).code, Some(1), "nobody answered it");

    let server = Server::start(&scene);
    wait_until(|| scene.outbox() == ["here I am"]);
    assert_eq!(model.asked(), 2);
    let next = scene.callgate(&["send", "/stats", "--json"]).succeeded();
    assert_eq!(
        next.messages()[0],
        "here I am",
        "it goes to whoever comes next"
    );
    let answers = scene
        .said()
        .into_iter()
        .filter(|(_, text)| text == "here I am");
    assert_eq!(answers.count(), 1);
    server.end();
}

#[test]
fn a_timer_fires_and_is_answered() {
    let model = FakeModel::start(0, "tea is ready");
    let scene = Scene::configured(&model.toml());
    let server = Server::start(&scene);
    let arguments = r#"{"text": "remind Ada of her tea", "minutes": 0.001}"#;
    scene
        .callgate(&["call", "set_timer", "--args", arguments])
        .succeeded();
    wait_until(|| scene.outbox() == ["tea is ready"]);
    let said = scene.said();
    let fired = said.iter().filter(|(role, _)| role == "user");
    assert_eq!(
        fired.collect::<Vec<_>>(),
        [&("user".to_owned(), "remind Ada of her tea".to_owned())]
    );
    server.end();
}

#[test]
fn it_finishes_what_is_under_way_before_it_ends() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    let visitor = scene.start(
        "remember('in', 'side')\nimport time; time.sleep(1); print('served')",
        &[],
    );
    wait_until(|| scene.notes() == ["in"]);
    server.end();
    assert_eq!(finish(visitor).succeeded().stdout, "served\n");
}
