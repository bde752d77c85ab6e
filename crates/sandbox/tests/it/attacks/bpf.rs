//! Attack: load a program into the kernel.

use crate::harness::attack;

#[test]
fn programs_cannot_be_loaded() {
    let code = r#"
BPF_MAP_CREATE, BPF_PROG_LOAD = 0, 5
probe("bpf", BPF_MAP_CREATE, bytes(128), 128)
probe("bpf", BPF_PROG_LOAD, bytes(128), 128)
"#;
    attack(code).run().refuses("EPERM", "bpf bpf");
}
