//! What the product is busy with, and how it was in the last hours and days.

use std::collections::BTreeMap;

use axum::{Json as Body, extract::State};
use callgate_contract::Stop;
use callgate_store::{ApprovalState, CostBy, CostSum, RunCounts, TurnCounts};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Api, Outcome,
    input::Params,
    problem::Problem,
    route::{Routes, Verb},
};
use callgate_service::operations::{Checks, Pool, Process};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/overview",
            "How everything is and was",
            overview,
        )
        .query::<Span>()
        .gives::<Overview>();
    routes
        .add(
            Verb::Get,
            "/api/doctor",
            "Whether this machine is sound; takes a moment",
            doctor,
        )
        .gives::<Checks>();
}

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

#[derive(Debug, Deserialize, JsonSchema)]
struct Span {
    /// Hours that are told apart, 48 where none are named.
    hours: Option<u16>,
    /// Days that are, 30.
    days: Option<u16>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Overview {
    version: &'static str,
    #[schemars(with = "String")]
    started_at: Timestamp,
    uptime_seconds: u64,
    /// `sqlite` or `postgres`.
    database: String,
    counts: Counts,
    /// The last 24 hours together.
    today: Sums,
    /// The oldest first, without gaps.
    hours: Vec<Stretch>,
    days: Vec<Stretch>,
    sandbox: Pool,
    memory: Vec<Process>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Counts {
    sessions: usize,
    plugins: usize,
    plugins_failed: usize,
    methods: usize,
    models: usize,
    /// That wait for an answer.
    approvals: usize,
    /// Connected ones.
    clients: usize,
    timers: usize,
}

#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
struct Sums {
    turns: u64,
    /// Turns that ended as one.
    errors: u64,
    /// Of methods.
    calls: u64,
    requests: u64,
    tokens_in: u64,
    tokens_out: u64,
    /// In millionths of the currency of prices, of the requests whose price is known.
    money: u64,
    /// Requests whose price is not.
    unpriced: u64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Stretch {
    /// When it began.
    #[schemars(with = "String")]
    at: Timestamp,
    #[serde(flatten)]
    sums: Sums,
    /// Runs of code that have ended, by how.
    runs: Vec<Stopped>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
struct Stopped {
    stop: Stop,
    runs: u64,
}

async fn overview(State(api): State<Api>, Params(span): Params<Span>) -> Outcome<Overview> {
    let machine = api.service().machine().await;
    let hours = span.hours.unwrap_or(48).clamp(24, 24 * 14);
    let days = span.days.unwrap_or(30).clamp(1, 366);
    let hours = stretches(&api, CostBy::Hour, HOUR, hours.into()).await?;
    let days = stretches(&api, CostBy::Day, DAY, days.into()).await?;
    let today = hours.iter().rev().take(24);
    let store = api.store();
    let pending = store.approvals().list(Some(ApprovalState::Pending)).await?;
    let now = Timestamp::now();
    Ok(Body(Overview {
        version: env!("CARGO_PKG_VERSION"),
        uptime_seconds: now
            .duration_since(machine.started_at)
            .as_secs()
            .unsigned_abs(),
        started_at: machine.started_at,
        database: machine.database,
        counts: Counts {
            sessions: store.sessions().list().await?.len(),
            plugins: machine.plugins,
            plugins_failed: machine.plugins_failed,
            methods: api.gate().count(),
            models: machine.models,
            approvals: pending.len(),
            clients: api.remote().roster().clients().len(),
            timers: store.timers().all().await?.len(),
        },
        today: today.fold(Sums::default(), |all, one| all.plus(one.sums)),
        hours,
        days,
        sandbox: machine.sandbox,
        memory: machine.memory,
    }))
}

async fn stretches(
    api: &Api,
    by: CostBy,
    length: i64,
    count: i64,
) -> Result<Vec<Stretch>, Problem> {
    let last = Timestamp::now().as_millisecond() / length;
    let first = last - count + 1;
    let begin = |stretch: i64| Timestamp::from_millisecond(stretch * length).unwrap_or_default();
    let turns = api.store().turns().counted(begin(first), length).await?;
    let turns: BTreeMap<i64, TurnCounts> = turns.into_iter().map(|it| (it.stretch, it)).collect();
    let mut runs: BTreeMap<i64, Vec<Stopped>> = BTreeMap::new();
    let stopped = api.store().journal().stopped(begin(first), length).await?;
    for RunCounts {
        stretch,
        stop,
        runs: count,
    } in stopped
    {
        let all = runs.entry(stretch).or_default();
        all.push(Stopped { stop, runs: count });
    }
    let costs = api.store().costs().sum(by, begin(first)).await?;
    let costs = costs
        .into_iter()
        .filter_map(|row| Some((row.key?, row.sum)));
    let costs: BTreeMap<String, CostSum> = costs.collect();
    let one = |stretch: i64| {
        let at = begin(stretch);
        let spent = costs.get(&key(by, at)).copied().unwrap_or_default();
        let counted = turns.get(&stretch).copied().unwrap_or_default();
        Stretch {
            at,
            sums: Sums::of(counted, spent),
            runs: runs.get(&stretch).cloned().unwrap_or_default(),
        }
    };
    Ok((first..=last).map(one).collect())
}

/// As costs name an hour or a day.
fn key(by: CostBy, at: Timestamp) -> String {
    let form = match by {
        CostBy::Hour => "%Y-%m-%dT%H:00Z",
        _ => "%Y-%m-%d",
    };
    at.to_zoned(jiff::tz::TimeZone::UTC)
        .strftime(form)
        .to_string()
}

impl Sums {
    fn of(turns: TurnCounts, cost: CostSum) -> Self {
        Sums {
            turns: turns.turns,
            errors: turns.errors,
            calls: turns.calls,
            requests: cost.requests,
            tokens_in: cost.tokens_in,
            tokens_out: cost.tokens_out,
            money: cost.money,
            unpriced: cost.unpriced,
        }
    }

    fn plus(self, other: Sums) -> Self {
        Sums {
            turns: self.turns + other.turns,
            errors: self.errors + other.errors,
            calls: self.calls + other.calls,
            requests: self.requests + other.requests,
            tokens_in: self.tokens_in + other.tokens_in,
            tokens_out: self.tokens_out + other.tokens_out,
            money: self.money + other.money,
            unpriced: self.unpriced + other.unpriced,
        }
    }
}

async fn doctor(State(api): State<Api>) -> Outcome<Checks> {
    Ok(Body(api.service().examined().await))
}
