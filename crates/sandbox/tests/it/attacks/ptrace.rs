//! Attack: read or change another process through the debugger's calls.

use crate::harness::attack;

#[test]
fn other_processes_cannot_be_looked_into() {
    let code = r#"
PTRACE_TRACEME, PTRACE_ATTACH, PTRACE_SEIZE = 0, 16, 0x4206
probe("ptrace", PTRACE_TRACEME, 0, 0, 0)
for pid in (0, 1, 2, 100):
    probe("ptrace", PTRACE_ATTACH, pid, 0, 0)
    probe("ptrace", PTRACE_SEIZE, pid, 0, 0)
    probe("process_vm_readv", pid, 0, 0, 0, 0, 0)
    probe("process_vm_writev", pid, 0, 0, 0, 0, 0)
probe("kcmp", 1, 1, 0, 0, 0)
probe("process_madvise", 0, 0, 0, 0, 0)
"#;
    let each = "ptrace ptrace process_vm_readv process_vm_writev ".repeat(4);
    let probes = format!("ptrace {each} kcmp process_madvise");
    attack(code).run().refuses("EPERM", &probes);
}
