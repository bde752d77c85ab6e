//! Files of remote clients: their shapes, their one root, and everything that does not lead there.

use std::{
    os::unix::fs::symlink,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use callgate_service::remote::RemoteSettings;
use serde_json::{Value as Json, json};

use super::{client::Client, scene::Scene};

async fn read(client: &mut Client, path: impl Into<Json>) -> Json {
    let ack = client.call("readJsonFromFile", json!([path.into()])).await;
    assert_eq!(ack["success"], true, "the call itself: {ack}");
    ack["result"].clone()
}

async fn save(client: &mut Client, path: impl Into<Json>, data: Json) -> Json {
    let ack = client
        .call("saveJsonToFile", json!([path.into(), data]))
        .await;
    assert_eq!(ack["success"], true, "the call itself: {ack}");
    ack["result"].clone()
}

#[tokio::test]
async fn results_are_nested_as_clients_read_them() {
    let scene = Scene::new().await;
    let mut client = scene.client("app").await;
    scene.put(
        "settings/config.json",
        "{\"theme\": \"dark\", \"list\": [1]}",
    );
    let expect = json!({ "success": true, "result": { "theme": "dark", "list": [1] } });
    assert_eq!(read(&mut client, "/settings/config.json").await, expect);
    scene.put("list.json", "[1, 2]");
    assert_eq!(
        read(&mut client, "list.json").await["result"],
        json!([1, 2])
    );

    let missing = read(&mut client, "settings/none.json").await;
    assert_eq!(
        (&missing["success"], &missing["error"]["code"]),
        (&json!(false), &json!("ENOENT"))
    );
    scene.put("bad.json", "{");
    let bad = read(&mut client, "bad.json").await;
    assert_eq!(
        (&bad["success"], &bad["error"]["code"]),
        (&json!(false), &json!("EJSON"))
    );
    for result in [missing, bad] {
        let message = result["error"]["message"].as_str().unwrap();
        let home = scene.home.data().to_str().unwrap();
        assert!(!message.contains(home), "{message}");
    }

    let saved = save(&mut client, "a.json", json!({ "a": 1, "b": { "x": 1 } })).await;
    assert_eq!(saved, json!({ "success": true }));
    save(&mut client, "a.json", json!({ "b": { "y": 2 } })).await;
    let text = scene.content("a.json").unwrap();
    assert_eq!(text, "{\n  \"a\": 1,\n  \"b\": {\n    \"y\": 2\n  }\n}");
    save(&mut client, "./deep/er/b.json", json!({ "new": true })).await;
    assert_eq!(
        read(&mut client, "deep/er/b.json").await["result"],
        json!({ "new": true })
    );
    for path in [json!("../x"), json!(""), json!(7)] {
        let refused = save(&mut client, path, json!({})).await;
        assert!(refused["error"].is_string(), "a text: {refused}");
    }
}

#[tokio::test]
async fn merging_never_wipes() {
    let scene = Scene::new().await;
    let mut client = scene.client("app").await;
    for (name, content) in [
        ("notes.md", "# mine\n"),
        ("array.json", "[1]"),
        ("cut.json", "{\"a\""),
    ] {
        scene.put(name, content);
        let refused = save(&mut client, name, json!({ "a": 1 })).await;
        assert_eq!(refused["success"], false, "{name}");
        assert_eq!(scene.content(name).as_deref(), Some(content));
    }
    for data in [json!([1]), json!("text"), json!(null), json!(3)] {
        let refused = save(&mut client, "new.json", data).await;
        assert_eq!(refused["success"], false, "{refused}");
    }
    assert_eq!(scene.content("new.json"), None);
}

#[tokio::test]
async fn one_file_has_many_spellings() {
    let scene = Scene::new().await;
    let mut client = scene.client("app").await;
    save(&mut client, "settings/x.json", json!({ "it": 1 })).await;
    let whole = scene.home.data().join("remote/settings/x.json");
    for path in [
        "settings/x.json",
        "./settings/x.json",
        "/settings/x.json",
        "settings//./a/../x.json",
        whole.to_str().unwrap(),
    ] {
        assert_eq!(
            read(&mut client, path).await["result"],
            json!({ "it": 1 }),
            "{path}"
        );
    }
}

#[tokio::test]
async fn restricted_files_are_so_for_reading_writing_and_serving() {
    let settings = RemoteSettings {
        restricted_files: vec!["settings/secret.json".to_owned(), "keys".to_owned()],
        ..RemoteSettings::default()
    };
    let scene = Scene::with(settings).await;
    let mut client = scene.client("app").await;
    for name in ["settings/secret.json", "keys/a.json"] {
        scene.put(name, "{\"secret\": 1}");
        for path in [
            name.to_owned(),
            format!("/{name}"),
            format!("x/../{name}"),
            name.to_uppercase(),
        ] {
            assert_eq!(
                read(&mut client, path.as_str()).await["error"]["code"],
                "EACCES",
                "{path}"
            );
            let refused = save(&mut client, path.as_str(), json!({ "a": 1 })).await;
            assert!(refused["error"].is_string(), "{path}");
            let ack = client
                .call("addStaticResources", json!([{ "/x": path }]))
                .await;
            assert_eq!(ack["result"]["results"][0]["status"], "error", "{path}");
        }
        assert_eq!(scene.content(name).as_deref(), Some("{\"secret\": 1}"));
    }
}

/// What must be neither read nor written, whatever it is called.
#[tokio::test]
async fn no_trick_leads_out() {
    let scene = Scene::new().await;
    let root = scene.home.data().join("remote");
    let outside = scene.home.data().join("outside.json");
    std::fs::write(&outside, "{\"secret\": 1}").unwrap();
    std::fs::create_dir(scene.home.data().join("remote2")).unwrap();
    std::fs::write(scene.home.data().join("remote2/x.json"), "{\"secret\": 1}").unwrap();
    std::fs::create_dir_all(root.join("settings")).unwrap();
    std::fs::write(root.join("plain.json"), "{}").unwrap();
    symlink(&outside, root.join("link.json")).unwrap();
    symlink(scene.home.data(), root.join("linked")).unwrap();
    symlink("../../outside.json", root.join("settings/up.json")).unwrap();
    symlink("loop.json", root.join("loop.json")).unwrap();
    symlink("plain.json", root.join("alias.json")).unwrap();
    std::fs::hard_link(&outside, root.join("hard.json")).unwrap();
    make_fifo(&root.join("pipe.json"));
    let data = scene.home.data().to_str().unwrap().to_owned();
    let long = "n".repeat(300);
    let deep = "d/".repeat(40) + "x.json";
    let huge = "a/".repeat(2000) + "x.json";
    let tricks: Vec<Json> = [
        // Dots.
        "../outside.json",
        "..",
        "../",
        "./..",
        "a/../../outside.json",
        "settings/../../outside.json",
        "/../outside.json",
        "//../outside.json",
        "....//outside.json",
        ".../outside.json",
        "settings/.../x.json",
        "./././../outside.json",
        "a/b/../../../outside.json",
        "../remote2/x.json",
        "settings/..",
        ". ./outside.json",
        ".. /outside.json",
        "..\u{a0}/x.json.",
        // Other systems' separators, drives and streams.
        "..\\outside.json",
        "..\\..\\outside.json",
        "settings\\..\\..\\outside.json",
        "C:\\outside.json",
        "C:/outside.json",
        "c:outside.json",
        "\\\\server\\share\\x.json",
        "plain.json::$DATA",
        "plain.json:stream",
        "file:///etc/passwd",
        "plain.json.",
        "plain.json ",
        "PLAIN~1.JSO",
        // Encodings.
        "%2e%2e/outside.json",
        "%2e%2e%2foutside.json",
        "..%2foutside.json",
        "..%5coutside.json",
        "%252e%252e/outside.json",
        "..%c0%afoutside.json",
        "%uff0e%uff0e/outside.json",
        "plain.json%00",
        "..\u{2215}outside.json",
        "\u{ff0e}\u{ff0e}/outside.json",
        "\u{2025}/outside.json",
        "..\u{ff0f}outside.json",
        "\u{202e}nosj.edistuo",
        "a\u{200b}.json",
        // Bytes that end or split names.
        "plain.json\0",
        "\0",
        "plain\n.json",
        "plain.json\r",
        "\u{7f}.json",
        "\u{1b}[2J.json",
        // Links, pipes, folders, devices.
        "link.json",
        "linked/outside.json",
        "settings/up.json",
        "loop.json",
        "alias.json",
        "hard.json",
        "pipe.json",
        "settings",
        "settings/",
        "plain.json/x.json",
        "linked/callgate.db",
        "CON",
        "nul.json",
        "settings/COM1.json",
        "aux",
        "LPT9.txt",
        "~/.ssh/id",
        "~root/x.json",
        ".callgate-0123.json",
        // Nothing, too much, and no text.
        "",
        "/",
        ".",
        "./",
        &long,
        &deep,
        &huge,
    ]
    .into_iter()
    .map(Json::from)
    .chain([
        json!(null),
        json!(7),
        json!(true),
        json!([]),
        json!(["plain.json"]),
        json!({ "a": 1 }),
    ])
    .chain(
        [
            format!("{data}/outside.json"),
            format!("{data}/remote/../outside.json"),
        ]
        .map(Json::from),
    )
    .chain(
        [
            format!("{data}/callgate.db"),
            format!("{data}/remote2/x.json"),
        ]
        .map(Json::from),
    )
    .collect();
    assert!(tricks.len() >= 60, "{}", tricks.len());
    let before = snapshot(scene.home.data());
    let mut client = scene.client("app").await;
    for trick in tricks {
        let result = read(&mut client, trick.clone()).await;
        assert_eq!(result["success"], false, "read {trick}: {result}");
        assert!(!result.to_string().contains("secret"), "{trick}");
        assert!(
            !result.to_string().contains(&data) || trick.to_string().contains(&data),
            "{trick}: {result}"
        );
        let ack = client
            .call("addStaticResources", json!([{ "/x": trick }]))
            .await;
        let status = &ack["result"]["results"][0]["status"];
        // A folder is a fine thing to serve.
        let folder = trick
            .as_str()
            .is_some_and(|it| it.starts_with("settings") && it.len() < 10);
        assert_eq!(status == "error", !folder, "serve {trick}: {ack}");
    }
    // Paths from the root that lead nowhere make files in the root, so they are not among these.
    for trick in [
        "../outside.json",
        "a/../../outside.json",
        "..\\outside.json",
        "%2e%2e/outside.json",
        "link.json",
        "linked/outside.json",
        "linked/new.json",
        "settings/up.json",
        "loop.json",
        "alias.json/x",
        "pipe.json",
        "settings",
        "plain.json/x.json",
        "plain.json\0",
        "nul.json",
        "..\u{2215}outside.json",
        ".callgate-0123.json",
        "",
        &long,
        &deep,
        &huge,
        "plain.json.",
    ] {
        let result = save(&mut client, trick, json!({ "mine": 1 })).await;
        assert_eq!(result["success"], false, "save {trick}: {result}");
    }
    assert_eq!(snapshot(scene.home.data()), before, "nothing was touched");
}

/// A folder that is a folder one moment and a link outside the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_race_of_renames_is_lost_by_the_attacker() {
    let scene = Scene::new().await;
    let root = scene.home.data().join("remote");
    let outside = scene.home.data().join("away");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("x.json"), "{\"secret\": 1}").unwrap();
    std::fs::create_dir_all(root.join("real")).unwrap();
    std::fs::write(root.join("real/x.json"), "{\"fine\": 1}").unwrap();
    symlink(&outside, root.join("evil")).unwrap();
    let done = AtomicBool::new(false);
    let mut client = scene.client("app").await;
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let swap = |from: &str| {
                let _ = std::fs::rename(root.join(from), root.join("door"));
                let _ = std::fs::rename(root.join("door"), root.join(from));
            };
            while !done.load(Ordering::Relaxed) {
                swap("real");
                swap("evil");
            }
        });
        let asking = async {
            let mut answers = Vec::new();
            for round in 0..200 {
                answers.push(read(&mut client, "door/x.json").await);
                answers.push(save(&mut client, "door/x.json", json!({ "round": round })).await);
            }
            done.store(true, Ordering::Relaxed);
            answers
        };
        let answers =
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(asking));
        assert!(
            answers
                .iter()
                .all(|answer| !answer.to_string().contains("secret"))
        );
    });
    assert_eq!(
        std::fs::read_to_string(outside.join("x.json")).unwrap(),
        "{\"secret\": 1}"
    );
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

#[tokio::test]
async fn a_guest_reads_what_the_extension_asks_for_first() {
    let scene = Scene::new().await;
    scene.put(
        "settings/SillyTavern-8000-settings.json",
        "{\"Remember_me\": true}",
    );
    scene.put("settings/server_settings.json", "{\"port\": 4000}");
    scene.put("settings/other-settings.json", "{\"secret\": 1}");
    let mut guest = scene.guest("SillyTavern-8000").await;
    let own = read(&mut guest, "./settings/SillyTavern-8000-settings.json").await;
    assert_eq!(own["result"]["Remember_me"], true);
    let server = read(&mut guest, "./settings/server_settings.json").await;
    assert_eq!(server["result"]["port"], 4000);
    for path in [
        "settings/other-settings.json",
        "x.json",
        "settings/../settings/other-settings.json",
    ] {
        let refused = read(&mut guest, path).await;
        assert_eq!(refused["error"]["code"], "EACCES", "{path}");
    }
    let refused = guest
        .call(
            "saveJsonToFile",
            json!(["settings/server_settings.json", {}]),
        )
        .await;
    assert_eq!(refused["success"], false);
    // A name that would lead elsewhere is no other file.
    let mut odd = scene.guest("../settings/other").await;
    let refused = read(&mut odd, "settings/other-settings.json").await;
    assert_eq!(refused["success"], false);
}

fn make_fifo(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Every file below, with what it holds.
fn snapshot(folder: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if path.to_string_lossy().contains("callgate.db") {
                continue;
            }
            if kind.is_dir() {
                folders.push(path.clone());
            }
            let content = kind.is_file().then(|| std::fs::read(&path).unwrap());
            found.push((path.to_string_lossy().into_owned(), content));
        }
    }
    found.sort();
    found
}
