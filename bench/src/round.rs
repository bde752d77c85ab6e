//! The one alternating run: ours and the peers take turns, round by round, so that whatever else
//! the machine does hits all alike.

use std::sync::Arc;

use crate::{
    calls::Calls, load::Load, peer::HttpPeer, scene::Scene, starts::Starts, table::Table,
    turns::Turns,
};

struct Size {
    rounds: usize,
    starts: usize,
    runs: usize,
    kills: usize,
}

const FULL: Size = Size {
    rounds: 10,
    starts: 40,
    runs: 400,
    kills: 20,
};

const QUICK: Size = Size {
    rounds: 1,
    starts: 5,
    runs: 40,
    kills: 3,
};

pub(crate) async fn measure(quick: bool) -> anyhow::Result<Table> {
    let size = if quick { QUICK } else { FULL };
    let mut table = Table::default();
    let mut http = match HttpPeer::start() {
        Ok(peer) => Some(peer),
        Err(error) => {
            table.note(format!("HTTP + pickle was skipped: {error:#}"));
            None
        }
    };
    let scene = Arc::new(Scene::new().await?);
    let load_before = load_average();
    let (mut starts, mut calls, mut load) = (Starts::default(), Calls::default(), Load::default());
    for round in 1..=size.rounds {
        eprintln!("round {round} of {}", size.rounds);
        starts.round(&scene, size.starts).await?;
        calls.round(&scene, &mut http).await?;
        load.round(&scene, size.runs, size.kills).await?;
    }
    starts.report(&mut table);
    calls.report(&mut table);
    load.report(&mut table);
    Turns::measure(&scene, quick).await?.report(&mut table);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    table.note(format!(
        "{cores} cores; load average {load_before} before, {} after; {} rounds.",
        load_average(),
        size.rounds
    ));
    Ok(table)
}

/// Of the last minute, as the kernel writes it: what the figures are to be read with.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}
