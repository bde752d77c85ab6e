//! [`Metrics`]: what happened since the start, counted where it happens and shown as Prometheus
//! reads it. `docs/metrics.md` lists the names; they are part of the interface.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use callgate_contract::{
    BoxFuture, HostCall, Listener, ModelReply, Report, RunSpec, Sandbox, SandboxError, TurnFacts,
};
use callgate_store::Store;
use serde_json::json;

/// Counters only grow. Turns and runs count by how they ended, in maps behind a mutex that is held
/// for one addition.
pub struct Metrics {
    store: Store,
    began: Instant,
    turns: Mutex<BTreeMap<String, u64>>,
    runs: Mutex<BTreeMap<String, u64>>,
    rounds: AtomicU64,
    code_calls: AtomicU64,
    tool_calls: AtomicU64,
}

impl Metrics {
    pub fn new(store: Store) -> Self {
        Metrics {
            store,
            began: Instant::now(),
            turns: Mutex::default(),
            runs: Mutex::default(),
            rounds: AtomicU64::new(0),
            code_calls: AtomicU64::new(0),
            tool_calls: AtomicU64::new(0),
        }
    }

    /// The whole page. `waiting` is the number of warm processes.
    pub fn text(&self, waiting: usize) -> String {
        let mut page = Page::default();
        let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
        page.metric("callgate_build_info", "gauge", "The version that runs.");
        page.sample(&version, 1);
        page.metric("callgate_uptime_seconds", "gauge", "Since the start.");
        page.sample("", self.began.elapsed().as_secs());
        page.metric(
            "callgate_turns_total",
            "counter",
            "Turns that ended, by stop; turns of agents included.",
        );
        page.by_stop(&self.turns);
        page.metric("callgate_rounds_total", "counter", "Answers of models.");
        page.sample("", self.rounds.load(Ordering::Relaxed));
        page.metric(
            "callgate_calls_total",
            "counter",
            "Calls of methods, by what called.",
        );
        let calls = [("code", &self.code_calls), ("tools", &self.tool_calls)];
        for (from, count) in calls {
            let label = format!("{{from=\"{from}\"}}");
            page.sample(&label, count.load(Ordering::Relaxed));
        }
        page.metric(
            "callgate_runs_total",
            "counter",
            "Runs of code that ended, by stop.",
        );
        page.by_stop(&self.runs);
        page.metric(
            "callgate_sandbox_waiting",
            "gauge",
            "Warm processes that wait for a run.",
        );
        page.sample("", waiting as u64);
        page.text
    }
}

/// Text in the making.
#[derive(Default)]
struct Page {
    text: String,
    name: &'static str,
}

impl Page {
    fn metric(&mut self, name: &'static str, kind: &str, help: &str) {
        self.name = name;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, labels: &str, value: u64) {
        let _ = writeln!(self.text, "{}{labels} {value}", self.name);
    }

    fn by_stop(&mut self, counts: &Mutex<BTreeMap<String, u64>>) {
        let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        for (stop, count) in counts.iter() {
            self.sample(&format!("{{stop=\"{stop}\"}}"), *count);
        }
    }
}

fn add(counts: &Mutex<BTreeMap<String, u64>>, stop: &str) {
    let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
    *counts.entry(stop.to_owned()).or_default() += 1;
}

/// What it hears, it counts; it changes nothing.
impl Listener for Metrics {
    fn after_model<'a>(&'a self, _: &'a TurnFacts, _: &'a mut ModelReply) -> BoxFuture<'a, ()> {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        Box::pin(async {})
    }

    fn after_call<'a>(
        &'a self,
        _: &'a TurnFacts,
        _: &'a str,
        _: &'a mut String,
    ) -> BoxFuture<'a, ()> {
        self.tool_calls.fetch_add(1, Ordering::Relaxed);
        Box::pin(async {})
    }

    fn after_turn<'a>(&'a self, turn: &'a TurnFacts) -> BoxFuture<'a, ()> {
        Box::pin(async {
            let ended = self.store.turns().get(turn.turn).await;
            let stop = ended.ok().and_then(|turn| turn.finish).map(|end| end.stop);
            if let Some(stop) = json!(stop).as_str() {
                add(&self.turns, stop);
            }
        })
    }
}

/// A sandbox whose runs are counted.
pub struct Counted {
    sandbox: Arc<dyn Sandbox>,
    metrics: Arc<Metrics>,
}

impl Counted {
    pub fn new(sandbox: Arc<dyn Sandbox>, metrics: Arc<Metrics>) -> Self {
        Counted { sandbox, metrics }
    }
}

impl Sandbox for Counted {
    fn run(&self, spec: RunSpec, host: HostCall) -> BoxFuture<'_, Result<Report, SandboxError>> {
        Box::pin(async {
            let report = self.sandbox.run(spec, host).await;
            match &report {
                Ok(report) => {
                    let calls = &self.metrics.code_calls;
                    calls.fetch_add(report.calls, Ordering::Relaxed);
                    add(&self.metrics.runs, &report.stop.to_string());
                }
                Err(_) => add(&self.metrics.runs, "failed"),
            }
            report
        })
    }
}
