//! [`Repeat`]: at which times something happens that happens again. It reads no clock.

use std::{fmt, str::FromStr};

use jiff::{SignedDuration, Timestamp, ToSpan, civil::Time, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Written `daily 08:00` or `every 30 minutes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Repeat {
    Daily(Time),
    /// Minutes, at least one.
    Every(u32),
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no repetition: write daily 08:00 or every 30 minutes")]
pub struct InvalidRepeat(String);

impl Repeat {
    /// The first time after `now`, where one time was `due`.
    pub fn next(self, due: Timestamp, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Repeat::Every(_) if due > now => Some(due),
            Repeat::Every(minutes) => {
                let latest = self.latest(due, now, zone);
                latest.checked_add(minutes_of(minutes)).ok()
            }
            Repeat::Daily(time) => {
                let today = zone.to_datetime(now).date();
                let mut days = (-1..=2).filter_map(|days: i64| {
                    let date = today.checked_add(days.days()).ok()?;
                    let moment = zone.to_ambiguous_timestamp(date.to_datetime(time));
                    moment.compatible().ok()
                });
                days.find(|moment| *moment > now)
            }
        }
    }

    /// The last time up to `now`, from `due` on.
    pub fn latest(self, due: Timestamp, now: Timestamp, zone: &TimeZone) -> Timestamp {
        match self {
            Repeat::Every(minutes) => {
                let step = minutes_of(minutes).as_millis().max(1);
                let passed = now.duration_since(due).as_millis().max(0);
                let whole = i64::try_from(passed / step * step).unwrap_or_default();
                let latest = due.checked_add(SignedDuration::from_millis(whole));
                latest.unwrap_or(due)
            }
            Repeat::Daily(_) => {
                let a_day = SignedDuration::from_hours(26);
                let earlier = now.checked_sub(a_day).unwrap_or(now).max(due);
                let mut latest = due;
                let mut next = self.next(due, earlier, zone);
                while let Some(moment) = next.filter(|moment| *moment <= now) {
                    latest = latest.max(moment);
                    next = self.next(due, moment, zone);
                }
                latest
            }
        }
    }
}

fn minutes_of(minutes: u32) -> SignedDuration {
    SignedDuration::from_mins(minutes.into())
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repeat::Daily(time) => write!(f, "daily {}", time.strftime("%H:%M")),
            Repeat::Every(1) => f.write_str("every 1 minute"),
            Repeat::Every(minutes) => write!(f, "every {minutes} minutes"),
        }
    }
}

impl FromStr for Repeat {
    type Err = InvalidRepeat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let repeat = match words[..] {
            ["daily", time] => Time::strptime("%H:%M", time).ok().map(Repeat::Daily),
            ["every", minutes, "minute" | "minutes"] => {
                let minutes = minutes.parse().ok().filter(|minutes| *minutes > 0);
                minutes.map(Repeat::Every)
            }
            _ => None,
        };
        repeat.ok_or_else(|| InvalidRepeat(text.to_owned()))
    }
}

impl TryFrom<String> for Repeat {
    type Error = InvalidRepeat;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Repeat> for String {
    fn from(repeat: Repeat) -> Self {
        repeat.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn each_day_has_its_morning_whatever_the_clocks_do() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let daily: Repeat = "daily 08:00".parse().unwrap();
        let due = at("2026-03-27T07:00:00Z");
        for (now, latest, next) in [
            ("2026-03-27T07:00:00Z", due, "2026-03-28T07:00:00Z"),
            // The clocks go forward.
            (
                "2026-03-29T05:59:59Z",
                at("2026-03-28T07:00:00Z"),
                "2026-03-29T06:00:00Z",
            ),
            (
                "2026-03-29T06:00:00Z",
                at("2026-03-29T06:00:00Z"),
                "2026-03-30T06:00:00Z",
            ),
            (
                "2026-05-01T23:30:00Z",
                at("2026-05-01T06:00:00Z"),
                "2026-05-02T06:00:00Z",
            ),
        ] {
            assert_eq!(daily.latest(due, at(now), &zone), latest, "{now}");
            assert_eq!(daily.next(due, at(now), &zone), Some(at(next)), "{now}");
        }
    }

    #[test]
    fn minutes_are_counted_from_the_first_time() {
        let every: Repeat = "every 30 minutes".parse().unwrap();
        let due = at("2026-01-01T00:10:00Z");
        for (now, latest, next) in [
            ("2026-01-01T00:10:00Z", "00:10", "00:40"),
            ("2026-01-01T00:39:59Z", "00:10", "00:40"),
            ("2026-01-01T03:11:00Z", "03:10", "03:40"),
        ] {
            let zone = TimeZone::UTC;
            let full = |time| Some(at(&format!("2026-01-01T{time}:00Z")));
            assert_eq!(Some(every.latest(due, at(now), &zone)), full(latest));
            assert_eq!(every.next(due, at(now), &zone), full(next));
        }
        for text in ["", "daily", "daily 25:00", "every 0 minutes", "every day"] {
            assert!(text.parse::<Repeat>().is_err(), "{text}");
        }
    }
}
