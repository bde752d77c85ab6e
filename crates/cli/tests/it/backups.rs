//! Backups: taken while the server works, looked at, and put back. What was under way in the copy is not done
//! again.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use callgate_contract::{JournalId, Part, Principal, Role, SessionKey, Stop, TurnStop};
use callgate_store::{NewTimer, Store, StoreOptions};
use callgate_testkit::Home;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use crate::{
    outages::{go, say, serve, waiting},
    scene::{Said, Scene, wait_until},
    server::Server,
};

const SESSION: &str = "cli:FriendMessage:operator";

/// A scene with the same home whose data directory is another one.
fn restore(scene: &Scene, backup: &str, options: &[&str]) -> (Scene, Said) {
    let other = Scene::new();
    let data = other.data();
    let data = data.to_str().unwrap();
    let arguments = ["restore", backup, "--data", data, "--json"];
    let said = scene.callgate(&[&arguments, options].concat());
    (other, said)
}

fn backed_up(scene: &Scene, name: &str) -> String {
    let folder = scene.home().join(name);
    let folder = folder.to_str().unwrap().to_owned();
    let made = scene.callgate(&["backup", &folder, "--json"]);
    assert_eq!(made.succeeded().json()["backup"], json!(folder));
    folder
}

fn verified(scene: &Scene, folder: &str) -> (Option<i32>, Json) {
    let said = scene.callgate(&["verify", folder, "--json"]);
    (said.code, said.json())
}

fn begun(scene: &Scene) -> bool {
    !scene.notes().is_empty()
}

#[test]
fn a_copy_of_a_turn_under_way_does_nothing_of_it_again() {
    let scene = Scene::new();
    let answers = [waiting(), json!({ "content": "And now you." })];
    let (server, key) = serve(&scene, None, &answers);
    let later = json!({ "text": "and me?", "wait": false, "user": "bob" });
    let first = json!({ "text": "do it", "wait": false });
    assert_eq!(say(&server, &key, SESSION, &first).0, 200);
    wait_until(|| begun(&scene));
    assert_eq!(say(&server, &key, SESSION, &later).0, 200);
    wait_until(|| scene.said().len() == 3);

    let backup = backed_up(&scene, "backup");
    // The original goes on, and does all of it.
    go(&scene);
    wait_until(|| scene.unfinished() == 0 && scene.said().len() == 5);
    server.end();
    assert_eq!(scene.said()[3].1, "finished");

    assert_eq!(verified(&scene, &backup).0, Some(0));
    let (copy, said) = restore(&scene, &backup, &[]);
    let restored = said.succeeded().json();
    assert_eq!(
        restored["ended"],
        json!({
            "turns": 1, "runs": 1, "unknown_calls": 0, "approvals": 0, "messages": 1,
            "deliveries": 0, "timers": 0
        })
    );
    // Whatever it waited for is there.
    go(&copy);
    let model = copy.script(&[json!({ "content": "```python\nsend_message('welcome')\n```" })]);
    let toml = format!("[models]\ndefault = \"{model}\"\n");
    fs::write(copy.data().join("callgate.toml"), toml).unwrap();
    let server = Server::start(&copy);
    let asked = server.api("GET", "/api/sessions", &key, None);
    assert_eq!(asked.0, 200, "keys of the original open it: {}", asked.1);
    // Answered after whatever there was to recover.
    let sent = copy.callgate(&["send", "hello", "--json"]).succeeded();
    assert_eq!(sent.messages(), ["welcome"]);
    server.end();
    let said: Vec<(String, String)> = copy.said();
    let texts: Vec<&str> = said.iter().map(|(_, text)| text.as_str()).collect();
    assert!(!texts.contains(&"finished"), "{said:?}");
    let note = said.iter().filter(|(_, text)| text.contains("A backup of"));
    assert_eq!(note.count(), 1, "{said:?}");
    copy.stored(async |store| {
        let session = SESSION.parse().unwrap();
        let turns = store.turns().list(&session, 10).await.unwrap();
        let first = turns.iter().min_by_key(|turn| turn.start.id.0).unwrap();
        let end = first.finish.as_ref().unwrap();
        assert_eq!(end.stop, TurnStop::Cancelled);
        assert!(end.report.to_string().contains("is not repeated"));
        let runs = store.turns().runs(first.start.id).await.unwrap();
        let stops = runs.iter().map(|run| run.finish.as_ref().unwrap().stop);
        assert_eq!(stops.collect::<Vec<_>>(), [Stop::Killed]);
    });
    let name = |scene: &Scene| fs::read_to_string(scene.data().join("instance")).unwrap();
    assert_ne!(name(&scene), name(&copy), "it is taken for the original");
}

/// Effectful calls that nobody knows the outcome of.
fn unknown(scene: &Scene) -> i64 {
    scene.stored(async |store| {
        let count = "SELECT COUNT(*) FROM call WHERE effect = 'effectful' AND outcome IS NULL";
        let count = store.read(|tx| tx.scalar(count, &[])).await;
        count.unwrap().unwrap()
    })
}

#[test]
fn an_effect_that_had_begun_stays_unknown() {
    let scene = Scene::new();
    let functions = scene.data().join("functions");
    fs::create_dir(&functions).unwrap();
    let slow = "async def act():\n    import asyncio\n    await asyncio.sleep(600)\n";
    fs::write(functions.join("mine.py"), slow).unwrap();
    let server = Server::start(&scene);
    let mut run = scene.start("act()", &[]);
    wait_until(|| unknown(&scene) == 1);
    let backup = backed_up(&scene, "backup");
    server.kill();
    run.kill().unwrap();
    run.wait().unwrap();

    let (copy, said) = restore(&scene, &backup, &[]);
    let ended = &said.succeeded().json()["ended"];
    let counts = (&ended["unknown_calls"], &ended["runs"]);
    assert_eq!(counts, (&json!(1), &json!(1)));
    let quick = "async def act():\n    return 'done'\n";
    fs::write(copy.data().join("functions/mine.py"), quick).unwrap();
    let server = Server::start(&copy);
    let called = copy.callgate(&["call", "act", "--json"]).succeeded();
    assert_eq!(called.json()["value"], "done", "calls of its own are made");
    server.end();
    assert_eq!(unknown(&copy), 1, "the other was not");
}

/// An answer on its way, and two timers: one is overdue.
async fn leave_open_ends(store: &Store) {
    let session: SessionKey = SESSION.parse().unwrap();
    let timer = |minutes: i64| NewTimer {
        id: JournalId::fresh().0,
        session: session.clone(),
        principal: Principal::person(&session, "ann"),
        role: Role::Member,
        due_at: Timestamp::now() + SignedDuration::from_mins(minutes),
        text: "wake up".to_owned(),
    };
    for minutes in [-5, 60] {
        store.timers().set(&timer(minutes)).await.unwrap();
    }
    let parts = json!([Part::text("on its way")]).to_string();
    let queue = format!(
        "INSERT INTO outbox (session, parts, queued_at) VALUES ('{SESSION}', '{parts}', 0)"
    );
    store.write(move |tx| Ok(tx.batch(&queue)?)).await.unwrap();
}

#[test]
fn timers_that_are_overdue_and_messages_on_their_way_belong_to_the_original() {
    let scene = Scene::new();
    scene.stored(async |store| leave_open_ends(&store).await);
    let backup = backed_up(&scene, "backup");
    let (copy, said) = restore(&scene, &backup, &[]);
    let ended = &said.succeeded().json()["ended"];
    assert_eq!(
        (&ended["timers"], &ended["deliveries"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(copy.outbox(), [] as [&str; 0]);
    copy.stored(async |store| {
        let waiting = store.timers().all().await.unwrap();
        let is_due: Vec<bool> = waiting
            .iter()
            .map(|it| it.due_at < Timestamp::now())
            .collect();
        assert_eq!(is_due, [false]);
    });
    assert_eq!(scene.outbox(), ["on its way"], "the original has its own");
}

/// Of the only session of a data directory, or of the copy of one.
fn shared(data: &Path) -> PathBuf {
    let mut sessions = fs::read_dir(data.join("sessions")).unwrap();
    sessions.next().unwrap().unwrap().path().join("shared")
}

#[test]
fn files_come_back_with_their_permissions_and_nothing_of_a_process_does() {
    let scene = Scene::configured("[agent]\nrounds = 7\n");
    let wrote = "open('/app/shared/report.txt', 'w').write('figures')\n\
                 import os\n\
                 os.mkdir('/app/shared/empty')";
    scene.run(wrote, &[]).succeeded();
    symlink("/etc/passwd", shared(&scene.data()).join("link")).unwrap();
    let plugin = scene.data().join("functions");
    fs::create_dir(&plugin).unwrap();
    fs::write(plugin.join("mine.py"), "# mine").unwrap();
    fs::set_permissions(plugin.join("mine.py"), PermissionsExt::from_mode(0o640)).unwrap();
    let worker = scene.data().join("workers/astrbot");
    fs::create_dir_all(worker.join("data/config")).unwrap();
    fs::create_dir_all(worker.join("tmp")).unwrap();
    fs::write(worker.join("data/config/dice_config.json"), "{}").unwrap();
    fs::write(worker.join("tmp/page.png"), "").unwrap();
    let backup = backed_up(&scene, "backup");
    let inside = |name: &str| Path::new(&backup).join(name);
    for name in ["control.key", "lock", "instance", "run", "environments"] {
        assert!(!inside("files").join(name).exists(), "{name}");
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(Path::new(&backup)), 0o700, "it holds keys");

    let (copy, said) = restore(&scene, &backup, &[]);
    said.succeeded();
    assert_eq!(mode(&copy.data().join("functions/mine.py")), 0o640);
    // AstrBot's plugins have their settings and files where their worker is at home.
    let worker = copy.data().join("workers/astrbot");
    assert!(worker.join("data/config/dice_config.json").is_file());
    assert!(!worker.join("tmp").exists());
    let toml = fs::read_to_string(copy.data().join("callgate.toml")).unwrap();
    assert_eq!(toml, "[agent]\nrounds = 7\n");
    let read = "import os\n\
                print(open('/app/shared/report.txt').read())\n\
                print(os.listdir('/app/shared/empty'))\n\
                open('/app/shared/report.txt', 'a').write(', more')";
    let said = copy.run(read, &[]).succeeded();
    assert_eq!(said.stdout, "figures\n[]\n");
    let link = fs::read_link(shared(&copy.data()).join("link")).unwrap();
    assert_eq!(
        link,
        Path::new("/etc/passwd"),
        "links are copied, not what they lead to"
    );
}

#[test]
fn a_backup_that_was_changed_is_not_sound_and_not_restored() {
    let scene = Scene::new();
    scene
        .run("open('/app/shared/a.txt', 'w').write('a')", &[])
        .succeeded();
    let spoil = |backup: &str, name: &str| {
        let path = Path::new(backup).join(name);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x40;
        fs::write(&path, bytes).unwrap();
    };
    for (place, problem) in [
        ("callgate.db", "callgate.db is not what was written"),
        ("shared", "shared/a.txt is missing"),
    ] {
        let backup = backed_up(&scene, place);
        if place == "shared" {
            fs::remove_file(shared(&Path::new(&backup).join("files")).join("a.txt")).unwrap();
        } else {
            spoil(&backup, place);
        }
        let (code, found) = verified(&scene, &backup);
        assert_eq!((code, &found["ok"]), (Some(1), &json!(false)));
        let told = &found["problems"][0];
        assert!(told["what"].as_str().unwrap().contains(problem), "{found}");
        assert!(told["hint"].as_str().unwrap().contains("another backup"));
        let (copy, said) = restore(&scene, &backup, &[]);
        assert_eq!(said.code, Some(1));
        assert!(said.json()["error"].as_str().unwrap().contains(problem));
        assert_eq!(fs::read_dir(copy.data()).unwrap().count(), 0);
    }
    let backup = backed_up(&scene, "manifest");
    spoil(&backup, "manifest.json");
    let said = scene.callgate(&["verify", &backup, "--json"]);
    assert_eq!(said.code, Some(1));
    let error = said.json()["error"].as_str().unwrap().to_owned();
    assert!(
        error.contains("manifest.json is not what was written"),
        "{error}"
    );
}

#[test]
fn a_database_newer_than_the_binary_is_told_by_verify() {
    let scene = Scene::new();
    scene.stored(async |store| {
        let newer = "INSERT INTO migration (version, applied_at) VALUES (9999, 0)";
        // Opened before, so that only the copy is refused.
        let folder = scene.home().join("backup");
        store.write(|tx| Ok(tx.batch(newer)?)).await.unwrap();
        store.back_up(&folder).await.unwrap();
    });
    let backup = scene.home().join("backup");
    let (code, found) = verified(&scene, backup.to_str().unwrap());
    assert_eq!(code, Some(1));
    let what = found["problems"][0]["what"].as_str().unwrap();
    assert!(what.contains("newer version"), "{what}");
    let said = scene.callgate(&["session", "list"]);
    assert!(said.stderr.contains("newer version"), "{}", said.stderr);
}

#[test]
fn what_is_there_is_never_written_over() {
    let scene = Scene::new();
    scene.callgate(&["send", "hello"]).succeeded();
    let backup = backed_up(&scene, "backup");
    let again = scene.callgate(&["backup", &backup, "--json"]);
    assert_eq!(again.code, Some(1));
    assert!(
        again.json()["error"]
            .as_str()
            .unwrap()
            .contains("is there already")
    );

    let refused = scene.callgate(&["restore", &backup, "--json"]);
    assert_eq!(refused.code, Some(1));
    let hint = refused.json()["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("--replace"), "{hint}");
    let server = Server::start(&scene);
    let replace = ["restore", &backup, "--replace", "--json"];
    assert_eq!(
        scene.callgate(&replace).code,
        Some(1),
        "somebody works in it"
    );
    server.end();
    let restored = scene.callgate(&replace).succeeded().json();
    let kept = Path::new(restored["kept"].as_str().unwrap());
    assert!(kept.join("callgate.db").exists());
    assert_eq!(scene.said().len(), 2);
}

#[test]
fn a_restore_that_was_cut_off_is_not_used() {
    let scene = Scene::new();
    scene.callgate(&["send", "hello"]).succeeded();
    fs::write(scene.data().join("restoring"), "").unwrap();
    let said = scene.callgate(&["session", "list", "--json"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.json()["error"]
            .as_str()
            .unwrap()
            .contains("is not whole")
    );
}

#[test]
fn on_postgresql_files_are_copied_and_the_dump_is_settled() {
    let scene = Scene::new();
    let runtime = Runtime::new().unwrap();
    let home = runtime.block_on(Home::postgres());
    let url = home.options().url.unwrap();
    let toml = format!("[database]\nurl = \"{url}\"\n");
    fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let folder = scene.home().join("backup");
    let folder = folder.to_str().unwrap();
    let made = scene.callgate(&["backup", folder]).succeeded();
    assert!(made.stderr.contains("pg_dump"), "{}", made.stderr);
    let (_, said) = restore(&scene, folder, &[]);
    assert_eq!(said.code, Some(1));
    let hint = said.json()["hint"].as_str().unwrap().to_owned();
    assert!(
        hint.contains("pg_restore") && hint.contains("--database"),
        "{hint}"
    );

    // As pg_restore would have made it.
    let dumped = runtime.block_on(Home::postgres());
    let dumped_url = dumped.options().url.unwrap();
    runtime.block_on(async {
        let store = Store::open(dumped.options()).await.unwrap();
        leave_open_ends(&store).await;
        store.leave().await.unwrap();
    });
    let (copy, said) = restore(&scene, folder, &["--database", &dumped_url]);
    let ended = &said.succeeded().json()["ended"];
    assert_eq!(
        (&ended["timers"], &ended["deliveries"]),
        (&json!(1), &json!(1))
    );
    let toml = fs::read_to_string(copy.data().join("callgate.toml")).unwrap();
    assert!(toml.contains(&dumped_url) && !toml.contains(&url), "{toml}");

    // One that somebody works on is not a copy.
    let used = runtime.block_on(Store::open(StoreOptions {
        url: Some(url.clone()),
        ..StoreOptions::new(scene.home().join("elsewhere"))
    }));
    let (_, said) = restore(&scene, folder, &["--database", &url]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.json()["error"]
            .as_str()
            .unwrap()
            .contains("uses that database")
    );
    drop(used);
}
