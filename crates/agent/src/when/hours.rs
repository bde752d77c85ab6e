//! Hours of the day and time zones as people write them: `23:00-07:30`, `Asia/Shanghai`, `+08:00`.

use std::{fmt, str::FromStr};

use jiff::{
    Timestamp,
    civil::Time,
    tz::{Offset, TimeZone},
};
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

/// A name such as `Asia/Shanghai` or a distance from UTC such as `+08:00`; empty for the machine's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone(String);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no time zone: write Asia/Shanghai or +08:00")]
pub struct InvalidZone(String);

impl Zone {
    pub fn time_zone(&self) -> TimeZone {
        find(&self.0).unwrap_or_else(TimeZone::system)
    }

    pub(crate) fn time_of_day(&self, at: Timestamp) -> Time {
        at.to_zoned(self.time_zone()).time()
    }
}

fn find(text: &str) -> Option<TimeZone> {
    match text.as_bytes().first()? {
        b'+' | b'-' => Some(offset(text)?.to_time_zone()),
        _ => TimeZone::get(text).ok(),
    }
}

/// `+08:00`, and with seconds.
fn offset(text: &str) -> Option<Offset> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let fields = text.get(1..)?.split(':');
    let fields: Vec<i32> = fields
        .map(|field| field.parse().ok())
        .collect::<Option<_>>()?;
    let seconds = match fields[..] {
        [hours, minutes @ 0..60] => hours * 3_600 + minutes * 60,
        [hours, minutes @ 0..60, seconds @ 0..60] => hours * 3_600 + minutes * 60 + seconds,
        _ => return None,
    };
    Offset::from_seconds(sign * seconds).ok()
}

impl TryFrom<String> for Zone {
    type Error = InvalidZone;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.is_empty() || find(&text).is_some() {
            Ok(Zone(text))
        } else {
            Err(InvalidZone(text))
        }
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.0
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

    #[test]
    fn a_zone_is_a_name_or_a_distance() {
        let noon: Timestamp = "2026-07-01T12:00:00Z".parse().unwrap();
        for (zone, expected) in [
            ("+08:00", "20:00:00"),
            ("-03:30", "08:30:00"),
            ("+00:00:07", "12:00:07"),
            ("UTC", "12:00:00"),
        ] {
            let zone = Zone::try_from(zone.to_owned()).unwrap();
            assert_eq!(zone.time_of_day(noon).to_string(), expected);
        }
        for text in ["Nowhere/Else", "+8", "+08:61", "+99:00", "8"] {
            assert!(Zone::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
