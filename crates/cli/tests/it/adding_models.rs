//! `callgate model add` and `test`: tried before it is written, written without harm, and never
//! with a key where somebody could read it.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
};

use crate::{
    model::FakeModel,
    scene::{Scene, finish},
};

const KEY: &str = "sk-very-secret";

/// A server that knows no key, and repeats the one it was given.
pub fn refusing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let lines = BufReader::new(&stream).lines();
            let head: Vec<String> = lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect();
            let key = head.iter().find(|line| line.starts_with("authorization"));
            let body = format!("{{\"error\": {{\"message\": \"wrong key: {key:?}\"}}}}")
                .replace("Some(\"", "")
                .replace("\")", "");
            let head = "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n";
            let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    url
}

fn file(scene: &Scene) -> String {
    fs::read_to_string(scene.data().join("callgate.toml")).unwrap_or_default()
}

#[test]
fn a_model_that_answers_is_written_down_and_found() {
    let before = "# my settings\n[approval]\nask = [] # nobody\n";
    let scene = Scene::configured(before);
    let fake = FakeModel::start(0, "OK");
    let add = [
        "model",
        "add",
        "mine",
        "--base-url",
        fake.url(),
        "--model",
        "large-2",
        "--json",
    ];
    let added = scene.callgate(&add).succeeded().json();
    assert_eq!(fake.asked(), 1);
    assert_eq!(
        (&added["id"], &added["wire"]),
        (&"mine".into(), &"openai".into())
    );
    let written = file(&scene);
    assert!(written.starts_with(before), "{written}");

    let list = scene
        .callgate(&["model", "list", "--json"])
        .succeeded()
        .json();
    assert_eq!(
        (&list[0]["id"], &list[0]["name"]),
        (&"mine".into(), &"large-2".into())
    );
    assert_eq!(list[0]["price"], serde_json::Value::Null);

    let twice = scene.callgate(&add);
    assert_eq!(twice.code, Some(1));
    assert!(
        twice.stdout.contains("there is a model 'mine' already"),
        "{}",
        twice.stdout
    );
    assert_eq!(file(&scene), written);
}

#[test]
fn a_key_from_standard_input_is_kept_and_never_shown() {
    let scene = Scene::new();
    let fake = FakeModel::start(0, "OK");
    let add = [
        "model",
        "add",
        "mine",
        "--base-url",
        fake.url(),
        "--key-stdin",
    ];
    let added = scene.given(&format!("{KEY}\n"), &add).succeeded();
    assert!(!format!("{}{}", added.stdout, added.stderr).contains(KEY));
    assert!(file(&scene).contains(KEY));
    let mode = fs::metadata(scene.data().join("callgate.toml")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);

    let empty = scene.given(
        "\n",
        &["model", "add", "b", "--base-url", fake.url(), "--key-stdin"],
    );
    assert_eq!(empty.code, Some(1));
    assert!(
        empty.stderr.contains("standard input holds no key"),
        "{}",
        empty.stderr
    );
}

#[test]
fn a_wrong_key_is_told_at_once_and_nothing_is_written() {
    let scene = Scene::new();
    let url = refusing();
    let add = [
        "model",
        "add",
        "mine",
        "--base-url",
        &url,
        "--key-env",
        "MINE",
    ];
    let mut command = scene.command(&add);
    let said = finish(command.env("MINE", KEY).spawn().unwrap());
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr.contains("the model refused the key"),
        "{}",
        said.stderr
    );
    assert!(!said.stderr.contains(KEY), "{}", said.stderr);
    assert_eq!(file(&scene), "");

    let unset = scene.callgate(&add);
    insta::assert_snapshot!(unset.stderr, @r"
    error: MINE is not set
    hint: export MINE=..., or give the key by --key-stdin
    ");

    let mut command = scene.command(&[&add[..], &["--no-check"]].concat());
    finish(command.env("MINE", KEY).spawn().unwrap()).succeeded();
    assert!(file(&scene).contains("key_env = \"MINE\""));
    assert!(!file(&scene).contains(KEY));
}

#[test]
fn providers_are_known_by_name() {
    let scene = Scene::new();
    let mut command = scene.command(&["model", "add", "anthropic", "--no-check", "--json"]);
    let child = command.env("ANTHROPIC_API_KEY", KEY).spawn().unwrap();
    let added = finish(child).succeeded().json();
    assert_eq!(added["wire"], "anthropic");
    assert!(
        file(&scene).contains("key_env = \"ANTHROPIC_API_KEY\""),
        "{}",
        file(&scene)
    );

    let nobody = [
        "model",
        "add",
        "b",
        "--base-url",
        "http://127.0.0.1:1",
        "--fallback",
        "c",
    ];
    let said = scene.callgate(&nobody);
    assert!(
        said.stderr
            .contains("the fallback 'c' is no model of the file"),
        "{}",
        said.stderr
    );

    let keyless = scene.callgate(&["model", "add", "gemini"]);
    insta::assert_snapshot!(keyless.stderr, @r"
    error: gemini needs a key
    hint: set GEMINI_API_KEY or GOOGLE_API_KEY, or give --key-env or --key-stdin
    ");
}

#[test]
fn a_test_gives_a_verdict_on_each_model() {
    let good = FakeModel::start(0, "OK");
    let bad = refusing();
    let toml = format!(
        "{}fallback = [\"bad\"]\n[[models.list]]\nid = \"bad\"\nbase_url = \"{bad}\"\n\
         key = \"{KEY}\"\nfallback = [\"fake\"]\n",
        good.toml()
    );
    let scene = Scene::configured(&toml);
    let one = scene
        .callgate(&["model", "test", "fake", "--json"])
        .succeeded()
        .json();
    assert_eq!(
        (&one[0]["ok"], &one[0]["text"]),
        (&true.into(), &"OK".into())
    );

    let all = scene.callgate(&["model", "test"]);
    assert_eq!(
        all.code,
        Some(1),
        "a replacement does not answer for a model that fails"
    );
    assert!(all.stdout.contains("fake: works ("), "{}", all.stdout);
    assert!(
        all.stdout.contains("bad: fails: the model refused the key"),
        "{}",
        all.stdout
    );
    assert!(
        all.stderr.contains("hint: see that the key is whole"),
        "{}",
        all.stderr
    );
    assert!(!all.stdout.contains(KEY), "{}", all.stdout);

    let unknown = scene.callgate(&["model", "test", "nobody"]);
    assert!(
        unknown
            .stderr
            .contains("no model 'nobody'; there are: fake, bad")
    );
}
