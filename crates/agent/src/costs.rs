//! What models have cost, as every surface shows it.

use callgate_store::{Cost, Grouping, Store, StoreError};
use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CostReport {
    pub by: CostBy,
    #[schemars(with = "String")]
    pub since: Timestamp,
    pub total: CostSum,
    /// Hours and days in their order, all else the dearest first.
    pub rows: Vec<CostLine>,
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CostLine {
    /// A date, an hour (UTC), a name or an id; none for what no plugin or method asked for.
    pub key: Option<String>,
    #[serde(flatten)]
    pub sum: CostSum,
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

impl CostReport {
    pub async fn of(store: &Store, by: CostBy, since: Timestamp) -> Result<Self, StoreError> {
        let rows = store.costs().sum(by.into(), since).await?;
        let total = rows
            .iter()
            .fold(Cost::default(), |total, row| total.plus(row.cost));
        let line = |row: callgate_store::CostRow| CostLine {
            key: row.key,
            sum: row.cost.into(),
        };
        Ok(CostReport {
            by,
            since,
            total: total.into(),
            rows: rows.into_iter().map(line).collect(),
        })
    }
}

impl CostSum {
    /// In units of the currency, and as the least where a price is not known.
    pub fn money(&self) -> String {
        match (self.money, self.unpriced) {
            (0, unpriced) if unpriced > 0 => "unknown".to_owned(),
            (money, 0) => crate::amount(money),
            (money, _) => format!("at least {}", crate::amount(money)),
        }
    }
}

impl From<Cost> for CostSum {
    fn from(cost: Cost) -> Self {
        CostSum {
            requests: cost.requests,
            tokens_in: cost.tokens_in,
            cached: cost.cached,
            written: cost.written,
            tokens_out: cost.tokens_out,
            money: cost.money,
            unpriced: cost.unpriced,
        }
    }
}

impl From<CostBy> for Grouping {
    fn from(by: CostBy) -> Self {
        match by {
            CostBy::Day => Grouping::Day,
            CostBy::Hour => Grouping::Hour,
            CostBy::User => Grouping::User,
            CostBy::Session => Grouping::Session,
            CostBy::Plugin => Grouping::Plugin,
            CostBy::Method => Grouping::Method,
            CostBy::Model => Grouping::Model,
            CostBy::Turn => Grouping::Turn,
        }
    }
}

/// A past moment as people write it: `7d`, `24h`, `30m`, `2w` before `now`, a date, or a time.
pub fn since(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let text = text.trim();
    let refused = || {
        format!(
            "'{text}' is no time: write 7d, 24h, 30m or 2w, a date such as 2026-01-31, or a time"
        )
    };
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    if let Ok(date) = text.parse::<Date>() {
        let midnight = date.to_zoned(TimeZone::UTC).map_err(|_| refused())?;
        return Ok(midnight.timestamp());
    }
    let (count, hours) = match text.char_indices().last() {
        Some((at, 'w')) => (text.get(..at), 7 * 24 * 60),
        Some((at, 'd')) => (text.get(..at), 24 * 60),
        Some((at, 'h')) => (text.get(..at), 60),
        Some((at, 'm')) => (text.get(..at), 1),
        _ => (None, 0),
    };
    let count: Option<u32> = count.and_then(|count| count.parse().ok());
    let minutes = count.map(|count| i64::from(count) * hours);
    let ago = minutes.ok_or_else(refused).map(SignedDuration::from_mins)?;
    now.checked_sub(ago).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("7d", "2026-02-22T12:00:00Z"),
            ("24h", "2026-02-28T12:00:00Z"),
            ("30m", "2026-03-01T11:30:00Z"),
            ("2w", "2026-02-15T12:00:00Z"),
            ("2026-01-31", "2026-01-31T00:00:00Z"),
            ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"),
        ] {
            assert_eq!(since(text, now).unwrap().to_string(), expected, "{text}");
        }
        for text in [
            "",
            "d",
            "7",
            "7y",
            "-7d",
            "yesterday",
            "99999999999d",
            "七d",
        ] {
            assert!(since(text, now).is_err(), "{text}");
        }
    }

    #[test]
    fn an_unknown_price_makes_the_least_of_a_sum() {
        let sum = |money, unpriced| {
            let sum = CostSum {
                money,
                unpriced,
                ..CostSum::default()
            };
            sum.money()
        };
        assert_eq!(sum(0, 0), "0.00");
        assert_eq!(sum(0, 2), "unknown");
        assert_eq!(sum(1_500_000, 0), "1.50");
        assert_eq!(sum(1_500_000, 2), "at least 1.50");
    }
}
