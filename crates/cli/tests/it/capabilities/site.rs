//! [`Site`]: a server, keys in every state, and a witness who sees whatever changes.

use std::{collections::BTreeMap, process::Command};

use callgate_service::{Capabilities, Capability};
use serde_json::Value as Json;

use crate::{
    scene::{Scene, wait_until},
    server::Server,
};

/// The texts of keys that open nothing, by why.
pub type Locked = [(&'static str, String); 3];

pub struct Site {
    pub scene: Scene,
    pub server: Server,
    pub locked: Locked,
    /// By what they are for, made when they are first needed.
    keys: BTreeMap<Vec<String>, String>,
}

/// Everything in the database and every file besides, as one line each. What a server writes by itself
/// is left out: its sign of life, and when a key was used.
const WITNESS: &str = r#"
import hashlib, os, sqlite3, sys
data = sys.argv[1]
rows = sqlite3.connect(f"file:{data}/callgate.db?mode=ro", uri=True)
tables = rows.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
for (table,) in sorted(tables):
    if table in ("instance", "access_key"):
        continue
    found = sorted(map(repr, rows.execute(f'SELECT * FROM "{table}"')))
    print(table, len(found), hashlib.sha256("\n".join(found).encode()).hexdigest())
print(rows.execute("SELECT id, scopes, revoked_at FROM access_key ORDER BY id").fetchall())
for folder, _, files in sorted(os.walk(data)):
    for name in sorted(files):
        path = os.path.join(folder, name)
        if not name.startswith("callgate.db") and os.path.isfile(path):
            print(path, os.path.getsize(path))
"#;

impl Site {
    pub fn start(toml: &str) -> Self {
        let scene = Scene::configured(toml);
        let mut site = Site {
            server: Server::start(&scene),
            scene,
            locked: Default::default(),
            keys: BTreeMap::new(),
        };
        let (expired, revoked) = (
            site.make(&["--scope", "operator", "--expires", "1s"]),
            site.make(&["--scope", "operator"]),
        );
        let id = revoked["id"].as_str().unwrap();
        site.scene.callgate(&["key", "revoke", id]).succeeded();
        let text = |key: &Json| key["key"].as_str().unwrap().to_owned();
        site.locked = [
            ("wrong", "callgate_wrong".to_owned()),
            ("expired", text(&expired)),
            ("revoked", text(&revoked)),
        ];
        let ask = |key: &str| site.server.api("GET", "/api/models", key, None).0;
        wait_until(|| ask(&site.locked[1].1) == 401);
        let read = site.holding(&[Capability::Read]);
        wait_until(|| site.server.api("GET", "/api/models", &read, None).0 == 200);
        site
    }

    /// The same data with another server.
    pub fn again(scene: Scene, server: Server) -> Self {
        Site {
            scene,
            server,
            locked: Default::default(),
            keys: BTreeMap::new(),
        }
    }

    fn make(&self, options: &[&str]) -> Json {
        let made = [&["key", "new", "--json"], options].concat();
        self.scene.callgate(&made).succeeded().json()
    }

    /// A key that holds all of these and little else.
    pub fn holding(&mut self, needs: &[Capability]) -> String {
        let scopes = needs.iter().map(|one| match one {
            Capability::Call => "method:now".to_owned(),
            one => one.scope().to_owned(),
        });
        self.key(scopes.collect())
    }

    /// A key that holds everything but these.
    pub fn lacking(&mut self, needs: &[Capability]) -> String {
        let words = Capability::ALL[1..].iter().map(|one| one.scope());
        let mut words: Vec<String> = words.chain(["method:now"]).map(str::to_owned).collect();
        words.sort();
        words.dedup();
        words.retain(|word| !Capabilities::of(std::slice::from_ref(word)).holds_any(needs));
        assert!(!words.is_empty() && !Capabilities::of(&words).holds_any(needs));
        self.key(words)
    }

    fn key(&mut self, scopes: Vec<String>) -> String {
        if let Some(known) = self.keys.get(&scopes) {
            return known.clone();
        }
        let options: Vec<&str> = scopes.iter().flat_map(|it| ["--scope", it]).collect();
        let key = self.make(&options)["key"].as_str().unwrap().to_owned();
        // One that has been let in once goes on while others show wrong keys.
        for path in ["/api/models", "/v1/models"] {
            self.server.api("GET", path, &key, None);
        }
        self.keys.insert(scopes, key.clone());
        key
    }

    #[allow(clippy::disallowed_methods, reason = "python reads the database")]
    pub fn witness(&self) -> String {
        let mut python = Command::new("python3");
        let data = self.scene.data();
        let seen = python
            .args(["-I", "-c", WITNESS])
            .arg(data)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&seen.stderr).into_owned();
        assert!(seen.status.success(), "{said}");
        String::from_utf8(seen.stdout).unwrap()
    }
}
