//! Being told to end: what is under way is finished and delivered, who listens is told, and what
//! could not be finished goes on at the next start.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    process::Child,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use crate::{
    scene::{Scene, finish, wait_until},
    server::Server,
};

/// Says that it has begun, waits for a file, and answers.
fn waiting(scene: &Scene, toml: &str) -> String {
    let code = "import os, time\n\
        remember('begun', 'yes')\n\
        while not os.path.exists('/app/uploads/go.txt'):\n    time.sleep(0.02)\n\
        send_message('finished')";
    let model = scene.script(&[json!({ "content": format!("```python\n{code}\n```") })]);
    let toml = format!("{toml}\n[models]\ndefault = \"{model}\"\n");
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    made.succeeded().json()["key"].as_str().unwrap().to_owned()
}

/// Lets the code go on.
fn go(scene: &Scene) {
    let sessions = std::fs::read_dir(scene.data().join("sessions")).unwrap();
    for session in sessions {
        let uploads = session.unwrap().path().join("uploads");
        let file = uploads.join("go.txt");
        std::fs::write(&file, "go").unwrap();
        let owner = std::fs::metadata(&uploads).unwrap();
        let owner = std::os::unix::fs::MetadataExt::uid(&owner);
        // Only the superuser has sessions of other users, and may.
        let _ = std::os::unix::fs::chown(&file, Some(owner), Some(owner));
    }
}

fn terminate(child: &Child) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
}

fn listen(server: &Server, key: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "GET /api/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\r\n",
        server.address
    )
    .unwrap();
    let mut lines = BufReader::new(stream);
    let mut head = String::new();
    lines.read_line(&mut head).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    lines
}

#[test]
fn a_turn_under_way_is_finished_and_delivered() {
    let scene = Scene::new();
    let key = waiting(&scene, "[serve]\ndrain_seconds = 60");
    let mut server = Server::start(&scene);
    let mut events = listen(&server, &key);
    // Over HTTP, and nobody waits for the answer but those who listen.
    let session = "/api/sessions/cli:FriendMessage:operator/messages";
    wait_until(|| server.api("GET", "/api/models", &key, None).0 == 200);
    let body = json!({ "text": "do it", "wait": false });
    let (status, said) = server.api("POST", session, &key, Some(&body));
    assert!(status < 300, "{said}");
    wait_until(|| scene.notes() == ["begun"]);

    let child = server.child.take().unwrap();
    terminate(&child);
    // It takes no new connections from here on.
    wait_until(|| TcpStream::connect(&server.address).is_err());
    go(&scene);
    let mut heard = String::new();
    while !heard.contains("event: closing") {
        let mut line = String::new();
        assert_ne!(events.read_line(&mut line).unwrap(), 0, "{heard}");
        heard.push_str(&line);
    }
    assert!(heard.contains("finished"), "{heard}");
    finish(child).succeeded();

    assert_eq!(scene.outbox(), [""; 0], "it was delivered");
    let said = scene.said();
    let answers = said.iter().filter(|(_, text)| text == "finished").count();
    assert_eq!(answers, 1, "{said:?}");
    assert_eq!(scene.unfinished(), 0, "nothing is half done");
}

#[test]
fn what_takes_too_long_goes_on_at_the_next_start() {
    let scene = Scene::new();
    waiting(&scene, "[serve]\ndrain_seconds = 0");
    let mut server = Server::start(&scene);
    let asking = scene.command(&["send", "do it"]).spawn().unwrap();
    wait_until(|| scene.notes() == ["begun"]);
    let child = server.child.take().unwrap();
    terminate(&child);
    let ended = finish(child).succeeded();
    assert!(
        ended.stderr.contains("goes on at the next start"),
        "{}",
        ended.stderr
    );
    assert_eq!(finish(asking).code, Some(1));
    assert_eq!(scene.unfinished(), 1);

    go(&scene);
    let server = Server::start(&scene);
    wait_until(|| scene.outbox() == ["finished"]);
    wait_until(|| scene.unfinished() == 0);
    server.end();
}

#[test]
fn a_line_of_the_log_carries_its_turn() {
    let scene = Scene::new();
    let model = scene.script(&[
        json!({ "content": "```python\nread_file('/app/shared/none.txt')\n```" }),
        json!({ "content": "No such file." }),
    ]);
    let mut command = scene.command(&["send", "read it", "--model", &model, "--log", "json"]);
    let said = finish(
        command
            .env("CALLGATE_LOG", "warn,callgate_gate=debug")
            .spawn()
            .unwrap(),
    );
    let said = said.succeeded();
    // What is said to people is no line of the log.
    let logged = said.stderr.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<Json> = logged
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let failed = lines
        .iter()
        .find(|line| line["message"] == "the call failed");
    let failed = failed.unwrap_or_else(|| panic!("{lines:?}"));
    let shown = scene.callgate(&["session", "show", "cli:FriendMessage:operator", "--json"]);
    assert_eq!(failed["turn"], shown.succeeded().json()["turns"][0]["turn"]);
    assert_eq!(failed["method"], "builtin/read_file");
    assert_eq!(
        (&failed["level"], &failed["target"]),
        (&json!("debug"), &json!("callgate_gate::dispatch"))
    );
    assert_eq!(failed["session"], "cli:FriendMessage:operator");
}
