//! A plugin that tries everything (`e2e/plugins/hostile`) against bait of ours, through the real binary, as
//! root and as an ordinary user: it gains nothing, and what plugins need works beside it.

use std::{
    io::{BufRead, BufReader, ErrorKind},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
    path::{Path, PathBuf},
};

use serde_json::{Value as Json, json};

use crate::{scene::Scene, server::Server};

const SECRET: &str = "bait-9f1c";

fn hostile() -> String {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/plugins");
    plugins.join("hostile").to_str().unwrap().to_owned()
}

/// Files that the user who runs Callgate may read, and a plugin may not.
struct Bait {
    secrets: Vec<PathBuf>,
    listeners: Vec<(PathBuf, UnixListener)>,
    unnamed: (String, UnixListener),
}

impl Bait {
    fn lay(scene: &Scene) -> Bait {
        let (home, data) = (scene.home(), scene.data());
        let mut secrets = vec![
            home.join(".ssh/id_bait"),
            home.join("documents/letter"),
            data.join("workers/other/notes"),
            data.join("plugin_data/other/notes"),
            data.join("plugins/other/secret.py"),
        ];
        for secret in &secrets {
            std::fs::create_dir_all(secret.parent().unwrap()).unwrap();
            std::fs::write(secret, SECRET).unwrap();
        }
        let ours = ["control.key", "callgate.db", "callgate.toml", "lock"];
        secrets.extend(ours.map(|name| data.join(name)));
        let sockets = ["docker.sock", "bus", "agent"].map(|name| home.join(name));
        let unnamed = format!("callgate-hostile-{}", home.display());
        let address = SocketAddr::from_abstract_name(&unnamed).unwrap();
        let listen = |path: PathBuf| (path.clone(), UnixListener::bind(path).unwrap());
        Bait {
            secrets,
            listeners: sockets.map(listen).into(),
            unnamed: (unnamed, UnixListener::bind_addr(&address).unwrap()),
        }
    }

    fn nobody_came(&self) {
        let listeners = self.listeners.iter().map(|(_, listener)| listener);
        for listener in listeners.chain([&self.unnamed.1]) {
            listener.set_nonblocking(true).unwrap();
            let nobody = listener.accept().unwrap_err();
            assert_eq!(nobody.kind(), ErrorKind::WouldBlock);
        }
    }
}

/// With an environment in which there is something to be had.
fn serve(scene: &Scene) -> Server {
    let at = |name: &str| format!("unix:{}", scene.home().join(name).display());
    let mut command = scene.command(&["serve", "--json", "--listen", "127.0.0.1:0"]);
    let mut child = command
        .env("SECRET_TOKEN", SECRET)
        .env("DATABASE_URL", SECRET)
        .env("DOCKER_HOST", at("docker.sock"))
        .env("DBUS_SESSION_BUS_ADDRESS", at("bus"))
        .env("SSH_AUTH_SOCK", scene.home().join("agent"))
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    Server {
        child: Some(child),
        address: String::new(),
        ready: serde_json::from_str(&line).unwrap(),
    }
}

fn called(scene: &Scene, method: &str, arguments: Json) -> Json {
    let arguments = arguments.to_string();
    let said = scene.callgate(&["call", method, "--args", &arguments, "--json"]);
    said.succeeded().json()["value"].clone()
}

/// Every one of at least so many attempts was refused.
fn all_refused(scene: &Scene, method: &str, arguments: Json, attempts: usize) {
    let came = called(scene, method, arguments);
    assert_eq!(came["gained"], json!({}), "{method}");
    let refused = came["refused"].as_object().unwrap();
    assert!(refused.len() >= attempts, "{method}: {refused:?}");
    assert!(!came.to_string().contains(SECRET), "{came}");
}

fn texts(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().map(|path| path.to_str().unwrap()).collect()
}

fn gains_nothing(scene: &Scene) {
    let configuration = format!("# {SECRET}\n[approval]\nwait_seconds = 0\n");
    std::fs::write(scene.data().join("callgate.toml"), configuration).unwrap();
    let bait = Bait::lay(scene);
    scene.let_the_user_in();
    let server = serve(scene);
    scene
        .callgate(&["plugin", "install", &hostile()])
        .succeeded();
    let own = scene.data().join("plugin_data/hostile");

    let usual = called(scene, "usual", json!([own, "<h1>page</h1>"]));
    let expected = json!({
        "pair": "pair", "network": "network", "certificates": true, "names": true, "child": "child",
        "lock": true, "processes": true, "memory": true, "picture": usual["picture"],
    });
    assert_eq!(usual, expected);
    let drawn = usual["picture"].as_str().unwrap();
    assert!(
        drawn == "PNG" || drawn.contains("there is no Chromium"),
        "{drawn}"
    );
    assert_eq!(std::fs::read_to_string(own.join("note")).unwrap(), "own");
    assert!(!Path::new("/tmp/note").exists(), "its /tmp is its own");

    let mut sockets = vec![scene.data().join("control.sock")];
    sockets.extend(bait.listeners.iter().map(|(path, _)| path.clone()));
    let web = std::fs::read_dir(scene.data().join("run/web")).unwrap();
    sockets.extend(web.map(|entry| entry.unwrap().path()));
    assert!(sockets.iter().all(|socket| socket.exists()) && sockets.len() == 5);
    let arguments = json!([texts(&sockets), bait.unnamed.0]);
    all_refused(scene, "sockets", arguments, 24);

    assert!(bait.secrets.iter().all(|secret| secret.exists()));
    let places = [
        scene.data().join("callgate.toml"),
        "/usr/bait".into(),
        "/etc/hosts".into(),
    ];
    let arguments = json!([texts(&bait.secrets), texts(&places), own]);
    all_refused(scene, "files", arguments, 56);

    let pids = [server.child.as_ref().unwrap().id(), std::process::id()];
    all_refused(scene, "processes", json!([pids]), 27);
    let seen = called(scene, "processes", json!([[]]));
    assert_eq!(
        seen["strangers"],
        json!([]),
        "it sees its own processes only"
    );
    all_refused(scene, "namespaces", json!([]), 7);

    let folder = scene.data().join("plugins/hostile");
    let odd = [
        folder.to_str().unwrap(),
        ".",
        "hostile @ file:///tmp/hostile.whl",
        "git+https://example.invalid/hostile",
        "--index-url=http://127.0.0.1:9/",
    ];
    let library = std::fs::read_dir(scene.data().join("run")).unwrap();
    let library = library
        .map(|entry| entry.unwrap().path())
        .find(|path| path.join("callgate_worker").is_dir());
    all_refused(scene, "installer", json!([odd, library]), 9);

    let inherited = called(scene, "inherited", json!([]));
    assert_eq!(inherited["files"], json!([]));
    let variables = inherited["variables"].to_string();
    for word in ["SECRET", "DATABASE", "DOCKER", "DBUS", "SSH", "CALLGATE"] {
        assert!(!variables.contains(word), "{variables}");
    }
    bait.nobody_came();
    // The server has noticed nothing.
    scene.callgate(&["key", "new"]).succeeded();
}

#[test]
fn a_hostile_plugin_gains_nothing() {
    gains_nothing(&Scene::new());
}

#[test]
fn nor_does_it_where_an_ordinary_user_runs_callgate() {
    gains_nothing(&Scene::of_ordinary_user());
}
