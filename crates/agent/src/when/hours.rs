//! [`HourRange`]: a part of the day as people write it, `23:00-07:30`.

use std::{fmt, str::FromStr};

use jiff::civil::Time;
use serde::{Deserialize, Serialize};

/// From one time of day until another, over midnight where the second is the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HourRange {
    from: Time,
    to: Time,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no part of a day: write it as 23:00-07:30")]
pub struct InvalidHours(String);

impl HourRange {
    pub(crate) fn contains(self, time: Time) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&time)
        } else {
            time >= self.from || time < self.to
        }
    }
}

impl FromStr for HourRange {
    type Err = InvalidHours;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let times = text.split_once('-');
        let times = times.and_then(|(from, to)| Some((time(from)?, time(to)?)));
        let (from, to) = times.ok_or_else(|| InvalidHours(text.to_owned()))?;
        Ok(HourRange { from, to })
    }
}

/// `7:30`, `07:30`; `24:00` is midnight.
fn time(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    if minute.len() != 2 {
        return None;
    }
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = if (hour, minute) == (24, 0) { 0 } else { hour };
    Time::new(hour, minute, 0, 0).ok()
}

impl fmt::Display for HourRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HourRange { from, to } = self;
        write!(f, "{}-{}", from.strftime("%H:%M"), to.strftime("%H:%M"))
    }
}

impl TryFrom<String> for HourRange {
    type Error = InvalidHours;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<HourRange> for String {
    fn from(range: HourRange) -> Self {
        range.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_go_over_midnight() {
        for (range, inside, outside) in [
            (
                "23:00-07:30",
                ["23:00", "00:00", "07:29"],
                ["07:30", "22:59"],
            ),
            (
                "9:00-17:00",
                ["09:00", "12:00", "16:59"],
                ["17:00", "08:59"],
            ),
            (
                "22:00-24:00",
                ["22:00", "23:00", "23:59"],
                ["00:00", "21:59"],
            ),
        ] {
            let range: HourRange = range.parse().unwrap();
            assert!(inside.iter().all(|at| range.contains(time(at).unwrap())));
            assert!(!outside.iter().any(|at| range.contains(time(at).unwrap())));
        }
        assert_eq!(
            "7:05-8:00".parse::<HourRange>().unwrap().to_string(),
            "07:05-08:00"
        );
        for text in ["", "23:00", "23-7", "25:00-07:00", "1:5-2:00", "a-b"] {
            assert!(text.parse::<HourRange>().is_err(), "{text}");
        }
    }
}
