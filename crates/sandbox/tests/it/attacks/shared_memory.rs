//! Attack: keep things in the kernel after the run, or talk to other runs there.

use crate::harness::attack;

#[test]
fn shared_memory_is_refused() {
    let code = r#"
for name in ("shmget", "msgget", "semget"):
    probe(name, 1, 4096, 0o1666)
probe("mq_open", b"queue", 0o102, 0o666, 0)
"#;
    attack(code)
        .run()
        .refuses("EPERM", "shmget msgget semget mq_open");
}
