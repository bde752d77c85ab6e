//! Many save at once, and somebody pulls the plug.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use callgate_service::{METHODS, remote::RemoteSettings};
use callgate_testkit::Home;
use serde_json::{Map, Value as Json, json};

use super::{client::Client, scene::Scene};

const KEYS: usize = 50;
const FILE: &str = "settings/all.json";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_saves_of_fifty_keys_keep_fifty() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    let saves = (0..KEYS).map(|number| {
        let (address, key) = (scene.address.clone(), key.clone());
        tokio::spawn(async move {
            let auth = json!({ "clientId": format!("c{number}"), "key": key });
            let mut client = Client::connect(&address, "/function_call", auth)
                .await
                .unwrap();
            let data = json!({ format!("k{number}"): number });
            let ack = client.call("saveJsonToFile", json!([FILE, data])).await;
            assert_eq!(ack["result"], json!({ "success": true }));
        })
    });
    for save in saves.collect::<Vec<_>>() {
        save.await.unwrap();
    }
    let saved: Map<String, Json> = serde_json::from_str(&scene.content(FILE).unwrap()).unwrap();
    assert_eq!(saved.len(), KEYS);
}

/// What the process that is killed does: this binary once more, with the name of the test.
#[allow(
    clippy::print_stdout,
    reason = "how the other process learns the address"
)]
async fn victim(data: String) {
    let home = Home::existing(Path::new(&data));
    let scene = Scene::at(home, RemoteSettings::default()).await;
    println!("\nlistening {}", scene.address);
    tokio::time::sleep(Duration::from_secs(120)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_in_the_middle_leaves_the_old_or_the_new_and_every_saved_key() {
    if let Ok(data) = std::env::var("CALLGATE_TEST_DATA") {
        return victim(data).await;
    }
    let home = Home::sqlite();
    let key = {
        let made = home.open().await.keys().create(&[METHODS.to_owned()]).await;
        made.unwrap().1
    };
    let padding = "x".repeat(20_000);
    let mut acked: Vec<String> = Vec::new();
    for round in 0..5 {
        let (mut victim, address) = start(&home);
        let kill = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(60 + 23 * round)).await;
            victim.kill().unwrap();
            victim.wait().unwrap();
        });
        let saves = (0..4).map(|lane| {
            let (address, key, padding) = (address.clone(), key.clone(), padding.clone());
            tokio::spawn(
                async move { save_until_killed(&address, &key, round, lane, &padding).await },
            )
        });
        for saving in saves.collect::<Vec<_>>() {
            acked.extend(saving.await.unwrap());
        }
        kill.await.unwrap();
        let path = home.data().join("remote").join(FILE);
        if acked.is_empty() && !path.exists() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let saved: Map<String, Json> = serde_json::from_str(&text).expect("whole");
        for key in &acked {
            assert!(
                saved.contains_key(key),
                "{key} was acknowledged and is gone"
            );
        }
    }
    assert!(!acked.is_empty(), "nothing was saved before any kill");
}

#[allow(clippy::disallowed_methods, reason = "the process that is killed")]
fn start(home: &Home) -> (std::process::Child, String) {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "remote::saving::a_kill_in_the_middle_leaves_the_old_or_the_new_and_every_saved_key",
            "--nocapture",
        ])
        .env("CALLGATE_TEST_DATA", home.data())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| Some(line.unwrap().strip_prefix("listening ")?.to_owned()));
    (victim, address.unwrap())
}

/// The keys whose saving was acknowledged.
async fn save_until_killed(
    address: &str,
    key: &str,
    round: u64,
    lane: u64,
    padding: &str,
) -> Vec<String> {
    let mut acked = Vec::new();
    let auth = json!({ "clientId": format!("c{lane}"), "key": key });
    let Some(mut client) = Client::try_connect(address, "/function_call", auth).await else {
        return acked;
    };
    for number in 0.. {
        let name = format!("{round}-{lane}-{number}");
        let data = json!({ &name: number, "padding": padding });
        match client.try_call("saveJsonToFile", json!([FILE, data])).await {
            Some(ack) => assert_eq!(ack["result"], json!({ "success": true })),
            None => break,
        }
        acked.push(name);
    }
    acked
}
