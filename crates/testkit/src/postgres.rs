//! A PostgreSQL of our own: on loopback, without fsync, one per process, gone with it.
//! A shell watches over it. The shell reads a pipe whose other end only this process holds, so
//! however we end, the server is stopped and its files are removed.

use std::{
    net::TcpListener,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

const MISSING: &str = "these tests need PostgreSQL: `apt-get install postgresql` (its `initdb` and \
                       `postgres` must be in PATH or under /usr/lib/postgresql)";
const START: Duration = Duration::from_secs(60);

/// Stops the server at the end of its input. Signals of the terminal are left to our process.
const WATCH: &str = r#"
trap '' INT HUP TERM
"$2/initdb" --pgdata "$1/data" --username callgate --auth trust --no-sync --locale C \
    --encoding UTF8 >"$1/initdb.log" 2>&1 || exit 1
"$2/postgres" -D "$1/data" -p "$3" -c listen_addresses=127.0.0.1 -c fsync=off \
    -c unix_socket_directories="$1" -c max_connections=300 -c shared_buffers=16MB \
    -c full_page_writes=off >"$1/server.log" 2>&1 &
read -r _
kill -QUIT $!
wait
rm -rf "$1"
"#;

struct Server {
    port: u16,
    /// Its standard input is the pipe that keeps the server alive.
    _watch: Child,
}

/// The address of a new, empty database.
pub(crate) async fn fresh_database() -> String {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let port = SERVER.get_or_init(start).port;
    let address = |name: &str| format!("postgres://callgate@127.0.0.1:{port}/{name}");
    let name = format!("test_{}", Uuid::now_v7().simple());
    let client = connect(&address("postgres")).await;
    let create = format!("CREATE DATABASE {name}");
    let made = client.batch_execute(&create).await;
    made.expect("a new database");
    address(&name)
}

pub(crate) async fn cut_connections(url: &str) {
    let client = connect(url).await;
    let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                  WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let ended = client.batch_execute(others).await;
    ended.expect("connections to end");
}

async fn connect(url: &str) -> Client {
    let deadline = Instant::now() + START;
    loop {
        match tokio_postgres::connect(url, NoTls).await {
            Ok((client, connection)) => {
                // Ends with the client.
                tokio::spawn(connection);
                return client;
            }
            // Listening comes before being ready.
            Err(_) if Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => panic!("PostgreSQL does not answer: {error}"),
        }
    }
}

fn start() -> Server {
    let programs = programs().unwrap_or_else(|| panic!("{MISSING}"));
    let directory = TempDir::with_prefix("callgate-postgres-").expect("a temporary directory");
    // The watching shell removes it.
    let directory = directory.keep();
    let port = free_port();
    let watch = shell(&directory)
        .args(["-c", WATCH, "postgres-watch"])
        .arg(&directory)
        .arg(&programs)
        .arg(port.to_string())
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut server = Server {
        port,
        _watch: watch,
    };
    wait_for(&mut server, &directory);
    server
}

fn wait_for(server: &mut Server, directory: &Path) {
    let deadline = Instant::now() + START;
    while std::net::TcpStream::connect(("127.0.0.1", server.port)).is_err() {
        let ended = server._watch.try_wait().expect("the shell's state");
        if ended.is_some() || Instant::now() > deadline {
            let log = |name| std::fs::read_to_string(directory.join(name)).unwrap_or_default();
            panic!(
                "PostgreSQL did not start:\n{}{}",
                log("initdb.log"),
                log("server.log")
            );
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A shell as a user that PostgreSQL accepts, which refuses to run as root.
fn shell(directory: &Path) -> Command {
    let root = std::fs::metadata(directory).expect("its owner").uid() == 0;
    if !root {
        return command("sh");
    }
    let (user, group) = ordinary_user();
    chown(directory, Some(user), Some(group)).expect("root may give files away");
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(directory, mode).expect("our own directory");
    let mut shell = command("setpriv");
    shell
        .arg(format!("--reuid={user}"))
        .arg(format!("--regid={group}"))
        .args(["--clear-groups", "sh"]);
    shell
}

/// `postgres` where its package made one, else `nobody`.
fn ordinary_user() -> (u32, u32) {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |wanted: &str| {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            let user = fields.nth(1)?.parse().ok()?;
            let group = fields.next()?.parse().ok()?;
            (name == wanted).then_some((user, group))
        })
    };
    find("postgres")
        .or_else(|| find("nobody"))
        .unwrap_or((65534, 65534))
}

/// The folder that holds PostgreSQL's programs, the newest version first.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let complete = |bin: &PathBuf| bin.join("initdb").exists() && bin.join("postgres").exists();
    let mut candidates = versions
        .into_iter()
        .rev()
        .chain(std::env::split_paths(&path));
    candidates.find(complete)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
    listener.local_addr().expect("its address").port()
}

#[allow(clippy::disallowed_methods, reason = "tests start their own server")]
fn command(program: &str) -> Command {
    Command::new(program)
}
