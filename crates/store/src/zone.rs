//! [`Zone`]: a time zone as people write it, `Asia/Shanghai` or `+08:00`.

use std::str::FromStr;

use jiff::{
    Timestamp,
    civil::Time,
    tz::{Offset, TimeZone},
};
use serde::{Deserialize, Serialize};

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

    pub fn time_of_day(&self, at: Timestamp) -> Time {
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

impl FromStr for Zone {
    type Err = InvalidZone;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.to_owned().try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
