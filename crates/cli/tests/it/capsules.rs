//! A session as one file, written and executed again by the real binary, on the command line and
//! over HTTP.

use std::{os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value as Json, json};

use crate::{
    astrbot::example,
    environments::{equipped, prepare},
    scene::{Scene, finish, wait_until},
    server::Server,
};

const KEY: &str = "cli:FriendMessage:operator";

/// A session with code, tools, a note and a file; gives the ids of its turns.
fn played(scene: &Scene) -> Vec<String> {
    let code = "import random, time\n\
        print(random.random(), time.time())\n\
        open('/app/shared/made.txt', 'w').write(str(random.random()))\n\
        remember('colour', 'blue')\n\
        send_message(f'done at {now()}')";
    let call = |name: &str, arguments: Json| {
        json!({"id": name, "type": "function",
               "function": {"name": name, "arguments": arguments.to_string()}})
    };
    let model = scene.script(&[
        json!({ "content": format!("```python\n{code}\n```") }),
        json!({ "tool_calls": [
            call("recall", json!({"query": "colour"})), call("now", json!({})),
        ]}),
        json!({ "content": "It is blue." }),
    ]);
    // A script begins anew with each process.
    let turns = [(0, "code", "Do it"), (1, "tools", "Which colour?")];
    let text = std::fs::read_to_string(scene.home().join("script.jsonl")).unwrap();
    for (from, mode, say) in turns {
        let rest: Vec<&str> = text.lines().skip(from).collect();
        scene.file("script.jsonl", &rest.join("\n"));
        let said = scene.callgate(&["send", say, "--model", &model, "--mode", mode]);
        said.succeeded();
    }
    let shown = scene
        .callgate(&["session", "show", KEY, "--json"])
        .succeeded();
    let shown = shown.json();
    let turns = shown["turns"].as_array().unwrap().iter();
    turns
        .map(|turn| turn["turn"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_session_is_exported_and_replayed() {
    let scene = Scene::new();
    let turns = played(&scene);
    let exported = scene
        .callgate(&["session", "export", KEY, "--json"])
        .succeeded()
        .json();
    let file = exported["file"].as_str().unwrap();
    assert!(file.ends_with("/operator.capsule"), "{file}");
    assert_eq!(
        (&exported["turns"], &exported["files"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(
        (&exported["runs"], &exported["left_out"]),
        (&json!(1), &json!([]))
    );
    let mode = std::fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let twice = scene.callgate(&["session", "export", KEY]);
    assert_eq!(twice.code, Some(1));
    assert!(
        twice
            .stderr
            .contains("hint: name a file that does not exist yet"),
        "{}",
        twice.stderr
    );

    // Elsewhere: no data directory is named, and none is made.
    let elsewhere = Scene::new();
    let replay = |arguments: &[&str]| {
        let mut command = elsewhere.bare(&[&["session", "replay", file], arguments].concat());
        crate::scene::finish(command.spawn().unwrap())
    };
    let replayed = replay(&["--json"]).succeeded().json();
    assert_eq!(replayed["equal"], true, "{replayed}");
    assert_eq!(
        (&replayed["turns"], &replayed["runs"]),
        (&json!(2), &json!(1))
    );
    assert!(!elsewhere.home().join("callgate-data").exists());
    let words = replay(&[]).succeeded();
    assert_eq!(words.stdout, "equal: 2 turns, 1 run, 5 calls\n");
    let one = replay(&["--turn", &turns[1], "--json"]).succeeded().json();
    assert_eq!((&one["turns"], &one["calls"]), (&json!(1), &json!(2)));

    let text = std::fs::read_to_string(file).unwrap();
    let other = elsewhere.file("other.capsule", &text.replace("It is blue.", "It is red."));
    let other = elsewhere.callgate(&["session", "replay", &other, "--json"]);
    assert_eq!(
        other.code,
        Some(0),
        "what was said and what was kept agree: {}",
        other.stdout
    );
    let (was, is) = (
        "\"reply\":{\"text\":\"It is blue.\"",
        "\"reply\":{\"text\":\"It is red.\"",
    );
    assert!(text.contains(was), "{text}");
    let reply = text.replace(was, is);
    let reply = elsewhere.file("reply.capsule", &reply);
    let data = elsewhere.home().join("new");
    let data = data.to_str().unwrap();
    let different = elsewhere.callgate(&["session", "replay", &reply, "--data", data]);
    assert_eq!(different.code, Some(1));
    let head = format!("different: message of turn {}, round 2\n", turns[1]);
    assert!(different.stdout.starts_with(&head), "{}", different.stdout);
    assert!(
        different.stdout.contains("It is red."),
        "{}",
        different.stdout
    );
    let again = elsewhere.callgate(&["session", "replay", &reply, "--data", data]);
    assert!(again.stderr.contains("has a session"), "{}", again.stderr);
}

/// Words, history and tools changed by hooks, tools made up for one turn, answers that a plugin
/// decorates and sends itself, methods of both ecosystems in both modes: elsewhere there is none of it.
#[test]
fn a_session_with_plugins_of_both_ecosystems_is_replayed_without_them() {
    let nekro = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/plugins/nekro_examples");
    let nekro = nekro.to_str().unwrap();
    let scene = equipped(&example("fragile"));
    prepare(&scene, nekro);
    let hooks =
        ["manners", "spelling", "recall", "toolbox"].map(|name| format!("five_hooks/{name}"));
    for plugin in hooks.iter().map(String::as_str).chain(["fragile"]) {
        scene
            .callgate(&["plugin", "install", &example(plugin)])
            .succeeded();
    }
    scene.callgate(&["plugin", "install", nekro]).succeeded();
    let call = |id: &str, name: &str, arguments: Json| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"id": id, "type": "function", "function": function})
    };
    let say = |mode: &str, text: &str, answers: &[Json]| {
        let model = scene.script(answers);
        let arguments = ["send", text, "--model", &model, "--mode", mode, "--json"];
        scene.callgate(&arguments).succeeded().messages()
    };
    let calls = json!({"tool_calls": [
        call("1", "measure", json!({"what": "Oslo"})),
        call("2", "saw", json!({})),
        call("3", "my_sum_function", json!({"num1": 2, "num2": 3})),
    ]});
    let heard = say(
        "tools",
        "teh weather?",
        &[calls, json!({"content": "25 degrees."})],
    );
    assert_eq!(heard, ["25 degrees."]);
    let code = "import random\n\
        print(my_sum_function(2, 3), saw(), random.random())\n\
        send_chat_message('from code')\n\
        search_kb('tea')";
    let code = json!({"content": format!("```python\n{code}\n```")});
    let heard = say(
        "code",
        "And teh tea?",
        &[code, json!({"content": "80 degrees."})],
    );
    assert_eq!(heard.last().unwrap(), "80 degrees.");
    let decorated = scene
        .said()
        .iter()
        .filter(|(_, text)| text.contains("[for operator]"))
        .count();
    assert_eq!(decorated, 2);

    let exported = scene.callgate(&["session", "export", KEY, "whole.capsule", "--json"]);
    let file = exported.succeeded().json()["file"]
        .as_str()
        .unwrap()
        .to_owned();
    let elsewhere = Scene::new();
    let replay = |file: &str| {
        let mut command = elsewhere.bare(&["session", "replay", file, "--json"]);
        finish(command.spawn().unwrap()).json()
    };
    let replayed = replay(&file);
    assert_eq!(replayed["equal"], true, "{replayed}");
    assert_eq!(
        (&replayed["turns"], &replayed["runs"]),
        (&json!(2), &json!(1))
    );
    let notes = replayed["notes"].to_string();
    assert!(
        notes.contains("what plugins changed is taken as recorded: said"),
        "{notes}"
    );

    // Nor need they be there when it is exported.
    for plugin in ["nekro_examples", "toolbox"] {
        scene.callgate(&["plugin", "remove", plugin]).succeeded();
    }
    let exported = scene.callgate(&["session", "export", KEY, "gone.capsule", "--json"]);
    let file = exported.succeeded().json()["file"]
        .as_str()
        .unwrap()
        .to_owned();
    let replayed = replay(&file);
    assert_eq!(replayed["equal"], true, "{replayed}");
}

#[test]
fn what_cannot_be_replayed_says_what_to_do() {
    let scene = Scene::new();
    let none = scene.callgate(&["session", "export", "cli:FriendMessage:nobody"]);
    insta::assert_snapshot!(none.stderr, @r"
    error: nothing was said or run in cli:FriendMessage:nobody yet
    hint: see the sessions with `callgate session list`
    ");
    let newer = scene.file("newer.capsule", "{\"type\":\"capsule\",\"version\":7}\n");
    let newer = scene.callgate(&["session", "replay", &newer]);
    insta::assert_snapshot!(newer.stderr, @r"
    error: the capsule is of version 7, and this callgate reads version 1
    hint: use the version of callgate that wrote it
    ");
    let other = scene.file("other.png", "\u{89}PNG");
    let other = scene.callgate(&["session", "replay", &other]);
    insta::assert_snapshot!(other.stderr, @r"
    error: this is no capsule: it does not begin with a line of JSON
    hint: give a file that `callgate session export` wrote
    ");
}

#[test]
fn a_server_exports_and_replays_over_http() {
    let scene = Scene::new();
    let turns = played(&scene);
    let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    let server = Server::start(&scene);
    let through = scene.callgate(&["session", "export", KEY, "through.capsule", "--json"]);
    assert_eq!(through.succeeded().json()["turns"], 2);

    let authorization = format!("Bearer {key}");
    let headers = [
        ("Host", server.address.as_str()),
        ("Authorization", &authorization),
    ];
    let whole = server.get(&format!("/api/sessions/{KEY}/capsule"), &headers);
    assert!(whole.starts_with("HTTP/1.1 200"), "{whole}");
    assert!(whole.contains("application/x-ndjson") && whole.contains("attachment"));
    assert!(whole.ends_with("}\n") && whole.contains("\"type\":\"end\""));
    let one = server.get(&format!("/api/turns/{}/capsule", turns[0]), &headers);
    assert!(one.contains(&turns[0]) && !one.contains(&turns[1]));

    let path = format!("/api/turns/{}/replay", turns[0]);
    let (status, replayed) = server.api("POST", &path, &key, None);
    assert_eq!(
        (status, &replayed["equal"]),
        (200, &json!(true)),
        "{replayed}"
    );
    assert_eq!(replayed["runs"], 1);
    let (status, problem) = server.api("POST", "/api/turns/none/replay", &key, None);
    assert_eq!(status, 404, "{problem}");
    let broken = json!({"type": "capsule", "version": 9});
    let (status, problem) = server.api("POST", "/api/capsules/replay", &key, Some(&broken));
    assert_eq!(status, 400, "{problem}");
    assert!(
        problem["hint"]
            .as_str()
            .unwrap()
            .contains("version of callgate"),
        "{problem}"
    );
    let (status, _) = server.api("GET", &format!("/api/sessions/{KEY}/capsule"), "no", None);
    assert_eq!(status, 401);

    let card = json!({"name": "Sera", "first_mes": "Hi {{user}}", "description": "kind"});
    let (status, made) = server.api("POST", "/api/personas/import", &key, Some(&card));
    assert_eq!(
        (status, &made["items"][0]["name"]),
        (200, &json!("Sera")),
        "{made}"
    );
    wait_until(|| server.api("GET", "/api/personas/Sera", &key, None).0 == 200);
    let (status, problem) = server.api("POST", "/api/personas/import", &key, Some(&card));
    assert_eq!(status, 422, "{problem}");
    let path = "/api/personas/import?name=other&replace=true";
    let (status, made) = server.api("POST", path, &key, Some(&card));
    assert_eq!(
        (status, &made["items"][0]["name"]),
        (200, &json!("other")),
        "{made}"
    );
    server.end();
}
