//! Moments as Python reads them.

use callgate_contract::Value;
use jiff::{Timestamp, tz::TimeZone};

/// As Python's `isoformat`. The offset stands for the zone, whose data the sandbox need not have.
pub(crate) fn written(moment: Timestamp, zone: TimeZone) -> String {
    let moment = moment.to_zoned(zone);
    moment.strftime("%Y-%m-%dT%H:%M:%S.%6f%:z").to_string()
}

pub(crate) fn utc(moment: Timestamp) -> Value {
    Value::DateTime(written(moment, TimeZone::UTC))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_as_python_reads_it() {
        let moment: Timestamp = "2024-05-06T07:08:09.123456789Z".parse().unwrap();
        for (zone, expect) in [
            (TimeZone::UTC, "2024-05-06T07:08:09.123456+00:00"),
            (
                TimeZone::fixed(jiff::tz::offset(-9)),
                "2024-05-05T22:08:09.123456-09:00",
            ),
        ] {
            assert_eq!(written(moment, zone), expect);
        }
    }
}
