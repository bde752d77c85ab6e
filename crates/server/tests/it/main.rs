//! What machines read: names are an interface, and the documentation lists them all.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

mod docs;
mod metrics;
mod openai;
mod openapi;
mod remote;

use std::{collections::BTreeSet, path::Path, sync::Arc};

use callgate_contract::{BoxFuture, HostCall, Report, RunSpec, Sandbox, SandboxError, Stop};
use callgate_service::{CountedSandbox, Gauges, Metrics};
use callgate_testkit::Home;

#[tokio::test]
async fn every_metric_is_documented() {
    let home = Home::sqlite();
    let text = Metrics::new(home.open().await).text(&Gauges {
        waiting: 3,
        ..Gauges::default()
    });
    let shown: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let page = std::fs::read_to_string(page).unwrap();
    let listed: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    assert_eq!(shown, listed);
    assert!(text.contains("callgate_sandbox_waiting 3\n"), "{text}");
}

/// Says how each run ended, and runs nothing.
struct Said(Result<(Stop, u64), ()>);

impl Sandbox for Said {
    fn run(&self, _: RunSpec, _: HostCall) -> BoxFuture<'_, Result<Report, SandboxError>> {
        let said = match self.0 {
            Ok((stop, calls)) => Ok(Report {
                stop,
                stdout: String::new(),
                stdout_total: 0,
                error: None,
                line: None,
                calls,
                wall: Default::default(),
                cpu: Default::default(),
                memory_peak: 0,
                clocks: Vec::new(),
                threaded: false,
            }),
            Err(()) => Err(SandboxError::Failed("broken".into())),
        };
        Box::pin(std::future::ready(said))
    }
}

#[tokio::test]
async fn runs_are_counted_by_how_they_ended() {
    let home = Home::sqlite();
    let metrics = Arc::new(Metrics::new(home.open().await));
    for said in [
        Ok((Stop::Finished, 2)),
        Ok((Stop::Agent, 1)),
        Ok((Stop::Finished, 4)),
        Err(()),
    ] {
        let counted = CountedSandbox::new(Arc::new(Said(said)), metrics.clone());
        let folders = callgate_contract::RunFolders {
            id: Default::default(),
            number: 1,
        };
        let spec = RunSpec::new("", folders);
        let answered = counted.run(spec, Box::new(|_| unreachable!())).await;
        assert_eq!(answered.is_ok(), said.is_ok(), "the outcome passes through");
    }
    let text = metrics.text(&Gauges::default());
    for line in [
        "callgate_runs_total{stop=\"agent\"} 1\n",
        "callgate_runs_total{stop=\"failed\"} 1\n",
        "callgate_runs_total{stop=\"finished\"} 2\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}
