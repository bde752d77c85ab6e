//! [`Scene`]: a data directory of its own, and the binary to use on it.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use callgate_contract::{Part, SessionKey};
use callgate_store::{LogRow, Store, StoreOptions};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;
use tempfile::TempDir;

/// Beyond it a test has hung.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Scene {
    home: TempDir,
    /// Commands are run as nobody, where the tests are root's.
    as_user: bool,
}

/// Of a user without any rights, as everywhere.
const NOBODY: u32 = 65534;

pub struct Said {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

fn give_to_user(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in std::fs::read_dir(path).unwrap() {
            give_to_user(&entry.unwrap().path());
        }
    }
}

impl Said {
    /// Its standard output as the one JSON value it is.
    pub fn json(&self) -> Json {
        let read = serde_json::from_str(&self.stdout);
        read.unwrap_or_else(|error| panic!("{error} in {:?} ({})", self.stdout, self.stderr))
    }

    /// Its standard output as JSON lines.
    pub fn lines(&self) -> Vec<Json> {
        let read = |line| serde_json::from_str(line);
        let lines: Result<Vec<Json>, _> = self.stdout.lines().map(read).collect();
        lines.unwrap_or_else(|error| panic!("{error} in {:?} ({})", self.stdout, self.stderr))
    }

    /// The texts of the messages among its lines.
    pub fn messages(&self) -> Vec<String> {
        let lines = self.lines();
        let messages = lines.iter().filter(|line| line["type"] == "message");
        let text = |line: &Json| line["parts"][0]["text"].as_str().unwrap().to_owned();
        messages.map(text).collect()
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
        Scene {
            home,
            as_user: false,
        }
    }

    /// Whose commands an ordinary user gives.
    pub fn of_ordinary_user() -> Self {
        let mut scene = Scene::new();
        scene.as_user = rustix::process::geteuid().is_root();
        if scene.as_user {
            // Where the binary was built need not be open to everybody.
            let binary = scene.home().join("callgate");
            std::fs::copy(env!("CARGO_BIN_EXE_callgate"), binary).unwrap();
            scene.let_the_user_in();
        }
        scene
    }

    /// What tests have written is the user's too.
    pub fn let_the_user_in(&self) {
        if self.as_user {
            give_to_user(self.home());
        }
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

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare(arguments);
        if !arguments.contains(&"--data") {
            command.arg("--data").arg(self.data());
        }
        command
    }

    /// Without a data directory.
    #[allow(clippy::disallowed_methods, reason = "the binary under test")]
    pub fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = if self.as_user {
            let user = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
            let mut command = Command::new("setpriv");
            command.args(user).args(["--clear-groups", "--"]);
            command.arg(self.home().join("callgate"));
            command.env("HOME", self.home());
            command
        } else {
            Command::new(env!("CARGO_BIN_EXE_callgate"))
        };
        for (variable, _) in std::env::vars_os() {
            let name = variable.to_string_lossy();
            if name.starts_with("CALLGATE_") || name.ends_with("_API_KEY") {
                command.env_remove(&variable);
            }
        }
        command
            .args(arguments)
            .env("CALLGATE_LOG", "off")
            .env("XDG_RUNTIME_DIR", self.home.path())
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn callgate(&self, arguments: &[&str]) -> Said {
        finish(self.command(arguments).spawn().unwrap())
    }

    /// Runs `code` from standard input.
    pub fn run(&self, code: &str, options: &[&str]) -> Said {
        self.given(code, &[&["run", "-"], options].concat())
    }

    /// With `text` on standard input.
    pub fn given(&self, text: &str, arguments: &[&str]) -> Said {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        drop(stdin);
        finish(child)
    }

    /// A scripted model with these answers, as `--model` takes it.
    pub fn script(&self, answers: &[Json]) -> String {
        let lines: Vec<String> = answers.iter().map(Json::to_string).collect();
        let file = self.file("script.jsonl", &lines.join("\n"));
        format!("script:{file}")
    }

    /// What was said in the default session: role and text.
    pub fn said(&self) -> Vec<(String, String)> {
        self.stored(async |store| {
            let session: SessionKey = "cli:FriendMessage:operator".parse().unwrap();
            let rows = store.log().list(&session, 100).await.unwrap();
            let text = |part: &Part| match part {
                Part::Text { text } => text.clone(),
                other => panic!("{other:?}"),
            };
            let shown = |row: &LogRow| {
                let role = format!("{:?}", row.role).to_lowercase();
                (role, row.parts.iter().map(text).collect())
            };
            rows.iter().map(shown).collect()
        })
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

    /// How many turns have begun and not ended.
    pub fn unfinished(&self) -> usize {
        self.stored(async |store| store.turns().unfinished().await.unwrap().len())
    }

    /// The notes of the default session, by name.
    pub fn notes(&self) -> Vec<String> {
        self.notes_in("cli:FriendMessage:operator")
    }

    pub fn notes_in(&self, session: &str) -> Vec<String> {
        let session: SessionKey = session.parse().unwrap();
        self.stored(async |store| {
            let notes = store.notes().list(&session).await.unwrap();
            notes.into_iter().map(|note| note.name).collect()
        })
    }

    /// Looks into the store itself.
    pub fn stored<T>(&self, look: impl AsyncFn(Store) -> T) -> T {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let store = Store::open(StoreOptions::new(self.data())).await.unwrap();
            look(store).await
        })
    }
}

/// Asks again until it holds.
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "it never came true");
        std::thread::sleep(Duration::from_millis(20));
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

pub fn interrupt(process: u32) {
    let pid = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
}
