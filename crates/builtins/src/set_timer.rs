//! `set_timer`: a text that arrives in the session at its time.

use callgate_contract::{Change, Effect, Kind, MethodError, Reply};
use callgate_gate::{Call, Function};
use callgate_store::{MAX_TIMER_TEXT, MAX_TIMERS, Store};
use jiff::{SignedDuration, Timestamp, civil, tz::TimeZone};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::moment::written;

/// Who plans further ahead wants a calendar.
const FURTHEST: SignedDuration = SignedDuration::from_hours(366 * 24);

#[derive(Deserialize, JsonSchema)]
struct SetTimer {
    /// What you will be told then, in full sentences: it will be read without this conversation.
    text: String,
    /// How many minutes from now, such as 1.5. Give this or at, not both.
    minutes: Option<f64>,
    /// When, with its offset from UTC: "2030-05-06T07:30:00+02:00", or a datetime such as now()
    /// gives.
    at: Option<String>,
}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| set_timer(store.clone(), call, arguments);
    callgate_gate::method("set_timer", Kind::Behavior, handler)
        .doc(
            "Be woken at a later time, to remind somebody or to look again: the text comes back \
             to you in this chat, as a message, once, up to a year from now.",
        )
        .returns(
            "str",
            "A sentence that says when it will be and the timer's id.",
        )
        .example("set_timer(\"Remind Ada to take the cake out of the oven.\", minutes=40)")
        .effect(Effect::Rows)
}

async fn set_timer(store: Store, call: Call, arguments: SetTimer) -> Result<Reply, MethodError> {
    let SetTimer { text, minutes, at } = arguments;
    check(&text)?;
    let zone = TimeZone::system();
    let due = due(Timestamp::now(), &zone, minutes, at.as_deref())?;
    let session = call.caller.session;
    let waiting = store
        .timers()
        .list(&session)
        .await
        .map_err(MethodError::from)?;
    if waiting.len() >= MAX_TIMERS {
        return Err(MethodError::new(format!(
            "{MAX_TIMERS} timers are waiting in this chat already: cancel_timer() some first"
        )));
    }
    let id = Uuid::now_v7();
    let said = format!("Timer {id} set for {}: {text}", written(due, zone));
    Ok(Reply {
        value: said.into(),
        changes: vec![Change::SetTimer {
            id,
            session,
            principal: call.caller.principal,
            role: call.caller.role,
            due_at: due.as_millisecond(),
            text,
        }],
    })
}

fn check(text: &str) -> Result<(), MethodError> {
    if text.trim().is_empty() {
        return Err(MethodError::new(
            "the text is blank: it is all you will be told",
        ));
    }
    match text.len() {
        ..=MAX_TIMER_TEXT => Ok(()),
        length => Err(MethodError::new(format!(
            "a timer's text holds at most {MAX_TIMER_TEXT} bytes, not {length}"
        ))),
    }
}

fn due(
    now: Timestamp,
    zone: &TimeZone,
    minutes: Option<f64>,
    at: Option<&str>,
) -> Result<Timestamp, MethodError> {
    let due = match (minutes, at) {
        (Some(minutes), None) => after(now, minutes)?,
        (None, Some(at)) => moment(at)?,
        _ => return Err(MethodError::new("give either minutes or at, and not both")),
    };
    if due <= now {
        return Err(MethodError::new(format!(
            "{} is past: it is {} now",
            written(due, zone.clone()),
            written(now, zone.clone())
        )));
    }
    if now.duration_until(due) <= FURTHEST {
        Ok(due)
    } else {
        Err(too_far())
    }
}

fn after(now: Timestamp, minutes: f64) -> Result<Timestamp, MethodError> {
    if minutes.is_nan() || minutes <= 0.0 {
        return Err(MethodError::new(format!(
            "minutes must be more than 0, not {minutes}"
        )));
    }
    let delay = SignedDuration::try_from_secs_f64(minutes * 60.0).map_err(|_| too_far())?;
    now.checked_add(delay).map_err(|_| too_far())
}

fn moment(text: &str) -> Result<Timestamp, MethodError> {
    text.parse().map_err(|_| {
        // The server's zone, the sandbox's and the user's may differ: none is guessed.
        let lacks = match text.parse::<civil::DateTime>() {
            Ok(_) => "does not say in which zone it is",
            Err(_) => "is no time",
        };
        MethodError::new(format!(
            "'{text}' {lacks}: write it as 2030-05-06T07:30:00+02:00, with its offset from UTC"
        ))
    })
}

fn too_far() -> MethodError {
    MethodError::new("a timer can be set for at most 366 days from now")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2030-05-06T12:00:00Z";

    fn at(minutes: Option<f64>, at: Option<&str>) -> Result<String, String> {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        due(NOW.parse().unwrap(), &zone, minutes, at)
            .map(|due| due.to_string())
            .map_err(|error| error.message)
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, expect) in [
            ("2030-05-06T12:00:01Z", "2030-05-06T12:00:01Z"),
            ("2030-05-06T20:30:00+08:00", "2030-05-06T12:30:00Z"),
            ("2030-05-06 15:00+02:00", "2030-05-06T13:00:00Z"),
            ("2030-05-06T15:00:00.5+02", "2030-05-06T13:00:00.5Z"),
            (
                "2030-05-07T08:00:00+08:00[Asia/Shanghai]",
                "2030-05-07T00:00:00Z",
            ),
            ("2031-05-07T12:00:00Z", "2031-05-07T12:00:00Z"),
        ] {
            assert_eq!(at(None, Some(text)).as_deref(), Ok(expect), "{text}");
        }
        for (minutes, expect) in [
            (0.5, "2030-05-06T12:00:30Z"),
            (90.0, "2030-05-06T13:30:00Z"),
        ] {
            assert_eq!(at(Some(minutes), None).as_deref(), Ok(expect));
        }
    }

    #[test]
    fn times_that_make_no_sense_are_refused() {
        for (minutes, text, expect) in [
            (None, None, "either minutes or at"),
            (Some(1.0), Some(NOW), "either minutes or at"),
            (Some(0.0), None, "more than 0"),
            (Some(-5.0), None, "more than 0"),
            (Some(f64::NAN), None, "more than 0"),
            (Some(f64::INFINITY), None, "at most 366 days"),
            (Some(1e300), None, "at most 366 days"),
            (Some(366.0 * 24.0 * 60.0 + 1.0), None, "at most 366 days"),
            (None, Some(NOW), "is past"),
            (
                None,
                Some("2030-05-06 11:59Z"),
                "2030-05-06T13:59:00.000000+02:00 is past: it is 2030-05-06T14:00:00.000000+02:00",
            ),
            (None, Some("9999-01-01T00:00:00Z"), "at most 366 days"),
            (
                None,
                Some("2030-05-06T15:00:00"),
                "does not say in which zone",
            ),
            (None, Some("2030-05-07"), "does not say in which zone"),
            (None, Some("tomorrow"), "'tomorrow' is no time"),
            (None, Some(""), "is no time"),
            (None, Some("2030-02-30T00:00:00Z"), "is no time"),
        ] {
            let refusal = at(minutes, text).unwrap_err();
            assert!(refusal.contains(expect), "{refusal}");
        }
    }
}
