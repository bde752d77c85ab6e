//! Attack: say that the run is over, and go on.

use callgate_contract::Stop;

use crate::harness::attack;

const FAKE_END: &str = r#"
import marshal, time
send(frame(DONE, marshal.dumps({"stop": "finished"}, 2)))
"#;

#[test]
fn after_the_end_nothing_is_heard_and_the_process_goes() {
    let code = format!(
        r#"{FAKE_END}
send(frame(CALL, marshal.dumps((1, "add", (1, 2), {{}}, [], False), 2)))
while True:
    time.sleep(0.05)
    open("shared/still-here", "a").write("x")
"#
    );
    let outcome = attack(&code).run();
    outcome.stops(Stop::Finished).called(&[]);
    let path = outcome.session.shared().join("still-here");
    let size = || std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let before = size();
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!((size(), before < 10), (before, true));
}

/// Saying "finished" first does not hide what the host sees afterwards.
#[test]
fn a_limit_broken_after_the_end_is_still_a_stop() {
    let code = format!("{FAKE_END}\nwhile True: os.write(1, bytes(65536))");
    let outcome = attack(&code).limits(|limits| limits.output = 10_000).run();
    outcome.stops(Stop::Output);
}

#[test]
fn only_the_stops_that_are_the_codes_own_can_be_claimed() {
    for stop in [
        "agent",
        "multimodal",
        "approval",
        "cancelled",
        "FINISHED",
        "calls",
    ] {
        let code = format!(
            "import marshal\nsend(frame(DONE, marshal.dumps({{'stop': {stop:?}}}, 2)))\nos._exit(7)"
        );
        attack(&code).run().stops(Stop::Error).error_has("status 7");
    }
}
