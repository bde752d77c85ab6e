//! From "run this" to the first thing that the code does: a call that reaches the host, or for a
//! peer without a host, the first byte it prints.

use std::{
    sync::mpsc,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use callgate_contract::{CodeReply, Sandbox, Stop, Value};

use crate::{peer, scene::Scene, stats::Samples, table::Table};

const CODE: &str = "bare()";

/// Before each start, for all alike: long enough for the run before to be cleaned up.
const SETTLE: Duration = Duration::from_millis(8);

#[derive(Default)]
pub(crate) struct Starts {
    pooled: Samples,
    unpooled: Samples,
    python: Samples,
    bubblewrap: Samples,
}

impl Starts {
    pub(crate) async fn round(&mut self, scene: &Scene, times: usize) -> anyhow::Result<()> {
        for _ in 0..times {
            std::thread::sleep(SETTLE);
            self.pooled.push(first_call(scene, &*scene.jail).await?);
            std::thread::sleep(SETTLE);
            self.python.push(peer::python_start()?);
            std::thread::sleep(SETTLE);
            self.unpooled
                .push(first_call(scene, &scene.unpooled).await?);
            std::thread::sleep(SETTLE);
            if let Some(time) = peer::bubblewrap_start()? {
                self.bubblewrap.push(time);
            }
        }
        Ok(())
    }

    pub(crate) fn report(self, table: &mut Table) {
        use crate::goals::{START_POOLED, START_UNPOOLED};
        let what = "start to first call";
        table.times(what, "callgate, pooled", self.pooled, START_POOLED);
        table.times(what, "callgate, pool empty", self.unpooled, START_UNPOOLED);
        if self.bubblewrap.count() == 0 {
            table.note("bubblewrap + python was skipped: install Debian's package `bubblewrap`.");
        }
        let what = "start to first output";
        table.times(what, "python3 -c", self.python, &[]);
        table.times(what, "bubblewrap + python3 -c", self.bubblewrap, &[]);
    }
}

async fn first_call(scene: &Scene, sandbox: &dyn Sandbox) -> anyhow::Result<Duration> {
    let (tell, told) = mpsc::channel();
    let spec = scene.spec(CODE);
    let began = Instant::now();
    let answer = move |_call| -> callgate_contract::BoxFuture<'static, CodeReply> {
        let _ = tell.send(began.elapsed());
        Box::pin(async { CodeReply::Value(Value::Null) })
    };
    let report = sandbox.run(spec, Box::new(answer)).await?;
    ensure!(report.stop == Stop::Finished, "{report:?}");
    told.try_recv().context("the code made no call")
}
