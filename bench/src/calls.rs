//! The round trip of one call, timed by the code that makes it: straight to a callback, through the
//! gate to a pure and to an effectful method, and the way of a peer, over HTTP with pickles.

use std::time::Duration;

use anyhow::{Context, ensure};
use callgate_agent::Task;
use callgate_contract::{CodeReply, Sandbox, Stop, Value};

use crate::{
    goals::{CALL_BARE, CALL_EFFECTFUL, CALL_PURE, CALL_RATIO, Goal},
    peer::HttpPeer,
    scene::Scene,
    stats::Samples,
    table::Table,
};

/// Bytes of the value that goes there and back, and how many calls a round makes with it.
const SIZES: [(usize, usize); 3] = [(0, 400), (1_000, 400), (100_000, 60)];

/// Before each run: the pool fills the places that runs before left, which keeps a core busy.
const SETTLE: Duration = Duration::from_millis(60);

const WAYS: [&str; 3] = ["bare", "pure", "effectful"];

#[derive(Default)]
pub(crate) struct Calls([BySize; 3]);

#[derive(Default)]
struct BySize {
    ours: [Samples; 3],
    http: Samples,
}

impl Calls {
    pub(crate) async fn round(
        &mut self,
        scene: &Scene,
        http: &mut Option<HttpPeer>,
    ) -> anyhow::Result<()> {
        for ((size, count), samples) in SIZES.into_iter().zip(&mut self.0) {
            for (way, samples) in WAYS.into_iter().zip(&mut samples.ours) {
                let code = code(way, size, count);
                std::thread::sleep(SETTLE);
                let printed = match way {
                    "bare" => bare(scene, &code).await?,
                    _ => gated(scene, code).await?,
                };
                let times: Vec<u64> = serde_json::from_str(&printed).context("the code's times")?;
                samples.extend_nanoseconds(&times);
            }
            if let Some(peer) = http {
                samples
                    .http
                    .extend_nanoseconds(&peer.calls(size, count / 4)?);
            }
        }
        Ok(())
    }

    pub(crate) fn report(self, table: &mut Table) {
        let mut ratios = Vec::new();
        for ((size, _), samples) in SIZES.into_iter().zip(self.0) {
            let what = match size {
                0 => "call, empty value".to_owned(),
                size => format!("call, {} kB there and back", size / 1_000),
            };
            let p50 = |samples: &Samples| samples.percentile(50.0);
            let [bare, pure, effectful] = samples.ours;
            if let Some((http, ours)) = p50(&samples.http).zip(p50(&bare)) {
                ratios.push((size, http / ours));
            }
            // The goals are for small values; a large one costs what copying it costs.
            let goals: [&'static [Goal]; 3] = match size {
                0 => [CALL_BARE, CALL_PURE, CALL_EFFECTFUL],
                _ => [&[]; 3],
            };
            let [of_bare, of_pure, of_effectful] = goals;
            table.times(&what, "callgate, bare", bare, of_bare);
            table.times(&what, "callgate, gate, pure", pure, of_pure);
            table.times(&what, "callgate, gate, effectful", effectful, of_effectful);
            table.times(&what, "HTTP + pickle, FastAPI", samples.http, &[]);
        }
        for (size, ratio) in ratios {
            let what = format!("HTTP + pickle / bare, {size} bytes");
            let goals = if size == 0 { CALL_RATIO } else { &[] };
            table.number(what, "ratio of p50", (ratio, "x"), goals);
        }
    }
}

/// One reading of the clock per call: each is noted for a replay, which costs a little.
pub(crate) fn code(method: &str, size: usize, count: usize) -> String {
    format!(
        "import time\n\
         value = 'x' * {size}\n\
         for _ in range(20): {method}(value)\n\
         times = []\n\
         last = time.perf_counter_ns()\n\
         for _ in range({count}):\n    \
             {method}(value)\n    \
             now = time.perf_counter_ns()\n    \
             times.append(now - last)\n    \
             last = now\n\
         print(times)\n"
    )
}

async fn bare(scene: &Scene, code: &str) -> anyhow::Result<String> {
    let answer = |call: callgate_contract::CodeCall| {
        let value = call.arguments.positional.into_iter().next();
        let answer: callgate_contract::BoxFuture<'static, CodeReply> =
            Box::pin(async { CodeReply::Value(value.unwrap_or(Value::Null)) });
        answer
    };
    let report = scene.jail.run(scene.spec(code), Box::new(answer)).await?;
    ensure!(report.stop == Stop::Finished, "{report:?}");
    Ok(report.stdout)
}

async fn gated(scene: &Scene, code: String) -> anyhow::Result<String> {
    let report = scene.coder.run(scene.caller(), Task::new(code)).await?;
    ensure!(report.stop == Stop::Finished, "{:?}", report.error);
    Ok(report.stdout)
}
