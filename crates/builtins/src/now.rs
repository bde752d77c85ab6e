//! `now`: the time, with its offset, in a zone of choice.

use callgate_contract::{Effect, Kind, MethodError, Value};
use callgate_gate::{Call, Function};
use jiff::{Timestamp, tz::TimeZone};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::moment::written;

#[derive(Deserialize, JsonSchema)]
struct Now {
    /// An IANA zone such as "Europe/Berlin" or "Asia/Shanghai"; the server's own zone if left out.
    zone: Option<String>,
}

pub(crate) fn method() -> Function {
    callgate_gate::method("now", Kind::Tool, now)
        .doc(
            "The current date and time. Your own idea of the date is out of date: call this \
             whenever an answer depends on it.",
        )
        .returns(
            "datetime",
            "The time with its offset from UTC, a timezone-aware datetime.",
        )
        .example("print(now(\"Asia/Tokyo\").strftime(\"%A %H:%M\"))")
        .effect(Effect::Pure)
}

async fn now(_call: Call, arguments: Now) -> Result<Value, MethodError> {
    let zone = match arguments.zone {
        None => TimeZone::system(),
        Some(name) => TimeZone::get(&name).map_err(|_| {
            MethodError::new(format!(
                "no time zone '{name}': use an IANA name such as Europe/Berlin"
            ))
        })?,
    };
    Ok(Value::DateTime(written(Timestamp::now(), zone)))
}
