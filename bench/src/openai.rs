//! Chat completions over OpenAI's API with a model that takes no time: how many per second, how long
//! each takes, and what it costs the server, beside LiteLLM's proxy over its own mock model. Ours puts
//! every request on record; the proxy, as it is used here, none.

mod load;
mod server;

use std::{path::Path, process::Command, time::Duration};

use anyhow::{Context, ensure};

use self::load::LoadResult;
pub(crate) use self::server::serve;
use crate::{
    goals::{COMPLETIONS, COMPLETIONS_RATIO, Goal},
    remote::Server,
    stats::Samples,
    table::Table,
};

/// Clients, and whether answers come in chunks.
const LOADS: [(usize, bool); 4] = [(1, false), (1, true), (50, false), (50, true)];
/// The load by which the two are compared.
const MANY: usize = 2;

#[derive(Default)]
struct Side {
    samples: [Samples; LOADS.len()],
    wall: [Duration; LOADS.len()],
    cpu: [Duration; LOADS.len()],
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

    fn report(&self, who: &'static str, goals: &'static [Goal], table: &mut Table) {
        for (place, (clients, chunks)) in LOADS.into_iter().enumerate() {
            let how = if chunks { "in chunks" } else { "whole" };
            let what = format!("chat completion {how}, {clients} clients");
            let count = self.samples[place].count().max(1) as f64;
            let cost = self.cpu[place].as_secs_f64() * 1e6 / count;
            table.times(what.clone(), who, self.samples[place].clone(), &[]);
            let rate = (self.rate(place), "per s");
            let goals = if place == MANY { goals } else { &[] };
            table.number(format!("{what}, rate"), who, rate, goals);
            table.number(format!("{what}, server CPU"), who, (cost, "us"), &[]);
        }
    }
}

/// Ours and LiteLLM's in turn.
pub(crate) async fn measure(quick: bool, table: &mut Table) -> anyhow::Result<()> {
    let (rounds, during) = if quick {
        (1, Duration::from_millis(500))
    } else {
        (4, Duration::from_secs(2))
    };
    let mut ours = Command::new(std::env::current_exe()?);
    let ours = Server::start(ours.arg("openai-server")).context("our own server")?;
    let theirs = litellm();
    if let Err(error) = &theirs {
        table.note(format!("LiteLLM was skipped: {error:#}"));
    }
    let servers = [Some(&ours), theirs.as_ref().ok()];
    let mut sides = [Side::default(), Side::default()];
    for round in 1..=rounds {
        eprintln!("chat completions, round {round} of {rounds}");
        for (place, (clients, chunks)) in LOADS.into_iter().enumerate() {
            for (server, side) in servers.into_iter().zip(&mut sides) {
                if let Some(server) = server {
                    side.add(place, load::run(server, clients, chunks, during).await?);
                }
            }
        }
    }
    let [ours, others] = sides;
    ours.report("callgate, journaled", COMPLETIONS, table);
    if theirs.is_ok() {
        others.report("LiteLLM proxy, mock model", &[], table);
        let ratio = ours.rate(MANY) / others.rate(MANY).max(1e-9);
        let what = "chat completions, callgate / LiteLLM, 50 clients";
        table.number(what, "ratio of rates", (ratio, "x"), COMPLETIONS_RATIO);
    }
    Ok(())
}

/// Its packages are installed on first use, next to the build's other products.
fn litellm() -> anyhow::Result<Server> {
    let environment = std::env::current_exe()?.with_file_name("callgate-bench-litellm");
    let peer = Path::new(env!("CARGO_MANIFEST_DIR")).join("peer/litellm");
    let made = Command::new(peer.join("prepare"))
        .arg(&environment)
        .status();
    let made = made.context("bench/peer/litellm/prepare")?;
    ensure!(
        made.success(),
        "its packages could not be installed; see the messages above"
    );
    let python = environment.join("bin/python");
    Server::start(Command::new(python).arg(peer.join("server.py")))
}
