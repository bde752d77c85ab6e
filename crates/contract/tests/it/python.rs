//! The codec against a real interpreter running `wire.py`.

use std::cell::RefCell;

use callgate_contract::{
    Value,
    codec::{MAX_DEPTH, decode, decode_trusted},
};
use num_bigint::BigInt;
use proptest::{
    prelude::ProptestConfig,
    test_runner::{TestCaseError, TestRunner},
};

use crate::{
    peer::{Ask, Peer, text},
    values::{any_value, nested, sorted},
};

/// The types of a value and of all within, as `peer.py` writes them, too.
fn describe(value: &Value) -> String {
    let all = |items: &[Value]| items.iter().map(describe).collect::<Vec<_>>();
    let inner = match value {
        Value::List(items) | Value::Tuple(items) => all(items),
        Value::Set(items) | Value::FrozenSet(items) => {
            let mut items = all(items);
            items.sort();
            items
        }
        Value::Dict(entries) => entries
            .iter()
            .map(|(key, value)| format!("{}:{}", describe(key), describe(value)))
            .collect(),
        _ => return value.type_name().to_owned(),
    };
    format!("{}({})", value.type_name(), inner.join(","))
}

fn check_echo(peer: &mut Peer, value: &Value) {
    peer.send(Ask::Echo, value);
    let types = text(decode(&peer.receive().unwrap()).unwrap());
    assert_eq!(types, describe(value));
    let back = decode(&peer.receive().unwrap()).unwrap();
    let (back, sent) = (sorted(back), sorted(value.clone()));
    // NaN differs from itself.
    assert!(
        format!("{back:?}") == format!("{sent:?}"),
        "{back:?}\n{sent:?}"
    );
}

#[test]
fn every_value_survives_a_visit_to_python() {
    let peer = RefCell::new(Peer::start());
    let config = ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    TestRunner::new(config)
        .run(&any_value(), |value| {
            check_echo(&mut peer.borrow_mut(), &value);
            Ok::<_, TestCaseError>(())
        })
        .unwrap();
}

#[test]
fn large_and_deep_values_survive_a_visit_to_python() {
    let mut peer = Peer::start();
    let pattern: Vec<u8> = (0..1 << 20).map(|i: u32| (i * 31 % 251) as u8).collect();
    check_echo(&mut peer, &Value::Bytes(pattern));
    check_echo(&mut peer, &Value::Str("汉🦀".repeat(100_000)));
    check_echo(&mut peer, &Value::int((BigInt::from(-7) << 100_000) + 1));
    check_echo(
        &mut peer,
        &Value::List((0..200_000).map(Value::Int).collect()),
    );
    check_echo(&mut peer, &nested(MAX_DEPTH));
    // Whatever it holds, the limit is the same: a date forces the walk in Python.
    check_echo(&mut peer, &around_a_date(MAX_DEPTH));
}

fn around_a_date(depth: usize) -> Value {
    (0..depth).fold(Value::Date("2024-02-29".into()), |inner, _| {
        Value::List(vec![inner])
    })
}

#[test]
fn python_refuses_what_is_too_deep() {
    let mut peer = Peer::start();
    for leaf in ["None", "datetime.date.today()"] {
        assert!(peer.evaluate(&format!("nested(100, {leaf})")).is_ok());
        for depth in [101, 5_000] {
            let error = peer
                .evaluate(&format!("nested({depth}, {leaf})"))
                .unwrap_err();
            assert!(
                error.contains("nested deeper than 100 containers"),
                "{error}"
            );
        }
    }
    let error = peer.evaluate("holds_itself_twice()").unwrap_err();
    assert!(error.contains("or it holds itself"), "{error}");
    let error = peer.evaluate("[0] * (1 << 20)").unwrap_err();
    assert_eq!(error, "more than 1048576 values");
}

#[test]
fn python_objects_become_the_expected_values() {
    let strings = |items: &[&str]| {
        items
            .iter()
            .map(|item| Value::from(*item))
            .collect::<Vec<_>>()
    };
    let pair = || Value::Tuple(vec![Value::Int(1), Value::Int(2)]);
    let cases = [
        ("Color.RED", Value::from("red")),
        ("Level.HIGH", Value::Int(3)),
        (
            "[Level.HIGH, {Color.RED: Level.HIGH}]",
            Value::List(vec![
                Value::Int(3),
                Value::Dict(vec![(Value::from("red"), Value::Int(3))]),
            ]),
        ),
        ("Named(1, 2)", pair()),
        (
            "OrderedDict(a=1)",
            Value::Dict(vec![(Value::from("a"), Value::Int(1))]),
        ),
        (
            "Counter('a')",
            Value::Dict(vec![(Value::from("a"), Value::Int(1))]),
        ),
        (
            "deque_like([1, 2])",
            Value::List(vec![Value::Int(1), Value::Int(2)]),
        ),
        ("Text('汉字')", Value::from("汉字")),
        ("Number(5)", Value::Int(5)),
        ("Real(0.5)", Value::Float(0.5)),
        ("Raw(b'x')", Value::Bytes(b"x".to_vec())),
        (
            "[bytearray(b'x'), memoryview(b'y')]",
            Value::List(vec![
                Value::Bytes(b"x".to_vec()),
                Value::Bytes(b"y".to_vec()),
            ]),
        ),
        ("pathlib.Path('/app') / 'b'", Value::Path("/app/b".into())),
        ("pathlib.PurePosixPath('x')", Value::Path("x".into())),
        ("decimal.Decimal('-1.50')", Value::Decimal("-1.50".into())),
        (
            "small_capitals(lambda: decimal.Decimal('1E+9'))",
            Value::Decimal("1E+9".into()),
        ),
        ("uuid.UUID(int=5)", Value::Uuid(uuid::Uuid::from_u128(5))),
        (
            "datetime.date(2024, 2, 29)",
            Value::Date("2024-02-29".into()),
        ),
        (
            "datetime.timedelta(hours=-1)",
            Value::TimeDelta {
                days: -1,
                seconds: 82_800,
                microseconds: 0,
            },
        ),
        (
            "datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)",
            Value::DateTime("2024-01-02T03:04:05+00:00".into()),
        ),
        (
            "datetime.datetime(2024, 1, 2, tzinfo=ZoneInfo('Asia/Shanghai'))",
            Value::DateTime("2024-01-02T00:00:00+08:00[Asia/Shanghai]".into()),
        ),
        (
            "datetime.time(1, 2, tzinfo=ZoneInfo('Asia/Shanghai'))",
            Value::Time("01:02:00[Asia/Shanghai]".into()),
        ),
        ("2 ** 70", Value::int(BigInt::from(1) << 70)),
        ("-(2 ** 63)", Value::Int(i64::MIN)),
        (
            "{1: 'a', 'b': None, (1, 2): True}",
            Value::Dict(vec![
                (Value::Int(1), Value::from("a")),
                (Value::from("b"), Value::Null),
                (pair(), Value::Bool(true)),
            ]),
        ),
        ("frozenset('a')", Value::FrozenSet(strings(&["a"]))),
    ];
    let mut peer = Peer::start();
    for (expression, expected) in cases {
        assert_eq!(peer.evaluate(expression), Ok(expected), "{expression}");
    }
}

#[test]
fn numpy_scalars_become_numbers() {
    let mut peer = Peer::start();
    let cases = [
        ("numpy.float64(1.5)", Value::Float(1.5)),
        ("[numpy.float32(0.5)]", Value::List(vec![Value::Float(0.5)])),
        (
            "{'n': numpy.int64(7)}",
            Value::Dict(vec![(Value::from("n"), Value::Int(7))]),
        ),
        (
            "numpy.uint64(2 ** 64 - 1)",
            Value::int(BigInt::from(u64::MAX)),
        ),
        ("numpy.bool_(True)", Value::Bool(true)),
        ("numpy.str_('a')", Value::from("a")),
    ];
    for (expression, expected) in cases {
        assert_eq!(peer.evaluate(expression), Ok(expected), "{expression}");
    }
    let error = peer.evaluate("[numpy.zeros(3)]").unwrap_err();
    assert_eq!(error, "result[0]: cannot pass a 'ndarray'");
}

#[test]
fn python_refuses_what_is_not_data_by_type_and_place() {
    let cases = [
        (
            "{'items': [0, 1, 2, socket.socket()]}",
            "result.items[3]: cannot pass a 'socket'",
        ),
        ("[lambda: 0]", "result[0]: cannot pass a 'function'"),
        ("(x for x in '')", "result: cannot pass a 'generator'"),
        ("compile('1', '', 'eval')", "result: cannot pass a 'code'"),
        ("{'a b': 1j}", "result[\"a b\"]: cannot pass a 'complex'"),
        ("(1, ...)", "result[1]: cannot pass a 'ellipsis'"),
        ("{5: StopIteration}", "result[5]: cannot pass a 'type'"),
        ("{1j: 5}", "result.keys()[0]: cannot pass a 'complex'"),
        (
            "[array.array('i', [1])]",
            "result[0]: cannot pass a 'array'",
        ),
        ("Point(1, 2)", "result: cannot pass a 'Point'"),
        (
            "[wire.Record('Point', {'x': 1})]",
            "result[0]: cannot pass a 'Point'",
        ),
        (
            "{'t': ['\\ud800']}",
            "result.t[0]: cannot pass this 'str': it holds a lone surrogate",
        ),
    ];
    let mut peer = Peer::start();
    for (expression, expected) in cases {
        assert_eq!(
            peer.evaluate(expression),
            Err(expected.to_owned()),
            "{expression}"
        );
    }
}

/// A guest may send what it likes: the same things as raw marshal, past `wire.dumps`.
#[test]
fn rust_refuses_what_marshal_writes_beyond_data() {
    let cases = [
        (
            "raw([compile('1', '', 'eval')])",
            "result[0]: cannot pass a 'code'",
        ),
        ("raw({'z': 1j})", "result.z: cannot pass a 'complex'"),
        ("raw([StopIteration])", "result[0]: cannot pass a 'type'"),
        ("raw([...])", "result[0]: cannot pass a 'ellipsis'"),
        (
            "raw(['\\ud800'])",
            "result[0]: cannot pass this 'str': it holds a lone surrogate",
        ),
        (
            "raw((..., 'record', ('Point', ())))",
            "result: cannot pass a 'Point'",
        ),
        (
            "raw((..., 'opaque', ('Evil', b'')))",
            "result: cannot pass a 'Evil'",
        ),
    ];
    let mut peer = Peer::start();
    for (expression, expected) in cases {
        peer.send(Ask::Evaluate, &Value::from(expression));
        let body = peer.receive().unwrap();
        let error = decode(&body).unwrap_err().at("result");
        assert_eq!(error.to_string(), expected, "{expression}");
    }
    for expression in ["raw(['a', 'a'], 4)", "raw_pickle([1])"] {
        peer.send(Ask::Evaluate, &Value::from(expression));
        let error = decode(&peer.receive().unwrap()).unwrap_err().to_string();
        assert!(
            error.starts_with("malformed value"),
            "{expression}: {error}"
        );
    }
}

#[test]
fn objects_cross_toward_the_sandbox_only() {
    let point = |y| Value::Record {
        class: "Point".into(),
        fields: vec![("x".into(), Value::Int(1)), ("y".into(), y)],
    };
    let mut peer = Peer::start();
    let mut outward = |expression: &str| {
        peer.send(Ask::EvaluateOutward, &Value::from(expression));
        let body = peer.receive().unwrap();
        assert!(decode(&body).is_err(), "toward the host: {expression}");
        decode_trusted(&body).unwrap()
    };
    assert_eq!(outward("Point(1, 2)"), point(Value::Int(2)));
    assert_eq!(
        outward("Point(1, Point(1, None))"),
        point(point(Value::Null))
    );
    assert_eq!(
        outward("{Named(1, 2)}"),
        Value::Set(vec![Value::Record {
            class: "Named".into(),
            fields: vec![("a".into(), Value::Int(1)), ("b".into(), Value::Int(2))],
        }])
    );
    let counter = outward("Counter('aab')");
    assert_eq!(counter.type_name(), "Counter");
    let Value::Opaque { .. } = counter else {
        panic!("{counter:?}");
    };
    let seen = [
        (point(Value::Int(2)), "Point(x=1, y=2)"),
        (counter, "Counter({'a': 2, 'b': 1})"),
    ];
    for (value, expected) in seen {
        peer.send(Ask::Repr, &value);
        assert_eq!(text(decode(&peer.receive().unwrap()).unwrap()), expected);
    }
}

#[test]
fn values_look_right_to_python() {
    let cases = [
        (Value::Int(1 << 40), "1099511627776"),
        (Value::Float(f64::NAN), "nan"),
        (Value::Decimal("1.50".into()), "Decimal('1.50')"),
        (Value::Path("a/b".into()), "PosixPath('a/b')"),
        (
            Value::Uuid(uuid::Uuid::nil()),
            "UUID('00000000-0000-0000-0000-000000000000')",
        ),
        (
            Value::TimeDelta {
                days: -1,
                seconds: 5,
                microseconds: 7,
            },
            "datetime.timedelta(days=-1, seconds=5, microseconds=7)",
        ),
        (
            Value::DateTime("2024-01-02T03:04:05+08:00".into()),
            "datetime.datetime(2024, 1, 2, 3, 4, 5, \
             tzinfo=datetime.timezone(datetime.timedelta(seconds=28800)))",
        ),
        (
            Value::DateTime("2024-11-03T01:30:00-05:00[America/New_York]".into()),
            "datetime.datetime(2024, 11, 3, 1, 30, fold=1, \
             tzinfo=zoneinfo.ZoneInfo(key='America/New_York'))",
        ),
        (
            Value::DateTime("2024-01-02T00:00:00+02:00[Nowhere/Land]".into()),
            "datetime.datetime(2024, 1, 2, 0, 0, \
             tzinfo=datetime.timezone(datetime.timedelta(seconds=7200)))",
        ),
        (
            Value::Tuple(vec![
                Value::Bool(true),
                Value::Null,
                Value::Bytes(vec![0xff]),
            ]),
            "(True, None, b'\\xff')",
        ),
    ];
    let mut peer = Peer::start();
    for (value, expected) in cases {
        peer.send(Ask::Repr, &value);
        assert_eq!(text(decode(&peer.receive().unwrap()).unwrap()), expected);
    }
}
