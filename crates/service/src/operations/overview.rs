//! What the product is busy with, and how it was in the last hours and days.

use std::collections::{BTreeMap, HashMap};

use callgate_contract::Stop;
use callgate_store::{ApprovalState, CostBy, CostSum, TurnCounts};
use jiff::{Timestamp, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PluginState;
use crate::{
    Capability, Operation, Requester, Service, ServiceError,
    processes::{ProcessMemory, memory_by_process},
};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetOverview {
    /// Hours that are told apart, 48 where none are named.
    pub hours: Option<u16>,
    /// Days that are, 30.
    pub days: Option<u16>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    pub version: String,
    #[schemars(with = "String")]
    pub started_at: Timestamp,
    pub uptime_seconds: u64,
    /// `sqlite` or `postgres`.
    pub database: String,
    pub counts: OverviewCounts,
    /// The last 24 hours together.
    pub today: ActivityTotals,
    /// The oldest first, without gaps.
    pub hours: Vec<ActivityPeriod>,
    pub days: Vec<ActivityPeriod>,
    pub sandbox: SandboxPool,
    pub memory: Vec<ProcessMemory>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OverviewCounts {
    pub sessions: usize,
    pub plugins: usize,
    pub plugins_failed: usize,
    pub methods: usize,
    pub models: usize,
    /// That wait for an answer.
    pub approvals: usize,
    /// Connected ones.
    pub clients: usize,
    pub timers: usize,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ActivityTotals {
    pub turns: u64,
    /// Turns that ended as one.
    pub errors: u64,
    /// Of methods.
    pub calls: u64,
    pub requests: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// In millionths of the currency of prices, of the requests whose price is known.
    pub money: u64,
    /// Requests whose price is not.
    pub unpriced: u64,
}

/// An hour or a day.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ActivityPeriod {
    /// When it began.
    #[schemars(with = "String")]
    pub at: Timestamp,
    #[serde(flatten)]
    pub totals: ActivityTotals,
    /// Runs of code that have ended, by how.
    pub runs: Vec<RunsByStop>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunsByStop {
    pub stop: Stop,
    pub runs: u64,
}

/// Processes for runs of code.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SandboxPool {
    /// Warm ones that wait for a run.
    pub waiting: usize,
    /// How many are to wait.
    pub pool: usize,
    /// How many runs may compute at once.
    pub concurrent: usize,
}

impl Operation for GetOverview {
    type Response = Overview;
    const NAME: &'static str = "overview.get";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let hours = self.hours.unwrap_or(48).clamp(24, 24 * 14);
        let days = self.days.unwrap_or(30).clamp(1, 366);
        let hours = periods(service, CostBy::Hour, HOUR, hours.into()).await?;
        let days = periods(service, CostBy::Day, DAY, days.into()).await?;
        let today = hours.iter().rev().take(24);
        let config = service.config();
        let jail = config.jail(service.store().files().sessions_path(), None);
        let uptime = Timestamp::now().duration_since(service.started_at());
        Ok(Overview {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: service.started_at(),
            uptime_seconds: uptime.as_secs().unsigned_abs(),
            database: if config.database.url.is_none() {
                "sqlite".to_owned()
            } else {
                "postgres".to_owned()
            },
            counts: counts(service).await?,
            today: today.fold(ActivityTotals::default(), |all, one| all.plus(one.totals)),
            hours,
            days,
            sandbox: SandboxPool {
                waiting: service.jail().waiting(),
                pool: jail.pool,
                concurrent: jail.concurrent,
            },
            memory: memory(service).await,
        })
    }
}

async fn counts(service: &Service) -> Result<OverviewCounts, ServiceError> {
    let store = service.store();
    let pending = store.approvals().list(Some(ApprovalState::Pending)).await?;
    let plugins = service.plugin_views(None).await;
    let failed = plugins.iter().filter(|it| it.state == PluginState::Failed);
    let agent = service.running_agent();
    Ok(OverviewCounts {
        sessions: store.sessions().list().await?.len(),
        plugins_failed: failed.count(),
        plugins: plugins.len(),
        methods: service.gate().count(),
        models: agent.map_or(0, |agent| agent.models().all().len()),
        approvals: pending.len(),
        clients: service.remote().roster().clients().len(),
        timers: store.timers().all().await?.len(),
    })
}

async fn memory(service: &Service) -> Vec<ProcessMemory> {
    let workers = service.plugins().workers().into_iter();
    let workers: HashMap<u32, String> = workers
        .filter_map(|worker| Some((worker.pid()?, format!("plugins: {}", worker.name()))))
        .collect();
    let memory = tokio::task::spawn_blocking(move || memory_by_process(&workers)).await;
    memory.unwrap_or_default()
}

/// The newest `count` periods of `length` milliseconds, the oldest first.
async fn periods(
    service: &Service,
    by: CostBy,
    length: i64,
    count: i64,
) -> Result<Vec<ActivityPeriod>, ServiceError> {
    let store = service.store();
    let last = Timestamp::now().as_millisecond() / length;
    let first = last - count + 1;
    let begin = |period: i64| Timestamp::from_millisecond(period * length).unwrap_or_default();
    let turns = store.turns().counted(begin(first), length).await?;
    let turns: BTreeMap<i64, TurnCounts> = turns.into_iter().map(|it| (it.stretch, it)).collect();
    let mut runs: BTreeMap<i64, Vec<RunsByStop>> = BTreeMap::new();
    for ended in store.journal().stopped(begin(first), length).await? {
        runs.entry(ended.stretch).or_default().push(RunsByStop {
            stop: ended.stop,
            runs: ended.runs,
        });
    }
    let costs = store.costs().sum(by, begin(first)).await?.into_iter();
    let costs: BTreeMap<String, CostSum> =
        costs.filter_map(|row| Some((row.key?, row.sum))).collect();
    let period = |period: i64| {
        let at = begin(period);
        let cost = costs.get(&cost_key(by, at)).copied().unwrap_or_default();
        let turns = turns.get(&period).copied().unwrap_or_default();
        ActivityPeriod {
            at,
            totals: ActivityTotals {
                turns: turns.turns,
                errors: turns.errors,
                calls: turns.calls,
                requests: cost.requests,
                tokens_in: cost.tokens_in,
                tokens_out: cost.tokens_out,
                money: cost.money,
                unpriced: cost.unpriced,
            },
            runs: runs.get(&period).cloned().unwrap_or_default(),
        }
    };
    Ok((first..=last).map(period).collect())
}

/// As costs name an hour or a day.
fn cost_key(by: CostBy, at: Timestamp) -> String {
    let form = match by {
        CostBy::Hour => "%Y-%m-%dT%H:00Z",
        _ => "%Y-%m-%d",
    };
    at.to_zoned(TimeZone::UTC).strftime(form).to_string()
}

impl ActivityTotals {
    fn plus(self, other: ActivityTotals) -> Self {
        ActivityTotals {
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
