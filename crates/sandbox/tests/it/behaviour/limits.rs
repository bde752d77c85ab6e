//! The limits of a run: their defaults, and what counts against them.

use std::time::Duration;

use callgate_contract::{Limits, Stop};

use crate::harness::trial;

#[test]
fn the_defaults_are_the_documented_ones() {
    let limits = Limits::default();
    let expected = Limits {
        wall: Duration::from_secs(120),
        cpu: Duration::from_secs(60),
        memory: 512 << 20,
        threads: 64,
        output: 16 << 20,
        output_kept: 1 << 20,
        disk: 256 << 20,
        calls: 10_000,
    };
    assert_eq!(limits, expected);
}

#[test]
fn time_inside_host_calls_does_not_count() {
    let code = "for _ in range(3): slow(0.4)\nprint('done')";
    let outcome = trial(code)
        .limits(|limits| limits.wall = Duration::from_millis(600))
        .run();
    outcome.stops(Stop::Finished).prints("done\n");
    assert!(outcome.report.wall < Duration::from_millis(600));
}

#[test]
fn time_between_them_does() {
    let code = "import time\nwhile True:\n    slow(0.01)\n    time.sleep(0.05)";
    let outcome = trial(code)
        .limits(|limits| limits.wall = Duration::from_millis(300))
        .run();
    outcome.stops(Stop::Timeout);
}

#[test]
fn the_report_says_what_was_used() {
    let code = "x = bytearray(50 << 20)\nfor i in range(300_000): i * i\nadd(1, 2)";
    let report = trial(code).run().report;
    assert!(report.memory_peak > 50 << 20, "{report:?}");
    assert!(report.cpu > Duration::ZERO && report.wall > Duration::ZERO);
    assert_eq!((report.calls, report.threaded), (1, false));
}

#[test]
fn half_a_gigabyte_is_there_to_be_used() {
    let code = "x = bytearray(400 << 20)\nprint(len(x))";
    trial(code)
        .run()
        .stops(Stop::Finished)
        .prints("419430400\n");
}
