//! Attack: take descriptors out of other processes.

use crate::harness::attack;

#[test]
fn descriptors_of_others_cannot_be_taken() {
    let code = r#"
attempt("os", lambda: os.pidfd_open(1))
for pid in (1, 2, 1000):
    probe("pidfd_open", pid, 0)
probe("pidfd_getfd", 0, 0, 0)
probe("pidfd_send_signal", 0, 9, 0, 0)
"#;
    attack(code).run().refuses(
        "EPERM",
        "os pidfd_open pidfd_open pidfd_open pidfd_getfd pidfd_send_signal",
    );
}
