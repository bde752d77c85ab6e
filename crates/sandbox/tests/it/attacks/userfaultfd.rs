//! Attack: hold the kernel inside a page fault, which makes races easy.

use crate::harness::attack;

#[test]
fn userfaultfd_is_refused() {
    let code = r#"
UFFD_USER_MODE_ONLY = 1
probe("userfaultfd", 0)
probe("userfaultfd", UFFD_USER_MODE_ONLY)
"#;
    attack(code)
        .run()
        .refuses("EPERM", "userfaultfd userfaultfd");
}
