//! The one alternating run: ours and the peers take turns, round by round, so that whatever else
//! the machine does hits all alike.

use std::sync::Arc;

use crate::{
    astrbot, calls::Calls, durable, load::Load, messages::Messages, openai, peer::HttpPeer,
    plugins, process, remote, scene::Scene, starts::Starts, table::Table, ten, turns::Turns,
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

/// Everything.
pub(crate) async fn measure(quick: bool) -> anyhow::Result<Table> {
    let size = if quick { QUICK } else { FULL };
    noted(async |table: &mut Table| {
        let scene = Arc::new(Scene::new().await?);
        sandbox(&scene, &size, table).await?;
        plugins::measure(&scene, quick, table).await?;
        astrbot::measure(quick, table).await?;
        agent(scene, quick, table).await?;
        remote::measure(quick, table).await?;
        openai::measure(quick, table).await
    })
    .await
}

/// What concerns turns, messages and the process.
pub(crate) async fn turns(quick: bool) -> anyhow::Result<Table> {
    noted(async |table: &mut Table| {
        let scene = Arc::new(Scene::new().await?);
        agent(scene, quick, table).await
    })
    .await
}

/// What concerns plugins.
pub(crate) async fn plugins(quick: bool) -> anyhow::Result<Table> {
    noted(async |table: &mut Table| {
        let scene = Scene::new().await?;
        plugins::measure(&scene, quick, table).await
    })
    .await
}

/// What concerns AstrBot's plugins.
pub(crate) async fn astrbot(quick: bool) -> anyhow::Result<Table> {
    noted(async |table: &mut Table| astrbot::measure(quick, table).await).await
}

/// What concerns remote clients.
pub(crate) async fn remote(quick: bool) -> anyhow::Result<Table> {
    noted(async |table: &mut Table| remote::measure(quick, table).await).await
}

/// What concerns OpenAI's API.
pub(crate) async fn openai(quick: bool) -> anyhow::Result<Table> {
    noted(async |table: &mut Table| openai::measure(quick, table).await).await
}

async fn noted(
    measure: impl AsyncFnOnce(&mut Table) -> anyhow::Result<()>,
) -> anyhow::Result<Table> {
    let mut table = Table::default();
    let before = load_average();
    measure(&mut table).await?;
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let after = load_average();
    table.note(format!(
        "{cores} cores; load average {before} before, {after} after."
    ));
    Ok(table)
}

async fn agent(scene: Arc<Scene>, quick: bool, table: &mut Table) -> anyhow::Result<()> {
    Turns::measure(&scene, quick).await?.report(table);
    Messages::measure(&scene, quick).await?.report(table);
    ten::report(&scene, table).await?;
    drop(scene);
    durable::measure(quick, table).await?;
    process::report(quick, table)
}

/// Ours and the peers, round by round.
async fn sandbox(scene: &Arc<Scene>, size: &Size, table: &mut Table) -> anyhow::Result<()> {
    let mut http = match HttpPeer::start() {
        Ok(peer) => Some(peer),
        Err(error) => {
            table.note(format!("HTTP + pickle was skipped: {error:#}"));
            None
        }
    };
    let (mut starts, mut calls, mut load) = (Starts::default(), Calls::default(), Load::default());
    for round in 1..=size.rounds {
        eprintln!("round {round} of {}", size.rounds);
        starts.round(scene, size.starts).await?;
        calls.round(scene, &mut http).await?;
        load.round(scene, size.runs, size.kills).await?;
    }
    starts.report(table);
    calls.report(table);
    load.report(table);
    Ok(())
}

/// Of the last minute, as the kernel writes it: what the figures are to be read with.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}
