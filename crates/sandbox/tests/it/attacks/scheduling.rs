//! Attack: take more than its share of the machine.

use crate::harness::attack;

#[test]
fn limits_and_priorities_cannot_be_raised() {
    let code = r#"
probe("prlimit64", 0, 9, (ctypes.c_uint64 * 2)(2**63, 2**63), 0)
probe("prlimit64", 1, 9, 0, (ctypes.c_uint64 * 2)())
probe("setrlimit", 9, (ctypes.c_uint64 * 2)(2**63, 2**63))
probe("setpriority", 0, 0, -20)
probe("sched_setscheduler", 0, 1, (ctypes.c_int)(50))
probe("sched_setaffinity", 0, 8, bytes(8))
probe("mlockall", 3)
"#;
    attack(code).run().refuses(
        "EPERM",
        "prlimit64 prlimit64 setrlimit setpriority sched_setscheduler sched_setaffinity mlockall",
    );
}
