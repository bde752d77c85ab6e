//! Attack: make a user namespace, in which one is root again, or enter another one.

use crate::harness::attack;

#[test]
fn namespaces_cannot_be_made_or_entered() {
    let code = r#"
flags = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x08000000,
         "uts": 0x04000000, "cgroup": 0x02000000, "time": 0x80}
SIGCHLD, THREAD = 17, 0x10000 | 0x800 | 0x100
for flag in flags.values():
    probe("unshare", flag)
    probe("clone", flag | SIGCHLD, 0, 0, 0, 0)
probe("clone", flags["user"] | THREAD, 0, 0, 0, 0)
probe("clone", flags["net"] | THREAD, 0, 0, 0, 0)
probe("setns", 0, 0)
probe("setns", 3, flags["user"])
"#;
    let probes = format!("{}clone clone setns setns", "unshare clone ".repeat(8));
    attack(code).run().refuses("EPERM", &probes);
}

/// libc falls back to `clone` when this one is absent.
#[test]
fn clone3_is_absent() {
    let code = r#"
probe("clone3", bytes(64), 64)
probe("openat2", -100, b"/", bytes(24), 24)
"#;
    attack(code).run().refuses("ENOSYS", "clone3 openat2");
}
