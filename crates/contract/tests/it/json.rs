//! The JSON view, by example and by property.

use callgate_contract::{
    Value,
    json::{JsonError, from_json, to_json},
};
use num_bigint::BigInt;
use proptest::prelude::*;
use serde_json::json;

use crate::values::{any_value, nested};

proptest! {
    /// What a client reads and sends back unchanged means the same from then on.
    #[test]
    fn every_view_can_be_read(value in any_value()) {
        let text = to_json(&value).to_string();
        let read = from_json(serde_json::from_str(&text).unwrap()).unwrap();
        let view = to_json(&read);
        prop_assert_eq!(to_json(&from_json(view.clone()).unwrap()), view);
    }
}

#[test]
fn each_type_has_its_view() {
    let big = BigInt::from(1) << 70;
    let cases = [
        (Value::Int(1 << 53), json!(9007199254740992u64)),
        (
            Value::Int(-(1 << 53) - 1),
            json!({"$type": "int", "value": "-9007199254740993"}),
        ),
        (
            Value::int(big),
            json!({"$type": "int", "value": "1180591620717411303424"}),
        ),
        (
            Value::Float(f64::NAN),
            json!({"$type": "float", "value": "nan"}),
        ),
        (
            Value::Float(f64::NEG_INFINITY),
            json!({"$type": "float", "value": "-inf"}),
        ),
        (Value::Float(1.0), json!(1.0)),
        (
            Value::Bytes(b"\xff\0".to_vec()),
            json!({"$type": "bytes", "value": "/wA="}),
        ),
        (Value::Tuple(vec![Value::Null]), json!([null])),
        (Value::Set(vec![Value::from("a")]), json!(["a"])),
        (Value::Date("2024-02-29".into()), json!("2024-02-29")),
        (Value::Path("/app/shared".into()), json!("/app/shared")),
        (Value::Decimal("1.50".into()), json!("1.50")),
        (
            Value::Uuid(uuid::Uuid::nil()),
            json!("00000000-0000-0000-0000-000000000000"),
        ),
        (
            Value::Dict(vec![(Value::Int(1), Value::from("x"))]),
            json!({"$type": "dict", "value": [[1, "x"]]}),
        ),
        (
            Value::Dict(vec![(Value::from("$type"), Value::from("int"))]),
            json!({"$type": "dict", "value": [["$type", "int"]]}),
        ),
        (
            Value::Record {
                class: "P".into(),
                fields: vec![("x".into(), Value::Int(1))],
            },
            json!({"x": 1}),
        ),
        (
            Value::Opaque {
                class: "Counter".into(),
                pickle: vec![1],
            },
            json!({"$type": "opaque", "value": "Counter"}),
        ),
    ];
    for (value, expected) in cases {
        assert_eq!(to_json(&value), expected);
    }
}

#[test]
fn durations_are_iso_8601() {
    let cases = [
        ((0, 0, 0), "PT0S"),
        ((1, 0, 0), "P1D"),
        ((0, 5400, 0), "PT1H30M"),
        ((2, 3, 500_000), "P2DT3.5S"),
        ((-1, 86_399, 0), "-PT1S"),
        ((-1, 0, 0), "-P1D"),
        ((0, 0, 1), "PT0.000001S"),
    ];
    for ((days, seconds, microseconds), expected) in cases {
        let delta = Value::TimeDelta {
            days,
            seconds,
            microseconds,
        };
        assert_eq!(to_json(&delta), json!(expected));
    }
}

#[test]
fn typed_forms_are_read_back() {
    let values = [
        Value::int(BigInt::from(-1) << 70),
        Value::int(BigInt::from(-1) << 100_000),
        Value::Float(f64::INFINITY),
        Value::Bytes(vec![0, 255]),
        Value::Dict(vec![(Value::from("$type"), Value::from("x"))]),
        Value::Dict(vec![(
            Value::Tuple(vec![Value::Int(1), Value::Null]),
            Value::Bool(true),
        )]),
        Value::List(vec![Value::Int(-1), Value::Float(1.0), Value::from("a")]),
    ];
    for value in values {
        assert_eq!(from_json(to_json(&value)), Ok(value));
    }
    assert_eq!(
        from_json(json!(u64::MAX)),
        Ok(Value::int(BigInt::from(u64::MAX)))
    );
}

#[test]
fn huge_integers_are_hexadecimal() {
    let huge = Value::int(BigInt::from(-1) << 100_000);
    let view = to_json(&huge);
    assert!(view["value"].as_str().unwrap().starts_with("-0x1000"));
}

#[test]
fn false_forms_are_refused() {
    let cases = [
        (
            json!({"$type": "int", "value": 1}),
            JsonError::Invalid("int"),
        ),
        (
            json!({"$type": "int", "value": "+1"}),
            JsonError::Invalid("int"),
        ),
        (
            json!({"$type": "int", "value": "1_0"}),
            JsonError::Invalid("int"),
        ),
        (
            json!({"$type": "int", "value": "9".repeat(5000)}),
            JsonError::Invalid("int"),
        ),
        (
            json!({"$type": "float", "value": "1.5"}),
            JsonError::Invalid("float"),
        ),
        (
            json!({"$type": "bytes", "value": "%"}),
            JsonError::Invalid("bytes"),
        ),
        (
            json!({"$type": "dict", "value": [[1]]}),
            JsonError::Invalid("dict"),
        ),
        (
            json!({"$type": "dict", "value": [[{}, 1]]}),
            JsonError::Invalid("dict key"),
        ),
        (
            json!({"$type": "opaque", "value": "X"}),
            JsonError::UnknownType("\"opaque\"".into()),
        ),
        (to_json(&Value::List(vec![nested(100)])), JsonError::TooDeep),
    ];
    for (view, expected) in cases {
        assert_eq!(from_json(view.clone()), Err(expected), "{view}");
    }
}
