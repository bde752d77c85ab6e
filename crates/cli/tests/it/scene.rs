//! [`Scene`]: a data directory of its own, and the binary to use on it.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use callgate_contract::{Part, SessionKey};
use callgate_store::{Store, StoreOptions};
use serde_json::Value as Json;
use tempfile::TempDir;

/// Beyond it a test has hung.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Scene {
    home: TempDir,
}

pub struct Said {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    /// Its standard output as the one JSON value it is.
    pub fn json(&self) -> Json {
        let read = serde_json::from_str(&self.stdout);
        read.unwrap_or_else(|error| panic!("{error} in {:?} ({})", self.stdout, self.stderr))
    }

    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }
}

impl Scene {
    pub fn new() -> Self {
        let home = TempDir::with_prefix("callgate-cli-test-").unwrap();
        std::fs::create_dir(home.path().join("data")).unwrap();
        Scene { home }
    }

    pub fn configured(toml: &str) -> Self {
        let scene = Scene::new();
        std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
        scene
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.home.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[allow(clippy::disallowed_methods, reason = "the binary under test")]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("CALLGATE_") {
                command.env_remove(variable);
            }
        }
        command
            .args(arguments)
            .env("CALLGATE_LOG", "off")
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !arguments.contains(&"--data") {
            command.arg("--data").arg(self.data());
        }
        command
    }

    pub fn callgate(&self, arguments: &[&str]) -> Said {
        finish(self.command(arguments).spawn().unwrap())
    }

    /// Runs `code` from standard input.
    pub fn run(&self, code: &str, options: &[&str]) -> Said {
        let mut command = self.command(&[&["run", "-"], options].concat());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(code.as_bytes()).unwrap();
        drop(stdin);
        finish(child)
    }

    /// Starts a run of `code` and leaves it running.
    pub fn start(&self, code: &str, options: &[&str]) -> Child {
        let file = self.file("started.py", code);
        let arguments = [&["run", file.as_str()], options].concat();
        self.command(&arguments).spawn().unwrap()
    }

    /// Asks again until something waits for approval, and gives its number.
    pub fn approval(&self) -> i64 {
        let until = Instant::now() + PATIENCE;
        loop {
            let list = self.callgate(&["approval", "list", "--json"]).succeeded();
            if let Some(id) = list.json()[0]["id"].as_i64() {
                return id;
            }
            assert!(Instant::now() < until, "nothing was ever asked");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The texts that wait in the outbox, in order.
    pub fn outbox(&self) -> Vec<String> {
        self.stored(async |store| {
            let pending = store.outbox().pending(None).await.unwrap();
            let parts = pending
                .into_iter()
                .flat_map(|pending| pending.message.parts);
            parts
                .map(|part| match part {
                    Part::Text { text } => text,
                    other => panic!("{other:?}"),
                })
                .collect()
        })
    }

    /// The notes of the default session, by name.
    pub fn notes(&self) -> Vec<String> {
        self.stored(async |store| {
            let session: SessionKey = "cli:FriendMessage:operator".parse().unwrap();
            let notes = store.notes().list(&session).await.unwrap();
            notes.into_iter().map(|note| note.name).collect()
        })
    }

    fn stored<T>(&self, look: impl AsyncFn(Store) -> T) -> T {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let store = Store::open(StoreOptions::new(self.data())).await.unwrap();
            look(store).await
        })
    }
}

pub fn finish(child: Child) -> Said {
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
