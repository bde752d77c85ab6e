//! Attack: begin a frame and never end it, so that the server waits.

use std::time::Duration;

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn half_a_frame_is_waited_for_no_longer_than_the_run_lasts() {
    for bytes in [
        "b'\\x10'",
        "frame(CALL, bytes(1_000))[:500]",
        "(8 << 20).to_bytes(4, 'little')",
    ] {
        let code = format!("import time\nsend({bytes})\ntime.sleep(60)");
        let outcome = attack(&code)
            .limits(|limits| limits.wall = Duration::from_millis(300))
            .run();
        outcome.stops(Stop::Timeout).called(&[]);
    }
}
