//! Attack: make system calls by their x32 numbers, which a careless filter does not list.
#![cfg(target_arch = "x86_64")]

use crate::harness::attack;

#[test]
fn x32_numbers_are_refused() {
    let code = r#"
X32 = 0x40000000
for name in ("getpid", "socket", "unshare", "mount", "ptrace"):
    NUMBERS["x32_" + name] = X32 | NUMBERS[name]
    probe("x32_" + name, 0, 0, 0, 0, 0)
# The x32 calls that have numbers of their own, ptrace and execve among them.
for number in range(512, 548):
    NUMBERS["own"] = X32 | number
    probe("own", 0, 0, 0, 0, 0)
"#;
    let own = "own ".repeat(548 - 512);
    let probes = format!("x32_getpid x32_socket x32_unshare x32_mount x32_ptrace {own}");
    attack(code).run().refuses("EPERM", &probes);
}
