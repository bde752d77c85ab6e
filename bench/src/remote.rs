//! Calls of remote clients over Socket.IO: how many, how fast, and what they cost the server, beside
//! npm's own server with the same load; and what a connection costs that does nothing.

mod load;
mod server;

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, ensure};
use serde::Deserialize;

use self::load::{Client, LoadResult};
pub(crate) use self::server::serve;
use crate::{
    goals::{REMOTE_CPU, REMOTE_RATIO},
    stats::Samples,
    table::Table,
};

/// Clients, and calls that each keeps in flight.
const LOADS: [(usize, usize); 4] = [(1, 1), (1, 8), (50, 1), (50, 8)];
/// Connections that do nothing.
const IDLE: usize = 5_000;

/// A server in a process of its own, ended with this value.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
    pub(crate) key: String,
}

#[derive(Deserialize)]
struct ServerReady {
    address: String,
    key: String,
}

impl Server {
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Server> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().context("no stdout")?;
        BufReader::new(output).read_line(&mut line)?;
        let ServerReady { address, key } =
            serde_json::from_str(&line).context("it did not start")?;
        Ok(Server {
            process,
            address,
            key,
        })
    }

    fn ours() -> anyhow::Result<Server> {
        Server::start(Command::new(std::env::current_exe()?).arg("remote-server"))
    }

    fn npm() -> anyhow::Result<Server> {
        let folder = npm_folder()?;
        Server::start(Command::new("node").arg(folder.join("server.mjs")))
    }

    /// Used so far, by all its threads.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let (_, fields) = text.rsplit_once(") ").context("/proc/PID/stat")?;
        let mut fields = fields.split(' ').skip(11);
        let mut ticks = || fields.next().and_then(|ticks| ticks.parse::<u64>().ok());
        let used = ticks().zip(ticks()).context("/proc/PID/stat")?;
        // The kernel counts in hundredths of a second, whatever its own clock.
        Ok(Duration::from_millis((used.0 + used.1) * 10))
    }

    /// Kilobytes of its own and its share of others', as the kernel counts.
    fn memory(&self) -> anyhow::Result<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.process.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
        Ok(number.context("no Pss")?.trim().parse()?)
    }

    /// Kilobytes of each of many connections that do nothing.
    async fn idle(&self, connections: usize) -> anyhow::Result<f64> {
        let before = self.memory()?;
        let mut clients = Vec::new();
        for number in 0..connections {
            clients.push(Client::connect(self, number).await?);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok((self.memory()? - before) / connections as f64)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// npm's packages, installed on first use next to the build's other products.
fn npm_folder() -> anyhow::Result<PathBuf> {
    let folder = std::env::current_exe()?.with_file_name("callgate-bench-socketio");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peer/socketio/prepare");
    let made = Command::new(script)
        .arg(&folder)
        .stdout(Stdio::null())
        .status();
    let made = made.context("bench/peer/socketio/prepare")?;
    ensure!(
        made.success(),
        "its packages could not be installed; see the messages above"
    );
    Ok(folder)
}

/// As many descriptors as this process may have; what it starts inherits them.
fn allow_many() -> anyhow::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, limit).context("the limit of open files")
}

#[derive(Default)]
struct Side {
    samples: [Samples; 4],
    wall: [Duration; 4],
    cpu: [Duration; 4],
    /// How many connections, and the kilobytes of each.
    idle: Option<(usize, f64)>,
}

impl Side {
    fn add(&mut self, place: usize, done: LoadResult) {
        self.samples[place].append(done.samples);
        self.wall[place] += done.wall;
        self.cpu[place] += done.cpu;
    }

    fn rate(&self, place: usize) -> f64 {
        self.samples[place].count() as f64 / self.wall[place].as_secs_f64().max(1e-9)
    }

    /// Microseconds of the server's processor for each call.
    fn cost(&self, place: usize) -> f64 {
        self.cpu[place].as_secs_f64() * 1e6 / self.samples[place].count().max(1) as f64
    }

    fn report(self, who: &'static str, table: &mut Table, ours: bool) {
        for (place, (clients, in_flight)) in LOADS.into_iter().enumerate() {
            let what = format!("Socket.IO call, {clients} clients x {in_flight}");
            let (rate, cost) = (self.rate(place), self.cost(place));
            table.number(format!("{what}, per second"), who, (rate, "calls/s"), &[]);
            let goals = if ours && clients > 1 { REMOTE_CPU } else { &[] };
            table.number(format!("{what}, server CPU"), who, (cost, "us"), goals);
            table.times(what, who, self.samples[place].clone(), &[]);
        }
        if let Some((connections, idle)) = self.idle {
            let what = format!("memory of one of {connections} idle connections");
            table.number(what, who, (idle, "kB"), &[]);
        }
    }
}

/// Ours and npm's in turn.
pub(crate) async fn measure(quick: bool, table: &mut Table) -> anyhow::Result<()> {
    let (rounds, during, idle) = if quick {
        (1, Duration::from_millis(200), IDLE / 10)
    } else {
        (4, Duration::from_secs(1), IDLE)
    };
    allow_many()?;
    let ours = Server::ours().context("our own server")?;
    let npm = Server::npm();
    if let Err(error) = &npm {
        table.note(format!("npm's socket.io was skipped: {error:#}"));
    }
    let mut sides = [Side::default(), Side::default()];
    let servers = [Some(&ours), npm.as_ref().ok()];
    for round in 1..=rounds {
        eprintln!("remote clients, round {round} of {rounds}");
        for (place, (clients, in_flight)) in LOADS.into_iter().enumerate() {
            for (server, side) in servers.into_iter().zip(&mut sides) {
                if let Some(server) = server {
                    let done = load::run(server, clients, in_flight, during).await?;
                    side.add(place, done);
                }
            }
        }
    }
    for (server, side) in servers.into_iter().zip(&mut sides) {
        if let Some(server) = server {
            side.idle = Some((idle, server.idle(idle).await?));
        }
    }
    let [ours, theirs] = sides;
    let (of_ours, of_theirs) = (ours.rate(3), theirs.rate(3));
    let cheaper = theirs.cost(3) / ours.cost(3).max(1e-9);
    ours.report("callgate", table, true);
    if npm.is_ok() {
        theirs.report("npm socket.io, bare", table, false);
        let what = "Socket.IO calls, callgate / npm, 50 clients x 8";
        table.number(
            what,
            "ratio of rates",
            (of_ours / of_theirs, "x"),
            REMOTE_RATIO,
        );
        let what = "Socket.IO calls, npm / callgate, server CPU";
        table.number(what, "ratio of costs", (cheaper, "x"), &[]);
    }
    Ok(())
}
