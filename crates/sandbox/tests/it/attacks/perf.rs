//! Attack: measure other processes through the counters of the CPU.

use crate::harness::attack;

#[test]
fn perf_is_refused() {
    let code = r#"
probe("perf_event_open", bytes(128), 0, -1, -1, 0)
probe("perf_event_open", bytes(128), -1, 0, -1, 0)
"#;
    attack(code)
        .run()
        .refuses("EPERM", "perf_event_open perf_event_open");
}
