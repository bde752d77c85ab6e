//! [`Metrics`]: what happened since the start, counted where it happens and shown as Prometheus
//! reads it. `docs/metrics.md` lists the names; they are part of the interface.

mod metered;
mod page;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use callgate_contract::{
    BoxFuture, HostCall, Listener, ModelReply, Points, Report, RunSpec, Sandbox, SandboxError,
    Surface, TurnFacts,
};
use callgate_gate::{CompletedCall, Gate};
use callgate_store::Store;
use parking_lot::{Mutex, MutexGuard};
use serde_json::json;

use self::page::{Page, Times};

/// Different labels that are kept of one metric; what comes beyond counts as `other`, so that
/// nobody's inventions fill the memory.
const LABELS: usize = 2_000;

/// Counters only grow.
pub struct Metrics {
    store: Store,
    began: Instant,
    rounds: AtomicU64,
    /// A mutex held for one addition.
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    turns: BTreeMap<String, u64>,
    runs: BTreeMap<String, u64>,
    calls: BTreeMap<Labels, Times>,
    models: BTreeMap<Labels, Times>,
    tokens: BTreeMap<Labels, u64>,
    /// In millionths, by model.
    money: BTreeMap<String, u64>,
    requests: BTreeMap<Labels, Times>,
}

/// Values of a metric's labels, in its own order.
type Labels = Vec<String>;

/// What is so at this moment.
#[derive(Clone, Debug, Default)]
pub struct Gauges {
    /// Warm processes.
    pub waiting: usize,
    pub clients: usize,
    pub sockets: usize,
    /// By name: whether it runs, and how often it has ended.
    pub workers: Vec<(String, bool, u32)>,
}

impl Metrics {
    pub fn new(store: Store) -> Self {
        Metrics {
            store,
            began: Instant::now(),
            rounds: AtomicU64::new(0),
            counts: Mutex::default(),
        }
    }

    /// Counts the calls that pass the gate from now on.
    pub fn watch(self: &Arc<Self>, gate: &Gate) {
        let metrics = Arc::downgrade(self);
        gate.observe(move |made| {
            if let Some(metrics) = metrics.upgrade() {
                metrics.called(made);
            }
        });
    }

    fn called(&self, made: &CompletedCall<'_>) {
        let labels = vec![
            from(made.surface).to_owned(),
            made.method.unwrap_or("unknown").to_owned(),
            made.ended.word().to_owned(),
        ];
        add_time(&mut self.counts().calls, labels, made.elapsed);
    }

    /// A request over HTTP was answered. Paths are not told apart: they hold names.
    pub fn answered(&self, method: &str, status: u16, elapsed: Duration) {
        let labels = vec![method.to_owned(), status.to_string()];
        add_time(&mut self.counts().requests, labels, elapsed);
    }

    fn asked(&self, model: &str, outcome: &str, elapsed: Duration) {
        let labels = vec![model.to_owned(), outcome.to_owned()];
        add_time(&mut self.counts().models, labels, elapsed);
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock()
    }

    /// The whole page.
    pub fn text(&self, now: &Gauges) -> String {
        let mut page = Page::default();
        page.metric("callgate_build_info", "gauge", "The version that runs.");
        page.sample(&["version"], &[env!("CARGO_PKG_VERSION").to_owned()], 1);
        page.metric("callgate_uptime_seconds", "gauge", "Since the start.");
        page.number(self.began.elapsed().as_secs());
        let counts = self.counts();
        page.metric(
            "callgate_turns_total",
            "counter",
            "Turns that ended, by stop; turns of agents included.",
        );
        page.by("stop", &counts.turns);
        let database = self.store.counts();
        page.metric(
            "callgate_store_statements_total",
            "counter",
            "Statements to the database.",
        );
        page.number(database.statements);
        page.metric(
            "callgate_store_commits_total",
            "counter",
            "Transactions that wrote to the database.",
        );
        page.number(database.commits);
        page.metric("callgate_rounds_total", "counter", "Answers of models.");
        page.number(self.rounds.load(Ordering::Relaxed));
        page.metric(
            "callgate_model_seconds",
            "histogram",
            "Requests to models, from asking to the end of the answer.",
        );
        page.times(&["model", "outcome"], &counts.models);
        page.metric(
            "callgate_model_tokens_total",
            "counter",
            "Tokens of requests and answers.",
        );
        for (labels, count) in &counts.tokens {
            page.sample(&["model", "kind"], labels, *count);
        }
        page.metric(
            "callgate_model_money_total",
            "counter",
            "What answers cost, where prices are known.",
        );
        for (model, millionths) in &counts.money {
            page.amount("model", model, *millionths);
        }
        page.metric(
            "callgate_calls_total",
            "counter",
            "Calls of methods, by what called and how it ended.",
        );
        for (labels, times) in &counts.calls {
            page.sample(&["from", "method", "outcome"], labels, times.count());
        }
        page.metric(
            "callgate_call_seconds_total",
            "counter",
            "Time that calls of a method took.",
        );
        for (labels, times) in &counts.calls {
            page.seconds(&["from", "method", "outcome"], labels, times.sum());
        }
        page.metric(
            "callgate_runs_total",
            "counter",
            "Runs of code that ended, by stop.",
        );
        page.by("stop", &counts.runs);
        page.metric(
            "callgate_http_seconds",
            "histogram",
            "Requests over HTTP, from their head to that of the answer.",
        );
        page.times(&["method", "status"], &counts.requests);
        drop(counts);
        now.show(&mut page);
        page.text
    }
}

impl Gauges {
    fn show(&self, page: &mut Page) {
        page.metric(
            "callgate_sandbox_waiting",
            "gauge",
            "Warm processes that wait for a run.",
        );
        page.number(self.waiting as u64);
        page.metric("callgate_worker_up", "gauge", "Whether a worker runs.");
        for (worker, runs, _) in &self.workers {
            page.sample(&["worker"], std::slice::from_ref(worker), u64::from(*runs));
        }
        page.metric(
            "callgate_worker_ends_total",
            "counter",
            "How often a worker has ended by itself.",
        );
        for (worker, _, ends) in &self.workers {
            page.sample(&["worker"], std::slice::from_ref(worker), u64::from(*ends));
        }
        page.metric("callgate_clients", "gauge", "Clients that are connected.");
        page.number(self.clients as u64);
        page.metric("callgate_sockets", "gauge", "Sockets of connected clients.");
        page.number(self.sockets as u64);
    }
}

fn from(surface: Surface) -> &'static str {
    match surface {
        Surface::Code => "code",
        Surface::ToolCall => "tools",
        Surface::Remote => "remote",
        Surface::Plugin => "plugin",
    }
}

fn add(counts: &mut BTreeMap<String, u64>, stop: &str) {
    *counts.entry(stop.to_owned()).or_default() += 1;
}

fn add_time(times: &mut BTreeMap<Labels, Times>, labels: Labels, elapsed: Duration) {
    times
        .entry(bounded(times, labels))
        .or_default()
        .add(elapsed);
}

/// The labels themselves while there are few.
fn bounded<T>(known: &BTreeMap<Labels, T>, labels: Labels) -> Labels {
    if known.len() < LABELS || known.contains_key(&labels) {
        labels
    } else {
        labels.iter().map(|_| "other".to_owned()).collect()
    }
}

/// What it hears, it counts; it changes nothing.
impl Listener for Metrics {
    fn points(&self) -> Points {
        Points::AFTER_MODEL | Points::AFTER_TURN
    }

    fn after_model<'a>(
        &'a self,
        turn: &'a TurnFacts,
        reply: &'a mut ModelReply,
    ) -> BoxFuture<'a, ()> {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        if let Some(usage) = &reply.usage {
            let model = reply.model.as_ref().unwrap_or(&turn.model);
            let mut counts = self.counts();
            for (kind, count) in [
                ("input", usage.input),
                ("cached", usage.cached),
                ("output", usage.output),
            ] {
                let labels = bounded(&counts.tokens, vec![model.clone(), kind.to_owned()]);
                *counts.tokens.entry(labels).or_default() += count;
            }
            if let Some(money) = usage.money {
                *counts.money.entry(model.clone()).or_default() += money;
            }
        }
        Box::pin(async {})
    }

    fn after_turn<'a>(&'a self, turn: &'a TurnFacts) -> BoxFuture<'a, ()> {
        Box::pin(async {
            let ended = self.store.turns().get(turn.turn).await;
            let stop = ended.ok().and_then(|turn| turn.finish).map(|end| end.stop);
            if let Some(stop) = json!(stop).as_str() {
                add(&mut self.counts().turns, stop);
            }
        })
    }
}

/// A sandbox whose runs are counted.
pub struct CountedSandbox {
    sandbox: Arc<dyn Sandbox>,
    metrics: Arc<Metrics>,
}

impl CountedSandbox {
    pub fn new(sandbox: Arc<dyn Sandbox>, metrics: Arc<Metrics>) -> Self {
        CountedSandbox { sandbox, metrics }
    }
}

impl Sandbox for CountedSandbox {
    fn run(&self, spec: RunSpec, host: HostCall) -> BoxFuture<'_, Result<Report, SandboxError>> {
        Box::pin(async {
            let report = self.sandbox.run(spec, host).await;
            let stop = match &report {
                Ok(report) => report.stop.to_string(),
                Err(_) => "failed".to_owned(),
            };
            add(&mut self.metrics.counts().runs, &stop);
            report
        })
    }
}
