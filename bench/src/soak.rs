//! Many runs of all sorts at once. Every result is checked, and at the end nothing may be left over:
//! no process, descriptor, mount or file, and no memory to speak of.

mod case;
mod leftovers;

use std::{
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use callgate_contract::{RunFolders, Sandbox, SessionKey};
use callgate_sandbox::{Jail, JailOptions, find_python};
use callgate_store::{Store, StoreOptions};
use tempfile::TempDir;
use tokio::{runtime::Runtime, task::JoinSet};

use case::Case;
use leftovers::Before;

/// Sessions that the runs are spread over.
const SESSIONS: usize = 16;

/// Runs after which memory is taken to be as large as it gets.
const WARM: usize = 500;

const MEMORY_GROWTH: u64 = 32 << 20;

/// Wrong results after which there is no point in going on.
const MOST_WRONG: usize = 20;

#[derive(clap::Args)]
pub(crate) struct Soak {
    /// The default is more than one zygote serves, so that the change to the next is seen too.
    #[arg(long, default_value_t = 10_050)]
    runs: usize,
    #[arg(long, default_value_t = 8)]
    at_once: usize,
    /// Set for the process that does the work.
    #[arg(long, hide = true)]
    in_own_folder: bool,
}

pub(crate) fn soak(runtime: &Runtime, order: &Soak) -> anyhow::Result<()> {
    if order.in_own_folder {
        in_own_folder(runtime, order)
    } else {
        start_again(order)
    }
}

/// With a folder for temporary files that nobody else uses, so that what is left in it is ours.
fn start_again(order: &Soak) -> anyhow::Result<()> {
    let folder = TempDir::with_prefix("callgate-soak-")?;
    let status = Command::new(std::env::current_exe()?)
        .args(["soak", "--in-own-folder"])
        .args(["--runs", &order.runs.to_string()])
        .args(["--at-once", &order.at_once.to_string()])
        .env("TMPDIR", folder.path())
        .status()?;
    ensure!(status.success(), "the soak failed");
    Ok(())
}

fn in_own_folder(runtime: &Runtime, order: &Soak) -> anyhow::Result<()> {
    let began = Instant::now();
    let before = Before::look()?;
    let home = TempDir::new()?;
    let ended = runtime.block_on(all_runs(order, &home))?;
    home.close()?;
    let mut wrong = ended.wrong;
    wrong.extend(before.what_is_left(&ended.processes)?);
    let grown = ended.memory_after.saturating_sub(ended.memory_warm);
    if grown > MEMORY_GROWTH {
        wrong.push(format!("memory grew by {} kB", grown >> 10));
    }
    println!(
        "{} runs, {} at once, in {:.0} s: {}; memory {} kB after {WARM} runs, {} kB at the end",
        order.runs,
        order.at_once,
        began.elapsed().as_secs_f64(),
        match wrong.as_slice() {
            [] => "every result right, nothing left over".to_owned(),
            wrong => format!("{} WRONG", wrong.len()),
        },
        ended.memory_warm >> 10,
        ended.memory_after >> 10,
    );
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(())
}

struct SoakResult {
    wrong: Vec<String>,
    /// Every process that ours started and that lived when the last run had ended.
    processes: Vec<u32>,
    memory_warm: u64,
    memory_after: u64,
}

async fn all_runs(order: &Soak, home: &TempDir) -> anyhow::Result<SoakResult> {
    let store = Store::open(StoreOptions::new(home.path())).await?;
    let sessions = open_sessions(&store).await?;
    let python = find_python().context("no python3 here")?;
    let jail = Arc::new(Jail::new(JailOptions::new(
        python,
        store.files().sessions_path(),
    )));
    let mut wrong = Vec::new();
    let mut memory_warm = 0;
    let mut running: JoinSet<Result<(), String>> = JoinSet::new();
    for number in 0..order.runs {
        if running.len() >= order.at_once
            && let Some(ended) = running.join_next().await
            && let Err(difference) = ended?
        {
            eprintln!("wrong: {difference}");
            wrong.push(difference);
        }
        if wrong.len() >= MOST_WRONG {
            break;
        }
        if number == WARM.min(order.runs - 1) {
            memory_warm = leftovers::memory()?;
        }
        if number % 1_000 == 0 {
            eprintln!("{number} of {} runs, {} wrong", order.runs, wrong.len());
        }
        let folders = sessions[number % SESSIONS];
        running.spawn(one_run(jail.clone(), number, folders));
    }
    while let Some(ended) = running.join_next().await {
        wrong.extend(ended?.err());
    }
    wrong.extend(leftovers::files(store.files().sessions_path())?);
    Ok(SoakResult {
        wrong,
        processes: leftovers::descendants()?,
        memory_warm,
        memory_after: leftovers::memory()?,
    })
}

async fn open_sessions(store: &Store) -> anyhow::Result<Vec<RunFolders>> {
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let key: SessionKey = format!("soak:FriendMessage:{number}").parse()?;
        let session = store.sessions().open(&key).await?;
        store.files().session(&session)?;
        sessions.push(RunFolders {
            id: session.id,
            number: session.number,
        });
    }
    Ok(sessions)
}

async fn one_run(jail: Arc<Jail>, number: usize, folders: RunFolders) -> Result<(), String> {
    const PATIENCE: Duration = Duration::from_secs(30);
    let case = Case::of(number);
    let (spec, host) = case.prepare(folders);
    let said = |what: String| format!("run {number}, {case:?}: {what}");
    let report = tokio::time::timeout(PATIENCE, jail.run(spec, host)).await;
    let report = report.map_err(|_| said(format!("not over after {PATIENCE:?}")))?;
    let report = report.map_err(|error| said(error.to_string()))?;
    case.check(&report).map_err(said)
}
