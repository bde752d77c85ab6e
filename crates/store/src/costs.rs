//! What models cost: a row for each request to one, and sums of these. A price that was not known is
//! counted as such, never as nothing.

use callgate_contract::{JournalId, Principal, SessionKey, Usage};
use jiff::{Timestamp, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    Journal, StoreError,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

/// Rows of a sum at most: the dearest, or the newest hours and days.
const MOST: u32 = 1_000;
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// One request to a model, and who has to answer for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// The one that answered.
    pub model: String,
    /// `None` where the provider did not say.
    pub usage: Option<Usage>,
    /// Of the method that asked; `None` for a turn's own rounds.
    pub origin: Option<String>,
    pub method: Option<String>,
}

/// A request that is no round of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expense {
    /// The turn it was made in or for, where there is one.
    pub turn: Option<JournalId>,
    pub session: SessionKey,
    pub principal: Principal,
    pub charge: Charge,
}

/// By what costs are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostBy {
    #[default]
    Day,
    Hour,
    User,
    Session,
    /// Whose method asked: a plugin, an agent, or ourselves.
    Plugin,
    Method,
    Model,
    Turn,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CostSum {
    /// To models.
    pub requests: u64,
    pub tokens_in: u64,
    /// Of `tokens_in`, read from providers' caches.
    pub cached: u64,
    /// Of `tokens_in`, written into them.
    pub written: u64,
    pub tokens_out: u64,
    /// In millionths of the currency of prices, of the requests whose price is known.
    pub money: u64,
    /// Requests whose price is not known: with any, `money` is the least that was spent.
    pub unpriced: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CostLine {
    /// A date, an hour (UTC), a name or an id; none for what no plugin or method asked for.
    pub key: Option<String>,
    #[serde(flatten)]
    pub sum: CostSum,
}

impl CostSum {
    #[must_use]
    pub fn plus(self, other: CostSum) -> CostSum {
        CostSum {
            requests: self.requests + other.requests,
            tokens_in: self.tokens_in + other.tokens_in,
            cached: self.cached + other.cached,
            written: self.written + other.written,
            tokens_out: self.tokens_out + other.tokens_out,
            money: self.money + other.money,
            unpriced: self.unpriced + other.unpriced,
        }
    }
}

pub struct Costs<'a>(pub(crate) &'a Journal);

impl Costs<'_> {
    pub async fn add(&self, expense: &Expense) -> Result<(), StoreError> {
        let expense = expense.clone();
        let database = &self.0.database;
        database.write(move |tx| insert(tx, &expense)).await
    }

    /// Since a time: hours and days in their order, all else the dearest first.
    pub async fn sum(&self, by: CostBy, since: Timestamp) -> Result<Vec<CostLine>, StoreError> {
        let (key, order) = match by {
            CostBy::Day => ("CAST(asked_at / 86400000 AS TEXT)", "MAX(asked_at) DESC"),
            CostBy::Hour => ("CAST(asked_at / 3600000 AS TEXT)", "MAX(asked_at) DESC"),
            CostBy::User => ("user_name", DEAREST),
            CostBy::Session => ("session", DEAREST),
            CostBy::Plugin => ("origin", DEAREST),
            CostBy::Method => (
                "CASE WHEN method IS NULL THEN origin ELSE origin || '/' || method END",
                DEAREST,
            ),
            CostBy::Model => ("model", DEAREST),
            CostBy::Turn => ("turn", DEAREST),
        };
        let select = format!(
            "SELECT {key} AS name, {SUMS} FROM model_request
             WHERE asked_at >= ?1 AND answered_at IS NOT NULL
             GROUP BY {key} ORDER BY {order} LIMIT {MOST}"
        );
        let line = move |row: &Row| {
            let name = match by {
                CostBy::Turn => get::<Option<Uuid>>(row, "name")?.map(|id| id.to_string()),
                _ => get(row, "name")?,
            };
            Ok(CostLine {
                key: name.map(|name| shown(by, name)),
                sum: read(row)?,
            })
        };
        let database = &self.0.database;
        let mut sums: Vec<CostLine> = database
            .read(move |tx| {
                let rows = tx.query(&select, parameters![since.as_millisecond()])?;
                rows.iter().map(line).collect::<Result<_, StoreError>>()
            })
            .await?;
        if matches!(by, CostBy::Day | CostBy::Hour) {
            sums.reverse();
        }
        Ok(sums)
    }
}

const DEAREST: &str = "COALESCE(SUM(money), 0) DESC,
    COALESCE(SUM(tokens_in + tokens_out), 0) DESC, MAX(id)";

const SUMS: &str = "COUNT(*) AS requests,
    COALESCE(CAST(SUM(tokens_in) AS BIGINT), 0) AS tokens_in,
    COALESCE(CAST(SUM(cached) AS BIGINT), 0) AS cached,
    COALESCE(CAST(SUM(written) AS BIGINT), 0) AS written,
    COALESCE(CAST(SUM(tokens_out) AS BIGINT), 0) AS tokens_out,
    COALESCE(CAST(SUM(money) AS BIGINT), 0) AS money,
    COUNT(*) - COUNT(money) AS unpriced";

/// A number of hours or days since 1970 as the time it began.
fn shown(by: CostBy, name: String) -> String {
    let (length, form) = match by {
        CostBy::Day => (DAY, "%Y-%m-%d"),
        CostBy::Hour => (HOUR, "%Y-%m-%dT%H:00Z"),
        _ => return name,
    };
    let began = name.parse::<i64>().ok();
    let began = began.and_then(|count| Timestamp::from_millisecond(count * length).ok());
    let time = began.map(|time| time.to_zoned(TimeZone::UTC).strftime(form).to_string());
    time.unwrap_or(name)
}

fn read(row: &Row) -> Result<CostSum, StoreError> {
    let count = |column: &'static str| -> Result<u64, StoreError> {
        row::read_count(column, get(row, column)?)
    };
    Ok(CostSum {
        requests: count("requests")?,
        tokens_in: count("tokens_in")?,
        cached: count("cached")?,
        written: count("written")?,
        tokens_out: count("tokens_out")?,
        money: count("money")?,
        unpriced: count("unpriced")?,
    })
}

/// What a request used, as its row holds it: nothing where the model did not say.
#[derive(Default)]
pub(crate) struct UsageColumns {
    pub(crate) tokens_in: Option<i64>,
    pub(crate) cached: Option<i64>,
    pub(crate) written: Option<i64>,
    pub(crate) tokens_out: Option<i64>,
    pub(crate) reasoning: Option<i64>,
    pub(crate) money: Option<i64>,
}

impl UsageColumns {
    pub(crate) fn of(charge: &Charge) -> Self {
        let Some(usage) = charge.usage else {
            return UsageColumns::default();
        };
        UsageColumns {
            tokens_in: Some(row::count(usage.input)),
            cached: Some(row::count(usage.cached)),
            written: Some(row::count(usage.written)),
            tokens_out: Some(row::count(usage.output)),
            reasoning: Some(row::count(usage.reasoning)),
            money: usage.money.map(row::count),
        }
    }
}

fn insert(tx: &mut dyn Tx, expense: &Expense) -> Result<(), StoreError> {
    let charge = &expense.charge;
    let usage = UsageColumns::of(charge);
    tx.execute(
        "INSERT INTO model_request (turn, session, user_name, origin, method, model, asked_at,
                                    attempts, answered_at, tokens_in, cached, written, tokens_out,
                                    reasoning, money, principal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        parameters![
            expense.turn,
            expense.session.to_string(),
            expense.principal.user().as_ref(),
            charge.origin,
            charge.method,
            charge.model,
            row::now(),
            usage.tokens_in,
            usage.cached,
            usage.written,
            usage.tokens_out,
            usage.reasoning,
            usage.money,
            expense.principal.to_string(),
        ],
    )?;
    Ok(())
}
