//! What a message costs on disk, by the pages of the database: rows, indexes and what lies unused in them.

use serde_json::json;

use crate::{
    astrbot::example,
    environments::equipped,
    scene::{Scene, finish},
};

const SESSION: &str = "cli:FriendMessage:operator";
const PAGE: i64 = 4_096;

/// So many messages of two words in one process, each answered in two.
fn talk(scene: &Scene, messages: usize, options: &[&str]) {
    let model = scene.script(&vec![json!({ "content": "Well, yes." }); messages]);
    let arguments = ["chat", "--json", "--model", &model];
    let said = scene.given(
        &"hello there\n".repeat(messages),
        &[&arguments, options].concat(),
    );
    assert_eq!(said.succeeded().messages().len(), messages);
}

fn pages(scene: &Scene) -> i64 {
    scene.stored(async |store| {
        let count = store.read(|tx| tx.scalar("PRAGMA page_count", &[])).await;
        count.unwrap().unwrap()
    })
}

/// What comes with the first messages is stored once. There are many, so that a page more or less of an
/// index does not matter.
fn takes_little(scene: &Scene, messages: usize, options: &[&str]) {
    talk(scene, 10, options);
    let before = pages(scene);
    talk(scene, messages, options);
    let bytes = (pages(scene) - before) * PAGE / messages as i64;
    assert!(bytes < 4_000, "{options:?}: {bytes} bytes for each message");
}

#[test]
fn a_short_message_takes_less_than_four_kilobytes() {
    for mode in ["tools", "code"] {
        let scene = Scene::new();
        takes_little(&scene, 200, &["--mode", mode]);
        // All of it is still there, to the letter.
        let capsule = scene.home().join("all.capsule");
        let capsule = capsule.to_str().unwrap();
        let export = ["session", "export", SESSION, capsule];
        scene.callgate(&export).succeeded();
        let mut replay = scene.bare(&["session", "replay", capsule, "--json"]);
        let replayed = finish(replay.spawn().unwrap()).succeeded().json();
        assert_eq!(
            (&replayed["equal"], &replayed["turns"]),
            (&json!(true), &json!(210))
        );
    }
}

#[test]
fn so_does_one_whose_request_plugins_have_changed() {
    let folders = ["recall", "manners"].map(|name| example(&format!("five_hooks/{name}")));
    let scene = equipped(&folders[0]);
    let plugins = folders.iter().flat_map(|folder| ["--plugin", folder]);
    let options: Vec<&str> = ["--mode", "tools"].into_iter().chain(plugins).collect();
    takes_little(&scene, 80, &options);
}
