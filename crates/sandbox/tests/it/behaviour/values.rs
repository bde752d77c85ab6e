//! Values of every type, from the code to the host and back.

use callgate_contract::{Stop, Value};

use crate::harness::trial;

#[test]
fn every_type_comes_back_as_it_went() {
    let code = r#"
import datetime, decimal, pathlib, uuid, zoneinfo
utc, zone = datetime.timezone.utc, zoneinfo.ZoneInfo("Asia/Shanghai")
values = [
    None, True, False, 0, -1, 2**31, 2**63 - 1, -2**63, 2**64, -10**100, 0.0, -0.5, 1e308, float("inf"),
    "", "text", "你好 🎉", "a\0b", b"", b"\x00\xff" * 1000, [], [1, [2, [3]]], (), (1, "a", None), set(), {1, 2},
    frozenset({3}), {}, {"a": 1}, {1: 2, None: 3, (1, 2): 4, b"k": 5, 1.5: 6, frozenset({1}): 7},
    datetime.datetime(2024, 2, 29, 1, 2, 3, 4), datetime.datetime(2024, 1, 1, tzinfo=utc),
    datetime.datetime(2024, 1, 1, tzinfo=zone), datetime.date(1, 1, 1), datetime.time(23, 59, 59, 999999),
    datetime.timedelta(-1, 5, 7), pathlib.Path("/app/shared/文件.txt"), decimal.Decimal("1.10"),
    decimal.Decimal("-Infinity"), uuid.UUID(int=7), {"deep": [({"x": (1, [datetime.date(2000, 1, 1)])},)]},
]
for value in values:
    back = echo(value)
    if type(back) is not type(value) or back != value or repr(back) != repr(value):
        print("CHANGED", repr(value)[:80], repr(back)[:80])
nan = echo([float("nan")])[0]
print(nan != nan, len(values))
"#;
    let outcome = trial(code).run();
    outcome.stops(Stop::Finished).prints("True 41\n");
    let arguments: Vec<_> = outcome
        .calls
        .iter()
        .map(|call| &call.arguments.positional[0])
        .collect();
    let types: Vec<_> = arguments.iter().map(|value| value.type_name()).collect();
    assert_eq!(
        types[30..40].join(" "),
        "datetime datetime datetime date time timedelta Path Decimal Decimal UUID"
    );
    assert_eq!(arguments[0], &Value::Null);
    assert_eq!(arguments[16], &Value::from("你好 🎉"));
}

#[test]
fn near_relatives_pass_as_what_they_are() {
    let code = r#"
import collections, enum
class Color(enum.Enum): RED = "red"
class Level(enum.IntEnum): HIGH = 3
Point = collections.namedtuple("Point", "x y")
class Text(str): pass
for value in (Color.RED, Level.HIGH, Point(1, 2), Text("t"), collections.OrderedDict(a=1),
              collections.defaultdict(int, b=2), collections.Counter("aa"), bytearray(b"x"), memoryview(b"y")):
    print(repr(echo(value)))
"#;
    trial(code)
        .run()
        .prints("'red'\n3\n(1, 2)\n't'\n{'a': 1}\n{'b': 2}\n{'a': 2}\nb'x'\nb'y'\n");
}

#[test]
fn large_values_cross() {
    let code = r#"
data = bytes(range(256)) * 4096
print(echo(data) == data)
rows = [{"id": n, "name": f"第{n}", "tags": ["a", "b"]} for n in range(20_000)]
print(echo(rows) == rows)
"#;
    trial(code).run().prints("True\nTrue\n");
}
