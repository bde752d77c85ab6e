//! Figures of the sandbox under load: runs per second, memory of the waiting, and how fast a run
//! that loops is gone.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::ensure;
use callgate_agent::Task;
use callgate_contract::{CodeReply, Sandbox, Stop, Value};
use tokio::task::JoinSet;

use crate::{goals, scene::Scene, stats::Samples, table::Table};

const AT_ONCE: usize = 8;
const FIVE_CALLS: &str = "for n in range(5): bare('x')";
const FIVE_JOURNALED: &str = "for n in range(5): pure('x')";
const LOOP: &str = "bare()\nwhile True: pass";

#[derive(Default)]
pub(crate) struct Load {
    runs: Rate,
    journaled: Rate,
    memory: Vec<u64>,
    kill: Samples,
}

#[derive(Default)]
struct Rate {
    runs: usize,
    time: Duration,
}

impl Load {
    pub(crate) async fn round(
        &mut self,
        scene: &Arc<Scene>,
        runs: usize,
        kills: usize,
    ) -> anyhow::Result<()> {
        self.runs.burst(scene, runs, bare_run).await?;
        self.journaled.burst(scene, runs / 2, journaled_run).await?;
        std::thread::sleep(Duration::from_millis(100));
        self.memory.extend(scene.jail.waiting_memory());
        for _ in 0..kills {
            self.kill.push(kill(scene).await?);
        }
        Ok(())
    }

    pub(crate) fn report(self, table: &mut Table) {
        let what = "8 at once, 5 calls each";
        let rate = (self.runs.per_second(), "runs/s");
        table.number(what, "callgate, bare", rate, goals::RUNS);
        let rate = (self.journaled.per_second(), "runs/s");
        table.number(what, "callgate, run and calls journaled", rate, &[]);
        let most = self.memory.iter().max().copied().unwrap_or_default();
        let megabytes = (most as f64 / 1e6, "MB");
        let what = "private memory, largest waiting child";
        table.number(what, "callgate", megabytes, goals::WAITING_MEMORY);
        let what = "cancel to reaped and reported";
        table.times(what, "callgate", self.kill, goals::KILL);
    }
}

impl Rate {
    async fn burst<F, Running>(
        &mut self,
        scene: &Arc<Scene>,
        runs: usize,
        run: F,
    ) -> anyhow::Result<()>
    where
        F: Fn(Arc<Scene>) -> Running,
        Running: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let began = Instant::now();
        let mut running = JoinSet::new();
        for _ in 0..runs {
            if running.len() >= AT_ONCE
                && let Some(ended) = running.join_next().await
            {
                ended??;
            }
            running.spawn(run(scene.clone()));
        }
        while let Some(ended) = running.join_next().await {
            ended??;
        }
        self.time += began.elapsed();
        self.runs += runs;
        Ok(())
    }

    fn per_second(&self) -> f64 {
        self.runs as f64 / self.time.as_secs_f64()
    }
}

async fn bare_run(scene: Arc<Scene>) -> anyhow::Result<()> {
    let answer = |_call| -> callgate_contract::BoxFuture<'static, CodeReply> {
        Box::pin(async { CodeReply::Value(Value::Null) })
    };
    let report = scene.jail.run(scene.spec(FIVE_CALLS), Box::new(answer));
    let report = report.await?;
    ensure!(
        (report.stop, report.calls) == (Stop::Finished, 5),
        "{report:?}"
    );
    Ok(())
}

async fn journaled_run(scene: Arc<Scene>) -> anyhow::Result<()> {
    let report = scene.coder.run(scene.caller(), Task::new(FIVE_JOURNALED));
    let report = report.await?;
    ensure!(report.calls.len() == 5, "{:?}", report.error);
    Ok(())
}

/// The code loops; from the order to stop it until its process is gone and reported.
async fn kill(scene: &Scene) -> anyhow::Result<Duration> {
    let spec = scene.spec(LOOP);
    let cancel = spec.cancel.clone();
    let (tell, told) = tokio::sync::oneshot::channel();
    let mut tell = Some(tell);
    let answer = move |_call| -> callgate_contract::BoxFuture<'static, CodeReply> {
        tell.take().map(|tell| tell.send(()));
        Box::pin(async { CodeReply::Value(Value::Null) })
    };
    let canceller = tokio::spawn(async move {
        let _ = told.await;
        // It has its answer by now and is in its loop.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let ordered = Instant::now();
        cancel.cancel();
        ordered
    });
    let report = scene.jail.run(spec, Box::new(answer)).await?;
    let gone = Instant::now();
    ensure!(report.stop == Stop::Cancelled, "{report:?}");
    Ok(gone - canceller.await?)
}
