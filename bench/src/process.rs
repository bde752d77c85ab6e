//! The real binary: how soon `callgate serve` answers, and what it and its children hold in memory
//! when nothing happens.

use std::{
    collections::HashSet,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use tempfile::TempDir;

use crate::{
    goals::{IDLE_MEMORY, READY},
    stats::Samples,
    table::Table,
};

const STARTS: usize = 20;
/// For the sandbox to warm up and its pool to fill, behind a server that is ready.
const SETTLE: Duration = Duration::from_secs(3);

pub(crate) fn report(quick: bool, table: &mut Table) -> anyhow::Result<()> {
    let Some(binary) = binary() else {
        table.note("Start and idle memory were skipped: build the binary first, with `cargo build --release -p callgate-cli`.");
        return Ok(());
    };
    let mut ready = Samples::default();
    for _ in 0..if quick { 2 } else { STARTS } {
        let began = Instant::now();
        let server = Server::start(&binary)?;
        server.is_healthy()?;
        ready.push(began.elapsed());
    }
    table.times("start to ready", "callgate serve", ready, READY);
    let server = Server::start(&binary)?;
    server.is_healthy()?;
    std::thread::sleep(SETTLE);
    let kilobytes: u64 = family(server.child.id()).iter().map(|id| pss(*id)).sum();
    let megabytes = kilobytes as f64 / 1_024.0;
    let what = "idle memory, PSS of all processes";
    table.number(what, "callgate serve", (megabytes, "MB"), IDLE_MEMORY);
    Ok(())
}

/// Built beside this one.
pub(crate) fn binary() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name("callgate");
    path.exists().then_some(path)
}

pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// The operator's.
    pub(crate) key: String,
    pub(crate) data: TempDir,
}

impl Server {
    pub(crate) fn start(binary: &Path) -> anyhow::Result<Server> {
        let data = TempDir::with_prefix("callgate-bench-")?;
        let mut child = Command::new(binary)
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--data"])
            .arg(data.path())
            .current_dir(data.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let out = child.stdout.take().context("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let said: serde_json::Value = serde_json::from_str(&line)?;
        let address = said["address"].as_str().context("no address")?;
        let address = address.trim_start_matches("http://").to_owned();
        let login = said["login"].as_str().and_then(|link| link.split_once('#'));
        let (_, key) = login.context("no key")?;
        Ok(Server {
            child,
            address,
            key: key.to_owned(),
            data,
        })
    }

    pub(crate) fn is_healthy(&self) -> anyhow::Result<()> {
        let mut stream = TcpStream::connect(&self.address)?;
        let host = &self.address;
        write!(
            stream,
            "GET /healthz HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The process and all below it.
fn family(root: u32) -> HashSet<u32> {
    let mut family = HashSet::from([root]);
    let parents: Vec<(u32, u32)> = processes().into_iter().filter_map(parent).collect();
    loop {
        let before = family.len();
        for (id, parent) in &parents {
            if family.contains(parent) {
                family.insert(*id);
            }
        }
        if family.len() == before {
            return family;
        }
    }
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn parent(id: u32) -> Option<(u32, u32)> {
    Some((id, field(&format!("/proc/{id}/status"), "PPid:")? as u32))
}

/// In kilobytes.
fn pss(id: u32) -> u64 {
    field(&format!("/proc/{id}/smaps_rollup"), "Pss:").unwrap_or(0)
}

pub(crate) fn field(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
