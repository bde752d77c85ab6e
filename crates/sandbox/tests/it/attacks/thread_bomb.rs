//! Attack: start threads until the machine has no more to give.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn threads_are_limited() {
    let code = r#"
import threading
done = threading.Event()
started = 0
try:
    for _ in range(2_000):
        threading.Thread(target=done.wait).start()
        started += 1
except RuntimeError as error:
    print(error)
done.set()
print(started < 520)
"#;
    let outcome = attack(code).run();
    outcome
        .stops(Stop::Finished)
        .prints("can't start new thread\nTrue\n");
}

/// Where each session is a user of its own, the limit is the run's alone; of an ordinary user it is
/// for all runs together.
#[test]
fn as_root_the_limit_is_the_one_of_the_run() {
    let code = r#"
import threading
done = threading.Event()
started = 0
try:
    while True:
        threading.Thread(target=done.wait).start()
        started += 1
except RuntimeError:
    done.set()
print(started)
"#;
    let outcome = attack(code).limits(|limits| limits.threads = 20).run();
    let started: u32 = outcome.report.stdout.trim().parse().unwrap();
    if rustix::process::geteuid().is_root() {
        assert_eq!(started, 19);
    } else {
        assert!(started < 520, "{started}");
    }
}
