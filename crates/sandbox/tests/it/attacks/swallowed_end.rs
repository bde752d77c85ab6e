//! Attack: catch the end of the run and go on, after a call that ends it.

use std::time::{Duration, Instant};

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn a_run_that_will_not_end_is_ended() {
    let code = r#"
print("before")
while True:
    try:
        stop_agent("next round")
        print("ALLOWED")
    except BaseException:
        try:
            add(1, 2)
            print("ALLOWED")
        except BaseException:
            pass
"#;
    let began = Instant::now();
    let outcome = attack(code).run();
    outcome
        .stops(Stop::Agent)
        .prints("before\n")
        .called(&["stop_agent"]);
    // The limit of the run is thirty seconds: it was not that which ended it.
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[test]
fn calls_past_the_guest_are_answered_with_the_end_only() {
    let code = r#"
import marshal, time
try:
    stop_agent("next round")
except BaseException:
    number = 1
    while True:
        number += 1
        send(frame(CALL, marshal.dumps((number, "add", (1, 2), {}, [], False), 2)))
        os.read(3, 100)
"#;
    attack(code)
        .run()
        .stops(Stop::Agent)
        .called(&["stop_agent"]);
}

#[test]
fn sleeping_through_the_end_does_not_help() {
    let code = r#"
import time
try:
    stop_multimodal()
finally:
    time.sleep(3600)
"#;
    attack(code)
        .run()
        .stops(Stop::Multimodal)
        .called(&["stop_multimodal"]);
}

#[test]
fn crashing_in_the_time_to_unwind_changes_nothing() {
    let code = "try:\n    stop_agent('x')\nfinally:\n    ctypes.string_at(0)";
    attack(code).run().stops(Stop::Agent);
    let code = "try:\n    stop_agent('x')\nfinally:\n    os._exit(5)";
    attack(code).run().stops(Stop::Agent);
}
