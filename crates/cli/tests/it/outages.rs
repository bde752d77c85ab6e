//! The database fails under a running server: connections are cut, the line goes silent, the disk takes
//! nothing any more. Every message that was accepted is answered once the store is back, in order and
//! without a restart, and `/healthz` says how things are.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use callgate_contract::{Part, SessionKey, TurnStop};
use callgate_store::{LogRole, LogRow, Store, StoreOptions, Turn};
use callgate_testkit::Home;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    scene::{Scene, wait_until},
    server::Server,
};

const SESSION: &str = "cli:FriendMessage:operator";

/// A server on this database with these answers, and a key for it.
pub fn serve(scene: &Scene, url: Option<&str>, answers: &[Json]) -> (Server, String) {
    let model = scene.script(answers);
    let database = url.map_or_else(String::new, |url| format!("[database]\nurl = \"{url}\"\n"));
    let toml = format!("{database}[models]\ndefault = \"{model}\"\n");
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    let server = Server::start(scene);
    wait_until(|| server.api("GET", "/api/models", &key, None).0 == 200);
    (server, key)
}

pub fn say(server: &Server, key: &str, session: &str, body: &Json) -> (u16, Json) {
    let path = format!("/api/sessions/{session}/messages");
    server.api("POST", &path, key, Some(body))
}

/// The kernel refuses whatever the server wants to write to a file; it has noticed that.
pub fn fill_disk(server: &Server) {
    limit_files(server, Some(1));
    wait_until(|| status(server, "/healthz") == "503");
}

pub fn limit_files(server: &Server, bytes: Option<u64>) {
    let process = server.child.as_ref().unwrap().id();
    let process = Pid::from_raw(i32::try_from(process).unwrap());
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(process, Resource::Fsize, limit).unwrap();
}

fn status(server: &Server, path: &str) -> String {
    let answer = server.asked(path);
    answer.split(' ').nth(1).unwrap().to_owned()
}

/// Another look at the same database, past whatever lies between it and the server.
struct Look {
    runtime: Runtime,
    store: Store,
    _data: TempDir,
}

impl Look {
    fn at(url: Option<String>, scene: &Scene) -> Self {
        let (runtime, own) = (Runtime::new().unwrap(), TempDir::new().unwrap());
        let data = match url {
            Some(_) => own.path().join("data"),
            None => scene.data(),
        };
        let options = StoreOptions {
            url,
            ..StoreOptions::new(data)
        };
        let store = runtime.block_on(Store::inspect(options)).unwrap();
        Look {
            runtime,
            store,
            _data: own,
        }
    }

    /// What people and the model have said.
    fn log(&self, session: &str) -> Vec<LogRow> {
        let session: SessionKey = session.parse().unwrap();
        let log = self.store.log();
        let mut rows = self.runtime.block_on(log.list(&session, 1_000)).unwrap();
        rows.retain(|row| row.role != LogRole::System);
        rows
    }

    fn turns(&self, session: &str) -> Vec<Turn> {
        let session: SessionKey = session.parse().unwrap();
        let turns = self.store.turns();
        self.runtime.block_on(turns.list(&session, 1_000)).unwrap()
    }

    fn said(&self, session: &str) -> Vec<String> {
        self.log(session).iter().map(text).collect()
    }

    fn has_begun(&self) -> bool {
        let session: SessionKey = SESSION.parse().unwrap();
        let notes = self.runtime.block_on(self.store.notes().list(&session));
        !notes.unwrap().is_empty()
    }
}

fn text(row: &LogRow) -> String {
    match row.parts.as_slice() {
        [Part::Text { text }] => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// Code that says that it has begun, waits for a file, and speaks.
pub fn waiting() -> Json {
    let code = "import os, time\n\
        remember('begun', 'yes')\n\
        while not os.path.exists('/app/uploads/go.txt'):\n    time.sleep(0.02)\n\
        send_message('finished')";
    json!({ "content": format!("```python\n{code}\n```") })
}

/// Lets that code go on.
pub fn go(scene: &Scene) {
    for session in std::fs::read_dir(scene.data().join("sessions")).unwrap() {
        let uploads = session.unwrap().path().join("uploads");
        let file = uploads.join("go.txt");
        std::fs::write(&file, "go").unwrap();
        let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&uploads).unwrap());
        // Only the superuser has sessions of other users, and may.
        let _ = std::os::unix::fs::chown(&file, Some(owner), Some(owner));
    }
}

/// What the interrupted turn says is said once, before the answer to what came after it.
fn assert_in_order(look: &Look) {
    let said = || look.said(SESSION);
    wait_until(|| said().len() == 4);
    assert_eq!(said()[2..], ["finished", "And now you."]);
    let turns = look.turns(SESSION);
    let stops: Vec<_> = turns
        .iter()
        .map(|turn| turn.finish.as_ref().map(|end| end.stop))
        .collect();
    assert_eq!(stops, [Some(TurnStop::Answered); 2]);
}

#[test]
fn cut_connections_cost_no_message_its_answer() {
    const SESSIONS: usize = 3;
    const EACH: usize = 5;
    const CUTS: usize = 30;
    let scene = Scene::new();
    let runtime = Runtime::new().unwrap();
    let home = runtime.block_on(Home::postgres());
    let url = home.options().url.unwrap();
    let answers: Vec<Json> = (0..500)
        .map(|n| json!({ "content": format!("answer {n}") }))
        .collect();
    let (server, key) = serve(&scene, Some(&url), &answers);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let talking: Vec<_> = (0..SESSIONS)
            .map(|number| {
                let (server, key) = (&server, &key);
                scope.spawn(move || {
                    let session = format!("cli:FriendMessage:{number}");
                    for place in 0..EACH {
                        let body = json!({ "text": format!("question {place}"), "mode": "tools" });
                        // Refused is not accepted; whatever is accepted is answered.
                        wait_until(|| say(server, key, &session, &body).0 == 200);
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            for _ in 0..CUTS {
                if !done.load(Ordering::Relaxed) {
                    runtime.block_on(home.cut_connections());
                    std::thread::sleep(Duration::from_millis(200));
                }
            }
        });
        for one in talking {
            one.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    let look = Look::at(Some(url), &scene);
    for number in 0..SESSIONS {
        let session = format!("cli:FriendMessage:{number}");
        wait_until(|| {
            look.turns(&session)
                .iter()
                .all(|turn| turn.finish.is_some())
        });
        wait_until(|| {
            look.log(&session)
                .iter()
                .all(|row| row.role != LogRole::User || row.turn.is_some())
        });
        let log = look.log(&session);
        let mut asked: Vec<String> = Vec::new();
        let mut answers = 0;
        for row in &log {
            match row.role {
                LogRole::User => asked.push(text(row)),
                _ => answers += 1,
            }
        }
        // One that was stored and not said to be so was sent again.
        asked.dedup();
        let questions: Vec<String> = (0..EACH).map(|n| format!("question {n}")).collect();
        assert_eq!(asked, questions, "in order");
        assert_eq!(
            answers,
            look.turns(&session).len(),
            "one answer each: {log:?}"
        );
    }
    assert_eq!(status(&server, "/healthz"), "200");
    server.end();
}

/// A line that goes silent: nothing is refused or closed, and nothing arrives. Connections of that time
/// stay dead when it is over.
struct Line {
    address: SocketAddr,
    silent: Arc<AtomicBool>,
}

impl Line {
    fn to(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let silent = Arc::new(AtomicBool::new(false));
        let silence = silent.clone();
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let (near, far) = (near.unwrap(), TcpStream::connect(&target).unwrap());
                let dead = Arc::new(AtomicBool::new(silence.load(Ordering::SeqCst)));
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let (silent, dead) = (silence.clone(), dead.clone());
                    std::thread::spawn(move || carry(from, to, &silent, &dead));
                }
            }
        });
        Line { address, silent }
    }

    fn falls_silent(&self, silent: bool) {
        self.silent.store(silent, Ordering::SeqCst);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, silent: &AtomicBool, dead: &AtomicBool) {
    let mut piece = [0; 4096];
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        if silent.load(Ordering::SeqCst) || dead.load(Ordering::SeqCst) {
            dead.store(true, Ordering::SeqCst);
            continue;
        }
        if to.write_all(&piece[..read]).is_err() {
            break;
        }
    }
    if !dead.load(Ordering::SeqCst) {
        let _ = to.shutdown(Shutdown::Both);
    }
}

#[test]
fn a_silent_line_is_noticed_and_what_it_interrupted_goes_on() {
    let scene = Scene::new();
    let home = Runtime::new().unwrap().block_on(Home::postgres());
    let url = home.options().url.unwrap();
    let (_, rest) = url.split_once('@').unwrap();
    let (target, database) = rest.split_once('/').unwrap();
    let line = Line::to(target.to_owned());
    let through = format!("postgres://callgate@{}/{database}", line.address);
    let answers = [waiting(), json!({ "content": "And now you." })];
    let (server, key) = serve(&scene, Some(&through), &answers);
    let look = Look::at(Some(url), &scene);
    let later = json!({ "text": "and me?", "wait": false, "user": "bob" });
    let first = json!({ "text": "do it", "wait": false });
    assert_eq!(say(&server, &key, SESSION, &first).0, 200);
    wait_until(|| look.has_begun());
    assert_eq!(say(&server, &key, SESSION, &later).0, 200);
    wait_until(|| look.log(SESSION).len() == 2);
    assert_eq!(status(&server, "/healthz"), "200");

    line.falls_silent(true);
    go(&scene);
    wait_until(|| status(&server, "/healthz") == "503");
    let told = server.asked("/healthz");
    assert!(
        told.contains("application/problem+json") && told.contains("not_ready"),
        "{told}"
    );
    assert_eq!(status(&server, "/livez"), "200");
    // Until what waits for an answer has given up.
    std::thread::sleep(Duration::from_secs(14));
    assert_eq!(look.log(SESSION).len(), 2, "nothing was said");

    line.falls_silent(false);
    wait_until(|| status(&server, "/healthz") == "200");
    assert_in_order(&look);
    server.end();
}

#[test]
fn a_disk_that_takes_nothing_for_a_while_costs_nothing_but_time() {
    let scene = Scene::new();
    let answers = [waiting(), json!({ "content": "And now you." })];
    let (server, key) = serve(&scene, None, &answers);
    let look = Look::at(None, &scene);
    let later = json!({ "text": "and me?", "wait": false, "user": "bob" });
    let first = json!({ "text": "do it", "wait": false });
    assert_eq!(say(&server, &key, SESSION, &first).0, 200);
    wait_until(|| look.has_begun());
    assert_eq!(say(&server, &key, SESSION, &later).0, 200);
    wait_until(|| look.log(SESSION).len() == 2);

    fill_disk(&server);
    go(&scene);
    let (refused, _) = say(
        &server,
        &key,
        "cli:FriendMessage:eve",
        &json!({ "text": "hi" }),
    );
    assert!(refused >= 500, "what cannot be stored is not accepted");
    // The code has gone on and met the disk by then.
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(look.log(SESSION).len(), 2, "nothing was said");

    limit_files(&server, None);
    assert_in_order(&look);
    wait_until(|| status(&server, "/healthz") == "200");
    assert_eq!(look.log("cli:FriendMessage:eve"), []);
    server.end();
}
