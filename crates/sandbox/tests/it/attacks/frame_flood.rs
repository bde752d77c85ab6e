//! Attack: call without end and read no answer, so that the server's queues grow.

use std::time::Duration;

use callgate_contract::Stop;

use crate::harness::attack;

/// Each answer is as long as its call: unread, they fill the socket, and the host reads no more.
#[test]
fn a_flood_without_reading_is_held_back() {
    let code = r#"
import marshal
number = 0
while True:
    number += 1
    send(frame(CALL, marshal.dumps((number, "echo", ("x" * 10_000,), {}, [], False), 2)))
"#;
    let outcome = attack(code)
        .limits(|limits| limits.wall = Duration::from_millis(500))
        .run();
    outcome.stops(Stop::Timeout);
    assert!(outcome.calls.len() < 1_000, "{} calls", outcome.calls.len());
}

#[test]
fn calls_are_counted() {
    let outcome = attack("while True: add(1, 2)")
        .limits(|limits| limits.calls = 100)
        .run();
    outcome.stops(Stop::Calls).error_has("more than 100 calls");
    assert_eq!(outcome.calls.len(), 100);
}

/// Calls that never reach the host because their arguments cannot pass count too.
#[test]
fn so_are_calls_that_cannot_pass() {
    let code = r#"
import marshal
number = 0
while True:
    number += 1
    body = marshal.dumps((number, "echo", ([...],), {}, [], False), 2)
    send(frame(CALL, body))
    os.read(3, 1000)
"#;
    let outcome = attack(code).limits(|limits| limits.calls = 100).run();
    outcome.stops(Stop::Calls).called(&[]);
}
