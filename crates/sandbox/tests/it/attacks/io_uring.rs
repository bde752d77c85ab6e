//! Attack: do input and output past the filter, through a ring.

use crate::harness::attack;

#[test]
fn the_ring_is_absent() {
    let code = r#"
probe("io_uring_setup", 8, bytes(120))
probe("io_uring_enter", 3, 1, 0, 0, 0, 0)
probe("io_uring_register", 3, 0, 0, 0)
"#;
    attack(code)
        .run()
        .refuses("ENOSYS", "io_uring_setup io_uring_enter io_uring_register");
}
