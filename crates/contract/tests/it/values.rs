//! Random values for the property tests.

use callgate_contract::Value;
use num_bigint::BigInt;
use proptest::{collection::vec, prelude::*, sample::select};

pub fn any_value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::List),
            vec(inner.clone(), 0..8).prop_map(Value::Tuple),
            vec((key(), inner), 0..8).prop_map(dict),
            vec(key(), 0..6).prop_map(|keys| Value::Set(distinct(keys))),
            vec(key(), 0..6).prop_map(|keys| Value::FrozenSet(distinct(keys))),
        ]
    })
}

/// Values that may be on the way to the sandbox.
pub fn any_outward_value() -> impl Strategy<Value = Value> {
    let object = prop_oneof![
        (text(), vec((text(), any_value()), 0..4))
            .prop_map(|(class, fields)| Value::Record { class, fields }),
        (text(), vec(any::<u8>(), 0..20))
            .prop_map(|(class, pickle)| Value::Opaque { class, pickle }),
    ];
    vec(prop_oneof![object, any_value()], 1..4).prop_map(Value::List)
}

/// `depth` containers around nothing, of each kind in turn.
pub fn nested(depth: usize) -> Value {
    (0..depth).fold(Value::Null, |inner, level| match level % 3 {
        0 => Value::List(vec![inner]),
        1 => Value::Dict(vec![(Value::from("k"), inner)]),
        _ => Value::Tuple(vec![inner]),
    })
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        integer(),
        any::<f64>().prop_map(Value::Float),
        select(vec![f64::NAN, f64::INFINITY, -0.0]).prop_map(Value::Float),
        text().prop_map(Value::Str),
        vec(any::<u8>(), 0..40).prop_map(Value::Bytes),
        date().prop_map(Value::Date),
        (clock(), offset()).prop_map(|(clock, offset)| Value::Time(clock + &offset)),
        (date(), clock(), offset())
            .prop_map(|(date, clock, offset)| Value::DateTime(format!("{date}T{clock}{offset}"))),
        (-999_999_999..=999_999_999, 0..86_400, 0..1_000_000).prop_map(
            |(days, seconds, microseconds)| Value::TimeDelta {
                days,
                seconds,
                microseconds
            }
        ),
        decimal().prop_map(Value::Decimal),
        vec(select(vec!["a", "数据", "b c", "🦀.txt"]), 1..4)
            .prop_map(|parts| Value::Path(parts.join("/"))),
        any::<u128>().prop_map(|bits| Value::Uuid(uuid::Uuid::from_u128(bits))),
    ]
}

/// Keys that Python, too, holds to be different: not both `1` and `True`.
fn key() -> impl Strategy<Value = Value> {
    let simple = prop_oneof![
        Just(Value::Null),
        integer(),
        text().prop_map(Value::Str),
        vec(any::<u8>(), 0..9).prop_map(Value::Bytes),
        date().prop_map(Value::Date),
        any::<u128>().prop_map(|bits| Value::Uuid(uuid::Uuid::from_u128(bits))),
    ];
    let members = vec(simple.clone(), 0..4).prop_map(distinct);
    prop_oneof![
        6 => simple.clone(),
        1 => vec(simple, 0..4).prop_map(Value::Tuple),
        1 => members.prop_map(Value::FrozenSet),
    ]
}

fn integer() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-9i64..9).prop_map(Value::Int),
        any::<i32>().prop_map(|number| Value::Int(number.into())),
        any::<i64>().prop_map(Value::Int),
        select(vec![i64::MIN, i64::MAX, 1 << 31, -(1 << 31) - 1, 1 << 60]).prop_map(Value::Int),
        vec(any::<u8>(), 1..300)
            .prop_map(|digits| Value::int(BigInt::from_signed_bytes_le(&digits))),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec![
            "",
            "name",
            "$type",
            "汉字テスト한글",
            "👩‍👩‍👧 emoji",
            "a\0b\n"
        ])
        .prop_map(str::to_owned),
        vec(any::<char>(), 0..12).prop_map(|chars| chars.into_iter().collect()),
    ]
}

fn date() -> impl Strategy<Value = String> {
    (1..=9999, 1..=12, 1..=28).prop_map(|(y, m, d)| format!("{y:04}-{m:02}-{d:02}"))
}

fn clock() -> impl Strategy<Value = String> {
    let fraction = prop_oneof![
        Just(String::new()),
        (1..1_000_000).prop_map(|micros| format!(".{micros:06}")),
    ];
    (0..24, 0..60, 0..60, fraction)
        .prop_map(|(h, m, s, fraction)| format!("{h:02}:{m:02}:{s:02}{fraction}"))
}

fn offset() -> impl Strategy<Value = String> {
    select(vec![
        "",
        "+00:00",
        "+08:00",
        "-03:30",
        "+05:53:28",
        "-00:00:01.000001",
    ])
    .prop_map(str::to_owned)
}

fn decimal() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec![
            "NaN",
            "-Infinity",
            "sNaN12",
            "1.5E+30",
            "-1E-10",
            "0E-9",
            "-0"
        ])
        .prop_map(str::to_owned),
        (any::<i64>(), 0..100).prop_map(|(whole, part)| format!("{whole}.{part:02}")),
    ]
}

fn dict(entries: Vec<(Value, Value)>) -> Value {
    let mut kept: Vec<(Value, Value)> = Vec::new();
    for (key, value) in entries {
        if kept.iter().all(|(other, _)| !same(other, &key)) {
            kept.push((key, value));
        }
    }
    Value::Dict(kept)
}

fn distinct(values: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for value in values {
        if kept.iter().all(|other| !same(other, &value)) {
            kept.push(value);
        }
    }
    kept
}

fn same(left: &Value, right: &Value) -> bool {
    sorted(left.clone()) == sorted(right.clone())
}

/// The value with the members of its sets in one order; Python keeps none.
pub fn sorted(value: Value) -> Value {
    let all = |items: Vec<Value>| items.into_iter().map(sorted).collect::<Vec<_>>();
    let ordered = |items: Vec<Value>| {
        let mut items = all(items);
        items.sort_by_cached_key(|item| format!("{item:?}"));
        items
    };
    match value {
        Value::List(items) => Value::List(all(items)),
        Value::Tuple(items) => Value::Tuple(all(items)),
        Value::Set(items) => Value::Set(ordered(items)),
        Value::FrozenSet(items) => Value::FrozenSet(ordered(items)),
        Value::Dict(entries) => Value::Dict(
            entries
                .into_iter()
                .map(|(key, value)| (sorted(key), sorted(value)))
                .collect(),
        ),
        other => other,
    }
}
