//! Socket.IO, packet by packet, as a client of each namespace reads it: acks, and events that others'
//! doings cause.

pub mod client;
mod functions;
mod people;
mod requests;

use serde_json::{Value as Json, json};

use self::client::Client;
use super::{assert_frozen, redact::Redact};
use crate::{
    scene::{Scene, wait_until},
    server::Server,
};

/// A server, and what its clients said and heard.
struct Stage {
    scene: Scene,
    server: Server,
    operator: String,
    text: String,
}

impl Stage {
    fn open() -> Self {
        let scene = Scene::new();
        let model = scene.script(&[json!({ "content": "A good day to you." })]);
        let toml = format!("[remote]\nmethods = [\"remember\"]\n[models]\ndefault = \"{model}\"\n");
        std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
        let mut stage = Stage {
            operator: String::new(),
            server: Server::start(&scene),
            scene,
            text: String::new(),
        };
        stage.operator = stage.key(&["--scope", "operator"]);
        let ready = || {
            stage
                .server
                .api("GET", "/api/models", &stage.operator, None)
                .0
                == 200
        };
        wait_until(ready);
        stage
    }

    fn key(&self, options: &[&str]) -> String {
        let made = self
            .scene
            .callgate(&[&["key", "new", "--json"], options].concat());
        made.succeeded().json()["key"].as_str().unwrap().to_owned()
    }

    /// With a key of its own.
    fn client(&mut self, name: &'static str) -> Client {
        let key = self.key(&["--client", name]);
        Client::open(&self.server.address, name, &key)
    }

    fn boss(&mut self) -> Client {
        Client::open(&self.server.address, "boss", &self.operator)
    }

    /// Notes what is emitted and the ack it gets.
    fn ask(&mut self, client: &mut Client, namespace: &str, event: &str, data: Json) -> Json {
        let ack = client.ask(namespace, event, &data);
        self.note(&format!("{} -> {namespace} {event}", client.name), &data);
        self.note("ack", &ack);
        ack
    }

    /// Waits for an event and notes it.
    fn hear(&mut self, client: &mut Client, event: &str) -> Json {
        let (namespace, arguments) = client.hear(event);
        self.note(
            &format!("{} <- {namespace} {event}", client.name),
            &arguments,
        );
        arguments
    }

    fn note(&mut self, what: &str, value: &Json) {
        let redact = Redact {
            home: self.scene.home(),
        };
        self.text += &format!("{what}\n{}\n\n", redact.pretty(value));
    }

    fn freeze(&mut self, name: &str) {
        assert_frozen(name, &std::mem::take(&mut self.text));
    }
}

#[test]
fn packets() {
    let mut stage = Stage::open();
    people::connecting(&mut stage);
    people::pairing(&mut stage);
    people::keys_and_lists(&mut stage);
    functions::calling(&mut stage);
    functions::offering(&mut stage);
    people::rooms(&mut stage);
    requests::asking(&mut stage);
    requests::debugging(&mut stage);
}
