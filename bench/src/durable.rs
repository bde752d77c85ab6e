//! A step that survives a power cut: a tool call with the round that asked for it here, a step of a workflow in
//! DBOS from PyPI. Both on SQLite, both wait for the disk.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, ensure};
use callgate_store::Durability;

use crate::{
    goals::DURABLE_RATIO,
    scene::Scene,
    stats::Samples,
    table::Table,
    turns::{Caller, agent, steps},
};

const STEPS: usize = 100;

pub(crate) async fn measure(quick: bool, table: &mut Table) -> anyhow::Result<()> {
    let scene = Scene::durable(Durability::Power).await?;
    let ours = agent(scene.coder.clone(), Arc::new(Caller("effectful")));
    let mut theirs = match Dbos::start() {
        Ok(theirs) => theirs,
        Err(error) => {
            table.note(format!("DBOS was skipped: {error:#}"));
            return Ok(());
        }
    };
    let (mut here, mut there) = (Samples::default(), Samples::default());
    // What is done for the first time is not what is compared.
    steps(&ours, "bench:FriendMessage:warm", 10).await?;
    theirs.steps(10)?;
    for round in 0..if quick { 1 } else { 10 } {
        let session = format!("bench:FriendMessage:durable-{round}");
        here.push(steps(&ours, &session, STEPS).await?);
        there.push(theirs.steps(STEPS)?);
    }
    let median = |samples: &Samples| samples.percentile(50.0).unwrap_or(f64::NAN);
    let ratio = median(&there) / median(&here).max(1e-9);
    let what = "step that survives a power cut";
    table.times(what, "callgate, tool call and round", here, &[]);
    table.times(what, "DBOS 3.3, step of a workflow", there, &[]);
    let what = "durable step, DBOS / callgate";
    table.number(what, "ratio of p50", (ratio, "x"), DURABLE_RATIO);
    Ok(())
}

struct Dbos {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    _folder: tempfile::TempDir,
}

impl Dbos {
    fn start() -> anyhow::Result<Dbos> {
        let environment = std::env::current_exe()?.with_file_name("callgate-bench-dbos");
        let peer = Path::new(env!("CARGO_MANIFEST_DIR")).join("peer/durable");
        let made = Command::new(peer.join("prepare"))
            .arg(&environment)
            .status();
        let made = made.context("bench/peer/durable/prepare")?;
        ensure!(
            made.success(),
            "it could not be installed; see the messages above"
        );
        let folder = tempfile::TempDir::with_prefix("callgate-bench-dbos-")?;
        let mut process = Command::new(environment.join("bin/python"))
            .arg(peer.join("driver.py"))
            .arg(folder.path().join("dbos.sqlite"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let orders = process.stdin.take().context("no stdin")?;
        let answers = BufReader::new(process.stdout.take().context("no stdout")?);
        Ok(Dbos {
            process,
            orders,
            answers,
            _folder: folder,
        })
    }

    /// The time of one of so many.
    fn steps(&mut self, count: usize) -> anyhow::Result<Duration> {
        writeln!(self.orders, "{count}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let taken = line.trim().parse().context("DBOS did not answer")?;
        Ok(Duration::from_nanos(taken) / u32::try_from(count)?)
    }
}

impl Drop for Dbos {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
