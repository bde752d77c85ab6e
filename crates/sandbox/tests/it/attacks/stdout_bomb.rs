//! Attack: print without end.

use callgate_contract::{Limits, Stop};

use crate::harness::attack;

#[test]
fn output_without_end_stops_the_run() {
    let outcome = attack("while True: print('x' * 1_000)").run();
    outcome
        .stops(Stop::Output)
        .error_has("16777216 bytes of output");
    let kept = Limits::default().output_kept;
    assert!(outcome.report.stdout.len() < kept + 100);
    assert!(outcome.report.stdout_total > 16 << 20);
}

#[test]
fn past_python_and_on_stderr_too() {
    let code = "while True: os.write(2, bytes(65536))";
    let outcome = attack(code).limits(|limits| limits.output = 1 << 20).run();
    outcome.stops(Stop::Output);
}
