//! Long work, through the whole product: an installation that the terminal begins is seen elsewhere, says how far it
//! is, and can be ended from anywhere.

use std::net::TcpListener;

use serde_json::Value as Json;

use crate::{
    scene::{Scene, finish, interrupt, wait_until},
    server::Server,
};

/// A repository whose server says nothing.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/slow.git", listener.local_addr().unwrap());
    (listener, url)
}

struct Site {
    scene: Scene,
    server: Server,
    key: String,
}

impl Site {
    fn start() -> Self {
        let scene = Scene::new();
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let server = Server::start(&scene);
        Site { scene, server, key }
    }

    fn jobs(&self) -> Vec<Json> {
        let listed = self.server.api("GET", "/api/jobs", &self.key, None).1;
        listed["items"].as_array().cloned().unwrap_or_default()
    }

    /// Of the one job.
    fn wait_for(&self, state: &str) -> Json {
        wait_until(|| self.jobs().first().is_some_and(|job| job["state"] == state));
        self.jobs()[0].clone()
    }
}

#[test]
fn an_installation_of_the_terminal_is_seen_and_cancelled_over_the_api() {
    let site = Site::start();
    let (_silent, url) = silent();
    let installing = site.scene.command(&["plugin", "install", &url, "--json"]);
    let installing = { installing }.spawn().unwrap();
    let job = site.wait_for("running");
    assert_eq!(job["title"], url.as_str());
    assert_eq!(job["progress"]["phase"], "fetching", "{job}");
    let listed = site.scene.callgate(&["plugin", "jobs"]).succeeded();
    assert!(
        listed.stdout.contains("running") && listed.stdout.contains("fetching"),
        "{}",
        listed.stdout
    );

    let path = format!("/api/jobs/{}/cancel", job["id"].as_str().unwrap());
    assert_eq!(site.server.api("POST", &path, &site.key, None).0, 200);
    let told = finish(installing);
    assert_eq!(told.code, Some(1));
    let told = told.json();
    assert!(
        told["error"].as_str().unwrap().contains("cancelled"),
        "{told}"
    );
    site.wait_for("cancelled");
    let left = std::fs::read_dir(site.scene.data().join("plugins")).unwrap();
    assert_eq!(left.count(), 0, "nothing is left behind");
}

#[test]
fn an_interrupt_at_the_terminal_cancels_it_in_the_server() {
    let site = Site::start();
    let (_silent, url) = silent();
    let installing = site.scene.command(&["plugin", "install", &url]);
    let installing = { installing }.spawn().unwrap();
    site.wait_for("running");
    interrupt(installing.id());
    assert_eq!(finish(installing).code, Some(1));
    site.wait_for("cancelled");
}

#[test]
fn one_that_is_over_is_left_alone() {
    let site = Site::start();
    let folder = site.scene.home().join("sums");
    std::fs::create_dir(&folder).unwrap();
    let code = "from callgate import method\n@method\ndef add(a: int, b: int) -> int:\n    \"\"\"Adds.\"\"\"\n    return a + b\n";
    std::fs::write(folder.join("__init__.py"), code).unwrap();
    let folder = folder.to_str().unwrap();
    site.scene
        .callgate(&["plugin", "install", folder])
        .succeeded();
    let job = site.wait_for("done");
    assert_eq!(job["progress"]["phase"], "loading", "{job}");
    let id = job["id"].as_str().unwrap();
    let told = site.scene.callgate(&["plugin", "cancel", id]).succeeded();
    assert!(told.stdout.contains("over already"), "{}", told.stdout);
    assert_eq!(site.jobs()[0]["state"], "done");
    let unknown = site.scene.callgate(&["plugin", "cancel", "nothing"]);
    assert_eq!(unknown.code, Some(1));
}
