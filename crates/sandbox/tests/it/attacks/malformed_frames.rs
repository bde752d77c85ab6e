//! Attack: send bytes that are no frames, or frames that hold no values.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn broken_frames_end_the_run() {
    let cases = [
        ("b'GET / HTTP/1.1\\r\\n\\r\\n'", "the limit is"),
        ("frame(99, b'N')", "an unknown frame 99"),
        ("frame(1, b'N')", "an unknown frame 1"),
        ("frame(CALL, b'')", "malformed value"),
        ("frame(CALL, b'N')", "malformed call"),
        (
            "frame(CALL, b'(' + bytes([6, 0, 0, 0]) + b'N' * 6)",
            "malformed call",
        ),
        ("frame(CALL, b'(' + bytes([255] * 4))", "malformed value"),
        ("frame(CALL, b'[' * 100_000)", "malformed value"),
        ("frame(CALL, b'NN')", "malformed value"),
        ("frame(DONE, b'i')", "malformed value"),
        ("frame(DONE, b'N')", "malformed end"),
        ("bytes([5, 0, 0, 0, 0xA5]) * 3", "unknown frame"),
    ];
    for (bytes, reason) in cases {
        let code = format!("send({bytes})\nos.read(3, 1)\nprint('ALLOWED')");
        let outcome = attack(&code).run();
        outcome.stops(Stop::Killed).error_has(reason).called(&[]);
    }
}

#[test]
fn noise_ends_the_run() {
    let code = r#"
import random
noise = random.Random(7)
while True:
    send(noise.randbytes(1_000))
"#;
    attack(code).run().stops(Stop::Killed).called(&[]);
}
