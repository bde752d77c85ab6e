//! What lies on the disk, and what is said when something is wrong with it: damage, loss, too few
//! descriptors. What a process leaves behind when it ends, and before a newer version changes it.

use std::{
    fs,
    io::{Read, Seek, SeekFrom, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::Value as Json;

use crate::{
    scene::{Scene, finish, wait_until},
    server::Server,
};

const PAGE: u64 = 4_096;

fn database(scene: &Scene) -> PathBuf {
    scene.data().join("callgate.db")
}

/// Names of the data directory that begin as the database does.
fn beside(scene: &Scene) -> Vec<String> {
    let names = fs::read_dir(scene.data()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter(|name| name.starts_with("callgate.db"))
        .collect();
    names.sort();
    names
}

#[test]
fn who_ends_in_good_order_leaves_one_file() {
    let scene = Scene::new();
    scene.callgate(&["send", "hello"]).succeeded();
    assert_eq!(beside(&scene), ["callgate.db"], "after a command");
    let mut server = Server::start(&scene);
    scene.callgate(&["send", "hello again"]).succeeded();
    assert_eq!(server.asked("/healthz").split(' ').nth(1), Some("200"));
    let child = server.child.take().unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    finish(child).succeeded();
    assert_eq!(beside(&scene), ["callgate.db"], "after the server");
    assert_eq!(scene.said().len(), 4);
}

/// Overwrites pages with what was never written there.
fn spoil(scene: &Scene, pages: std::ops::Range<u64>) {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .open(database(scene))
        .unwrap();
    file.seek(SeekFrom::Start(pages.start * PAGE)).unwrap();
    let length = usize::try_from((pages.end - pages.start) * PAGE).unwrap();
    file.write_all(&vec![0xa5; length]).unwrap();
}

#[test]
fn damaged_pages_fail_the_start_and_doctor_with_what_to_do() {
    let scene = Scene::new();
    scene.callgate(&["send", "hello"]).succeeded();
    let pages = fs::metadata(database(&scene)).unwrap().len() / PAGE;
    spoil(&scene, 3..pages - 1);
    let before = fs::read(database(&scene)).unwrap();
    for command in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["session", "list"],
    ] {
        let said = scene.callgate(&[command, &["--json"]].concat());
        assert_eq!(said.code, Some(1), "{command:?}");
        let told = said.json();
        assert!(
            told["error"].as_str().unwrap().contains("damaged"),
            "{told}"
        );
        assert!(
            told["hint"].as_str().unwrap().contains("callgate restore"),
            "{told}"
        );
    }
    let said = scene.callgate(&["doctor", "--json"]);
    assert_eq!(said.code, Some(1));
    let found = said.json();
    let checks = found["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["name"] == "database")
        .unwrap();
    assert_eq!(check["status"], "fail", "{check}");
    assert!(
        check["hint"].as_str().unwrap().contains("callgate restore"),
        "{check}"
    );
    // The first page says how the file is being used.
    let page = usize::try_from(PAGE).unwrap();
    let after = fs::read(database(&scene)).unwrap();
    assert!(after[page..] == before[page..], "it was left alone");
}

#[test]
fn damage_in_a_large_database_is_found_while_serving() {
    let scene = Scene::new();
    scene.stored(async |store| {
        let notes = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
                     INSERT INTO note (session, name, text, written_at)
                     SELECT 'cli:FriendMessage:operator', 'n' || i, zeroblob(1000000), 0 FROM n";
        store.write(|tx| Ok(tx.batch(notes)?)).await.unwrap();
        store.leave().await.unwrap();
    });
    let pages = fs::metadata(database(&scene)).unwrap().len() / PAGE;
    assert!(pages > 4_500);
    spoil(&scene, pages - 600..pages - 500);
    let server = Server::start(&scene);
    let mut told = String::new();
    wait_until(|| {
        told = server.asked("/healthz");
        told.contains("HTTP/1.1 503")
    });
    assert!(told.contains("database is damaged"), "{told}");
    assert!(server.asked("/livez").contains("200"));
    server.end();
}

#[test]
fn a_database_that_is_gone_is_missed_and_not_made_anew() {
    let scene = Scene::new();
    scene.callgate(&["send", "hello"]).succeeded();
    let whole = fs::read(database(&scene)).unwrap();
    let refused = |what: &str| {
        let said = scene.callgate(&["serve", "--listen", "127.0.0.1:0", "--json"]);
        assert_eq!(said.code, Some(1), "{what}");
        let told = said.json();
        assert!(
            told["error"].as_str().unwrap().contains("is gone"),
            "{what}: {told}"
        );
        assert!(
            told["hint"].as_str().unwrap().contains("callgate restore"),
            "{told}"
        );
    };
    fs::write(database(&scene), "").unwrap();
    refused("empty");
    fs::remove_file(database(&scene)).unwrap();
    refused("removed");
    assert!(!database(&scene).exists());
    fs::write(database(&scene), whole).unwrap();
    assert_eq!(scene.said().len(), 2);
}

/// A connection that is there before nothing more can be opened.
struct Line(TcpStream, String);

impl Line {
    fn ask(&mut self, path: &str) -> String {
        let Line(stream, host) = self;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let (mut answer, mut piece) = (String::new(), [0; 4096]);
        while !(answer.ends_with('}') || answer.ends_with("ok\n")) {
            let read = stream.read(&mut piece).unwrap();
            assert!(read > 0, "hung up on: {answer}");
            answer += std::str::from_utf8(&piece[..read]).unwrap();
        }
        answer
    }
}

#[test]
fn too_few_descriptors_are_said_to_be_that() {
    let scene = Scene::new();
    let server = Server::start(&scene);
    let stream = TcpStream::connect(&server.address).unwrap();
    let mut line = Line(stream, server.address.clone());
    wait_until(|| line.ask("/healthz").contains(" 200 "));
    let process = server.child.as_ref().unwrap().id();
    let process = Pid::from_raw(i32::try_from(process).unwrap());
    let limit = |current: Option<u64>| {
        let maximum = getrlimit(Resource::Nofile).maximum;
        prlimit(process, Resource::Nofile, Rlimit { current, maximum }).unwrap();
    };
    limit(Some(3));
    let mut told = String::new();
    wait_until(|| {
        told = line.ask("/healthz");
        told.contains(" 503 ")
    });
    assert!(told.contains("no file descriptors left"), "{told}");
    limit(getrlimit(Resource::Nofile).current);
    wait_until(|| line.ask("/healthz").contains(" 200 "));
    server.end();
}

/// Runs statements on the database itself, and gives what the last one found.
#[allow(
    clippy::disallowed_methods,
    reason = "another program that uses the database"
)]
fn sql(path: &Path, statements: &[&str]) -> Json {
    let code = "import json, sqlite3, sys\n\
                database = sqlite3.connect(sys.argv[1])\n\
                for statement in sys.argv[2:]:\n    rows = database.execute(statement).fetchall()\n\
                database.commit()\n\
                print(json.dumps(rows))\n";
    let ran = Command::new("python3")
        .args(["-c", code])
        .arg(path)
        .args(statements)
        .output()
        .unwrap();
    serde_json::from_slice(&ran.stdout).unwrap_or(Json::Null)
}

/// A database of a version that knew no step of ours.
fn of_old_version(table: &str) -> Scene {
    let scene = Scene::new();
    let keepsake = format!("CREATE TABLE {table} (word TEXT)");
    let fill = format!("INSERT INTO {table} VALUES ('kept')");
    sql(
        &database(&scene),
        &[
            "CREATE TABLE migration (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL)",
            "INSERT INTO migration VALUES (0, 0)",
            &keepsake,
            &fill,
        ],
    );
    scene
}

fn copies(scene: &Scene) -> Vec<PathBuf> {
    let names = beside(scene).into_iter();
    let copies = names.filter(|name| name.contains(".before-migration-0-"));
    copies.map(|name| scene.data().join(name)).collect()
}

#[test]
fn a_database_is_copied_before_a_newer_version_changes_it() {
    let scene = of_old_version("keepsake");
    scene.callgate(&["session", "list"]).succeeded();
    let kept = copies(&scene);
    assert_eq!(kept.len(), 1);
    let find = ["SELECT word, (SELECT MAX(version) FROM migration) FROM keepsake"];
    assert_eq!(sql(&kept[0], &find), serde_json::json!([["kept", 0]]));
    let find = ["SELECT MAX(version) > 0 FROM migration"];
    assert_eq!(sql(&database(&scene), &find), serde_json::json!([[1]]));
    scene.callgate(&["session", "list"]).succeeded();
    assert_eq!(
        copies(&scene).len(),
        1,
        "nothing was changed, nothing copied"
    );
}

#[test]
fn of_changes_that_fail_the_newest_copies_stay_and_the_database_as_it_was() {
    // The step cannot make a table that is there.
    let scene = of_old_version("session");
    for _ in 0..5 {
        assert_eq!(scene.callgate(&["session", "list"]).code, Some(1));
    }
    assert_eq!(copies(&scene).len(), 3);
    let find = ["SELECT word, (SELECT MAX(version) FROM migration) FROM session"];
    assert_eq!(
        sql(&database(&scene), &find),
        serde_json::json!([["kept", 0]])
    );
}
