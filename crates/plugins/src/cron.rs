//! Cron expressions of five fields: minute, hour, day of month, month, weekday. Read strictly: what
//! is not understood is refused, never taken for something near it.
//!
//! By hand and not by the crate `croner`, which differs where plugins rely on what is done here: it
//! knows neither `5/20` nor `@midnight`, has a time that the clocks skip come at the end of the gap
//! (03:00 for 02:30, not 03:30), takes `*/2` for a restricted day, and reads `L`, `W` and `#`, which
//! are refused here so that callers who know them compute the moments by their own rules.

use std::path::Path;

use jiff::{Timestamp, ToSpan, civil::DateTime, tz::TimeZone};

/// How far ahead a moment is looked for: the 29th of February comes within nine years.
const YEARS: i16 = 9;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Where both are restricted, either will do, as cron has always had it.
    either_day: bool,
}

impl Cron {
    pub(crate) fn parse(text: &str) -> Result<Cron, String> {
        let expanded = match text.trim() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            other => other,
        };
        let fields: Vec<&str> = expanded.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(format!(
                "'{text}' is no cron expression: it has five fields, such as '30 8 * * 1-5'"
            ));
        };
        let weekdays = field(weekday, "weekday", 0, 7, &DAYS)?;
        let is_any = |field: &str| field.starts_with('*') || field == "?";
        Ok(Cron {
            minutes: field(minute, "minute", 0, 59, &[])?,
            hours: field(hour, "hour", 0, 23, &[])?,
            days: field(day, "day of month", 1, 31, &[])?,
            months: field(month, "month", 1, 12, &MONTHS)?,
            // 7 is Sunday as 0 is.
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            either_day: !is_any(day) && !is_any(weekday),
        })
    }

    /// The first moment after `after`; `None` if there is none in years. A time that the clocks skip
    /// comes when they have been put forward, one that they repeat comes once.
    pub(crate) fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let local = zone.to_datetime(after);
        let last = local.year() + YEARS;
        let mut moment = whole_minute(local)?.checked_add(1.minute()).ok()?;
        while moment.year() <= last {
            if self.months & bit(moment.month()) == 0 {
                let first = moment.date().first_of_month();
                moment = first.checked_add(1.month()).ok()?.at(0, 0, 0, 0);
            } else if !self.has_day(moment) {
                moment = moment.date().tomorrow().ok()?.at(0, 0, 0, 0);
            } else if self.hours & bit(moment.hour()) == 0 {
                let hour = moment.date().at(moment.hour(), 0, 0, 0);
                moment = hour.checked_add(1.hour()).ok()?;
            } else if self.minutes & bit(moment.minute()) == 0 {
                moment = moment.checked_add(1.minute()).ok()?;
            } else {
                let found = zone.to_ambiguous_timestamp(moment).compatible().ok()?;
                if found > after {
                    return Some(found);
                }
                moment = moment.checked_add(1.minute()).ok()?;
            }
        }
        None
    }

    fn has_day(&self, moment: DateTime) -> bool {
        let of_month = self.days & bit(moment.day()) != 0;
        let of_week = self.weekdays & bit(moment.weekday().to_sunday_zero_offset()) != 0;
        if self.either_day {
            of_month || of_week
        } else {
            of_month && of_week
        }
    }
}

/// Where systems keep their time zones.
const ZONES: [&str; 3] = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"];

/// The zone of that name; without one, the machine's.
pub(crate) fn zone(name: Option<&str>) -> Result<TimeZone, String> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Ok(TimeZone::system());
    };
    if matches!(name, "UTC" | "Etc/UTC" | "Z") {
        return Ok(TimeZone::UTC);
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_+-".contains(c);
    // A name, never a path to anywhere else.
    let is_name = name
        .split('/')
        .all(|piece| !piece.is_empty() && piece.chars().all(is_plain));
    let found = ZONES
        .iter()
        .filter(|_| is_name)
        .filter_map(|folder| std::fs::read(Path::new(folder).join(name)).ok())
        .find_map(|bytes| TimeZone::tzif(name, &bytes).ok());
    found.ok_or_else(|| {
        if Path::new(ZONES[0]).is_dir() {
            format!("'{name}' is no time zone: use a name such as 'Asia/Shanghai'")
        } else {
            format!("'{name}' is not known here: install the system's package tzdata")
        }
    })
}

fn whole_minute(moment: DateTime) -> Option<DateTime> {
    moment.with().second(0).subsec_nanosecond(0).build().ok()
}

fn bit(value: i8) -> u64 {
    1 << value
}

/// The values of one field, as bits.
fn field(text: &str, what: &str, low: u8, high: u8, names: &[&str]) -> Result<u64, String> {
    let refused = |part: &str| format!("'{part}' is no {what}: from {low} to {high}");
    let mut values = 0;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, step.parse().ok().filter(|step| *step > 0)),
            None => (part, Some(1)),
        };
        let step: usize = step.ok_or_else(|| refused(part))?;
        let number = |text: &str| {
            let lower = text.to_lowercase();
            let named = names.iter().position(|name| *name == lower);
            let number = match named.and_then(|place| u8::try_from(place).ok()) {
                Some(place) => Some(place + low.min(1)),
                None => text.parse().ok(),
            };
            number
                .filter(|number| (low..=high).contains(number))
                .ok_or_else(|| refused(part))
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" || range == "?" => (low, high),
            Some((first, last)) => (number(first)?, number(last)?),
            None if part.contains('/') => (number(range)?, high),
            None => (number(range)?, number(range)?),
        };
        if first > last {
            return Err(refused(part));
        }
        for value in (first..=last).step_by(step) {
            values |= 1 << value;
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, zone: &str, after: &str, expected: &[&str]) {
        let cron = Cron::parse(expression).unwrap();
        let zone = super::zone(Some(zone)).unwrap();
        let mut moment: Timestamp = after.parse().unwrap();
        for expected in expected {
            moment = cron.next(moment, &zone).unwrap();
            assert_eq!(moment, expected.parse().unwrap(), "{expression}");
        }
    }

    #[test]
    fn moments_follow_the_expression() {
        let noon = "2026-03-01T12:00:30Z"; // A Sunday.
        check(
            "*/20 * * * *",
            "UTC",
            noon,
            &["2026-03-01T12:20Z", "2026-03-01T12:40Z"],
        );
        check(
            "30 8 * * 1-5",
            "UTC",
            noon,
            &["2026-03-02T08:30Z", "2026-03-03T08:30Z"],
        );
        check("0 0 * * sun", "UTC", noon, &["2026-03-08T00:00Z"]);
        check("0 0 * * 7", "UTC", noon, &["2026-03-08T00:00Z"]);
        check("5 4 29 feb *", "UTC", noon, &["2028-02-29T04:05Z"]);
        // Day of month or weekday, where both are given.
        check(
            "0 0 13 * 5",
            "UTC",
            noon,
            &["2026-03-06T00:00Z", "2026-03-13T00:00Z"],
        );
        check(
            "0 0 1,15 * *",
            "UTC",
            noon,
            &["2026-03-15T00:00Z", "2026-04-01T00:00Z"],
        );
        check("@daily", "UTC", noon, &["2026-03-02T00:00Z"]);
        check(
            "10-30/10 6 * * ?",
            "UTC",
            noon,
            &["2026-03-02T06:10Z", "2026-03-02T06:20Z"],
        );
    }

    #[test]
    fn a_zone_has_its_own_mornings_and_its_own_gaps() {
        let zone = "Asia/Shanghai";
        check(
            "0 8 * * *",
            zone,
            "2026-03-01T12:00:00Z",
            &["2026-03-02T00:00Z"],
        );
        // In Berlin the clocks go from 02:00 to 03:00 on the 29th of March, and back in October.
        let zone = "Europe/Berlin";
        let (spring, autumn) = ("2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z");
        check(
            "30 2 * * *",
            zone,
            spring,
            &["2026-03-29T01:30Z", "2026-03-30T00:30Z"],
        );
        check(
            "30 2 * * *",
            zone,
            autumn,
            &["2026-10-25T00:30Z", "2026-10-26T01:30Z"],
        );
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for bad in [
            "",
            "* * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
        ] {
            assert!(Cron::parse(bad).is_err(), "{bad}");
        }
        for bad in [
            "* * * * 8",
            "5-1 * * * *",
            "*/0 * * * *",
            "a * * * *",
            "* * L * *",
        ] {
            assert!(Cron::parse(bad).is_err(), "{bad}");
        }
        for bad in [
            "Mars/Olympus",
            "../localtime",
            "Asia/../UTC",
            "/etc/passwd",
            "Asia/",
        ] {
            assert!(zone(Some(bad)).is_err(), "{bad}");
        }
        let never = Cron::parse("0 0 31 2 *").unwrap();
        assert_eq!(never.next(Timestamp::UNIX_EPOCH, &TimeZone::UTC), None);
    }
}
