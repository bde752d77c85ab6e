//! What models have cost, as every surface shows it.

use callgate_store::{CostBy, CostLine, CostSum, Store, StoreError};
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

impl CostReport {
    pub async fn of(store: &Store, by: CostBy, since: Timestamp) -> Result<Self, StoreError> {
        let rows = store.costs().sum(by, since).await?;
        let all = |total: CostSum, row: &CostLine| total.plus(row.sum);
        Ok(CostReport {
            by,
            since,
            total: rows.iter().fold(CostSum::default(), all),
            rows,
        })
    }
}

/// What a sum comes to in units of the currency; the least where a price is not known.
pub fn money(sum: &CostSum) -> String {
    match (sum.money, sum.unpriced) {
        (0, unpriced) if unpriced > 0 => "unknown".to_owned(),
        (money, 0) => crate::amount(money),
        (money, _) => format!("at least {}", crate::amount(money)),
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
            super::money(&CostSum {
                money,
                unpriced,
                ..CostSum::default()
            })
        };
        assert_eq!(sum(0, 0), "0.00");
        assert_eq!(sum(0, 2), "unknown");
        assert_eq!(sum(1_500_000, 0), "1.50");
        assert_eq!(sum(1_500_000, 2), "at least 1.50");
    }
}
