//! `str` and `repr` of a [`Value`], as Python writes them. Points in time inside a container are
//! written as the shorter `fromisoformat` expression.

use callgate_contract::Value;

use super::quote;

/// `str(value)`: what a result looks like as text in the context.
pub fn text(value: &Value) -> String {
    match value {
        Value::Str(text) | Value::Path(text) | Value::Decimal(text) => text.clone(),
        Value::DateTime(iso) => without_zone_name(iso).replacen('T', " ", 1),
        Value::Date(iso) | Value::Time(iso) => iso.clone(),
        Value::Uuid(id) => id.to_string(),
        Value::TimeDelta {
            days,
            seconds,
            microseconds,
        } => span(*days, *seconds, *microseconds),
        other => repr(other),
    }
}

pub(crate) fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::BigInt(number) => number.to_string(),
        Value::Float(number) => float(*number),
        Value::Str(text) => quote(text),
        Value::Bytes(bytes) => quote_bytes(bytes),
        Value::List(items) => format!("[{}]", join(items)),
        Value::Tuple(items) if items.len() == 1 => format!("({},)", join(items)),
        Value::Tuple(items) => format!("({})", join(items)),
        Value::Set(items) if items.is_empty() => "set()".to_owned(),
        Value::Set(items) => format!("{{{}}}", join(items)),
        Value::FrozenSet(items) if items.is_empty() => "frozenset()".to_owned(),
        Value::FrozenSet(items) => format!("frozenset({{{}}})", join(items)),
        Value::Dict(entries) => {
            let entry = |(key, value): &(Value, Value)| format!("{}: {}", repr(key), repr(value));
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::DateTime(iso) => from_iso("datetime", without_zone_name(iso)),
        Value::Date(iso) => from_iso("date", iso),
        Value::Time(iso) => from_iso("time", iso),
        Value::TimeDelta {
            days,
            seconds,
            microseconds,
        } => {
            format!(
                "datetime.timedelta(days={days}, seconds={seconds}, microseconds={microseconds})"
            )
        }
        Value::Path(path) => format!("PosixPath({})", quote(path)),
        Value::Decimal(digits) => format!("Decimal('{digits}')"),
        Value::Uuid(id) => format!("UUID('{id}')"),
        Value::Record { class, fields } => {
            let field = |(name, value): &(String, Value)| format!("{name}={}", repr(value));
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{class}({})", fields.join(", "))
        }
        Value::Opaque { class, .. } => format!("<{class} object>"),
    }
}

fn join(items: &[Value]) -> String {
    let items: Vec<String> = items.iter().map(repr).collect();
    items.join(", ")
}

fn from_iso(class: &str, iso: &str) -> String {
    format!("datetime.{class}.fromisoformat('{iso}')")
}

fn without_zone_name(iso: &str) -> &str {
    iso.split_once('[').map_or(iso, |(plain, _)| plain)
}

/// `str(timedelta)`: `1 day, 2:03:04.000005`.
fn span(days: i32, seconds: i32, microseconds: i32) -> String {
    let clock = format!(
        "{}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    let clock = match microseconds {
        0 => clock,
        fraction => format!("{clock}.{fraction:06}"),
    };
    match days {
        0 => clock,
        1 | -1 => format!("{days} day, {clock}"),
        _ => format!("{days} days, {clock}"),
    }
}

fn quote_bytes(bytes: &[u8]) -> String {
    let mark = if bytes.contains(&b'\'') && !bytes.contains(&b'"') {
        '"'
    } else {
        '\''
    };
    let mut quoted = format!("b{mark}");
    for &byte in bytes {
        match byte {
            b'\n' => quoted.push_str("\\n"),
            b'\r' => quoted.push_str("\\r"),
            b'\t' => quoted.push_str("\\t"),
            b'\\' => quoted.push_str("\\\\"),
            byte if char::from(byte) == mark => quoted.extend(['\\', mark]),
            0x20..=0x7E => quoted.push(char::from(byte)),
            byte => quoted.push_str(&format!("\\x{byte:02x}")),
        }
    }
    quoted.push(mark);
    quoted
}

/// Shortest digits that read back the same; an exponent below 1e-4 and from 1e16 on.
fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>().unwrap_or(0) {
        -4..=15 => format!("{number:?}"),
        exponent if exponent < 0 => format!("{digits}e-{:02}", -exponent),
        exponent => format!("{digits}e+{exponent:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_as_python_writes_it() {
        let int = Value::Int;
        let check = |value: Value, expect: &str| assert_eq!(text(&value), expect);
        check("as is".into(), "as is");
        check(true.into(), "True");
        check(Value::Null, "None");
        for (number, expect) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            check(number.into(), expect);
        }
        check(
            Value::Dict(vec![
                ("名".into(), Value::List(vec![Value::Null, "x".into()])),
                (int(1), Value::Tuple(vec![int(1)])),
            ]),
            "{'名': [None, 'x'], 1: (1,)}",
        );
        check(Value::Set(vec![]), "set()");
        check(Value::FrozenSet(vec![int(1)]), "frozenset({1})");
        check(Value::Bytes(b"a'\xff\n".to_vec()), r#"b"a'\xff\n""#);
        let moment = Value::DateTime("2024-05-06T07:08:09+02:00[Europe/Berlin]".into());
        check(moment.clone(), "2024-05-06 07:08:09+02:00");
        check(
            Value::List(vec![moment]),
            "[datetime.datetime.fromisoformat('2024-05-06T07:08:09+02:00')]",
        );
        check(
            Value::TimeDelta {
                days: -1,
                seconds: 3723,
                microseconds: 5,
            },
            "-1 day, 1:02:03.000005",
        );
        check(
            Value::Record {
                class: "Point".into(),
                fields: vec![("x".into(), int(1))],
            },
            "Point(x=1)",
        );
    }
}
