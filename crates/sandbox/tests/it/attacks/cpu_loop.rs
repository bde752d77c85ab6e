//! Attack: compute without end, deaf to every signal.

use std::time::Duration;

use callgate_contract::Stop;

use crate::harness::attack;

const DEAF: &str = r#"
import signal
for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
"#;

#[test]
fn time_runs_out_for_a_loop_deaf_to_signals() {
    let code = format!(
        "{DEAF}\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass"
    );
    let outcome = attack(&code)
        .limits(|limits| limits.wall = Duration::from_millis(500))
        .run();
    outcome
        .stops(Stop::Timeout)
        .error_has("ran for more than 0.5 s");
}

#[test]
fn so_does_cpu_time() {
    let code = format!("{DEAF}\nwhile True: pass");
    let outcome = attack(&code)
        .limits(|limits| limits.cpu = Duration::from_secs(1))
        .run();
    outcome
        .stops(Stop::Timeout)
        .error_has("used 1 s of CPU time");
    assert!(outcome.report.cpu < Duration::from_secs(3));
}

#[test]
fn c_code_that_never_returns_is_no_exception() {
    let code = "x = 7 ** 10_000_000\nx = str(2 ** 100_000_000)\nre = __import__('re')\nre.match('(a+)+b', 'a' * 60)";
    let outcome = attack(code)
        .limits(|limits| limits.wall = Duration::from_millis(500))
        .run();
    outcome.stops(Stop::Timeout);
}

#[test]
fn sleeping_is_no_way_around_the_clock() {
    let code = format!("{DEAF}\nimport time\nwhile True: time.sleep(3600)");
    let outcome = attack(&code)
        .limits(|limits| limits.wall = Duration::from_millis(300))
        .run();
    outcome.stops(Stop::Timeout);
}
