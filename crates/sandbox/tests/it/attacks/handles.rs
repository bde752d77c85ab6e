//! Attack: open files by their handle, past every path.

use crate::harness::attack;

#[test]
fn handles_are_refused() {
    let code = r#"
probe("name_to_handle_at", -100, b"/app", bytes(128), bytes(8), 0)
probe("open_by_handle_at", 3, bytes(128), 0)
probe("fanotify_init", 0, 0)
probe("vmsplice", 1, 0, 0, 0)
probe("splice", 0, 0, 1, 0, 1, 0)
probe("tee", 0, 1, 1, 0)
"#;
    attack(code).run().refuses(
        "EPERM",
        "name_to_handle_at open_by_handle_at fanotify_init vmsplice splice tee",
    );
}
