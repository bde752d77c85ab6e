//! Attack: make files that no folder shows and no limit counts.

use crate::harness::attack;

#[test]
fn hidden_files_are_refused() {
    let code = r#"
attempt("os", lambda: os.memfd_create("hidden"))
probe("memfd_create", b"hidden", 0)
"#;
    attack(code).run().refuses("EPERM", "os memfd_create");
}
