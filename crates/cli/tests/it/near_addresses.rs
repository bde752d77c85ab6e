//! This machine's own addresses and those of its link, behind the wall of plugins: closed to every way of
//! sending but where the operator has opened one, as root and as an ordinary user. The plugin that tries is
//! `e2e/plugins/near`; what it must not reach is bait of ours.

use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpListener, UdpSocket},
    path::Path,
    thread,
};

use serde_json::{Value as Json, json};

use crate::{scene::Scene, server::Server};

fn near() -> String {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/plugins");
    plugins.join("near").to_str().unwrap().to_owned()
}

fn called(scene: &Scene, method: &str, arguments: Json) -> Json {
    let arguments = arguments.to_string();
    let said = scene.callgate(&["call", method, "--args", &arguments, "--json"]);
    said.succeeded().json()["value"].clone()
}

/// Listens at every address of this machine, so that by none of them anybody would be missed.
struct Bait {
    tcp: TcpListener,
    udp: UdpSocket,
}

impl Bait {
    fn lay() -> Bait {
        let bait = Bait {
            tcp: TcpListener::bind("[::]:0").unwrap(),
            udp: UdpSocket::bind("[::]:0").unwrap(),
        };
        bait.tcp.set_nonblocking(true).unwrap();
        bait.udp.set_nonblocking(true).unwrap();
        bait
    }

    fn ports(&self) -> [u16; 2] {
        let tcp = self.tcp.local_addr().unwrap().port();
        [tcp, self.udp.local_addr().unwrap().port()]
    }

    fn nobody_came(&self) {
        let nobody = self.tcp.accept().map(|(_, who)| who).unwrap_err();
        assert_eq!(nobody.kind(), ErrorKind::WouldBlock);
        let nothing = self.udp.recv(&mut [0; 64]).unwrap_err();
        assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
    }
}

/// Answers whoever comes, by the same port for streams and datagrams.
fn answering() -> (u16, UdpSocket) {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap();
    let udp = UdpSocket::bind(address).unwrap();
    thread::spawn(move || {
        for mut stream in tcp.incoming().flatten() {
            let mut word = [0; 64];
            if stream.read(&mut word).is_ok_and(|read| read > 0) {
                let _ = stream.write_all(b"open");
            }
        }
    });
    (address.port(), udp)
}

fn near_addresses_are_closed(scene: &Scene) {
    let bait = Bait::lay();
    let (open, datagrams) = answering();
    let configuration = format!("[plugins]\nlocal_addresses = [\"localhost:{open}\"]\n");
    std::fs::write(scene.data().join("callgate.toml"), configuration).unwrap();
    scene.let_the_user_in();
    let _server = Server::start(scene);
    scene.callgate(&["plugin", "install", &near()]).succeeded();
    let [tcp, udp] = bait.ports();

    let tried = called(scene, "closed", json!([tcp, udp]));
    assert_eq!(tried, json!({"refused": 87, "other": {}}));
    bait.nobody_came();

    let reached = called(scene, "opened", json!([open, open]));
    let expected = json!({"tcp": "open", "udp": 20, "many": [2, 20, 20], "waiting": "open"});
    assert_eq!(reached, expected);
    for _ in 0..3 {
        let mut word = [0; 64];
        let length = datagrams.recv(&mut word).unwrap();
        assert_eq!(&word[..length], b"from behind the wall");
    }

    let own = called(scene, "own", json!([]));
    let expected = json!({
        "own": "own", "child": "child", "passed": "passed", "large": [3_145_731, 3_145_731], "interfaces": true,
    });
    assert_eq!(own, expected);

    let answered = called(scene, "raced", json!([open, tcp, udp, 300]));
    assert!(answered.as_u64().unwrap() > 0, "some of it was open");
    bait.nobody_came();
}

#[test]
fn a_plugin_reaches_of_this_machine_what_the_operator_opens() {
    near_addresses_are_closed(&Scene::new());
}

#[test]
fn nor_more_where_an_ordinary_user_runs_callgate() {
    near_addresses_are_closed(&Scene::of_ordinary_user());
}

#[test]
fn the_operator_opens_all_of_them_and_a_misspelt_one_is_told() {
    let (open, _datagrams) = answering();
    let scene = Scene::configured("[plugins]\nlocal_addresses = [\"*\"]\n");
    scene.callgate(&["plugin", "install", &near()]).succeeded();
    let reached = called(&scene, "opened", json!([open, open]));
    assert_eq!(reached["tcp"], "open");
    let doctor = scene.callgate(&["doctor", "--json"]).json();
    let mut checks = doctor["checks"].as_array().unwrap().iter();
    let wall = checks.find(|check| check["name"] == "plugin wall").unwrap();
    assert!(
        wall["detail"]
            .as_str()
            .unwrap()
            .ends_with("open to plugins: *"),
        "{wall}"
    );

    let scene = Scene::configured("[plugins]\nlocal_addresses = [\"my-host:80\"]\n");
    let refused = scene.callgate(&["plugin", "list"]);
    assert!(
        refused.stderr.contains("\"my-host:80\" is not an address"),
        "{}",
        refused.stderr
    );
}
