//! Attack: hold the kernel inside a page fault, which makes races easy.

use crate::harness::attack;

#[test]
fn userfaultfd_is_refused() {
    let code = r#"
UFFD_USER_MODE_ONLY = 1
probe("userfaultfd", 0)
probe("userfaultfd", UFFD_USER_MODE_ONLY)
open("/tmp/file", "w")
attempt("device", lambda: open("/dev/userfaultfd") and None if os.path.exists("/dev/userfaultfd") else os.stat("/tmp/file/x"))
"#;
    attack(code).run().refuses("EPERM", "userfaultfd userfaultfd");
}
