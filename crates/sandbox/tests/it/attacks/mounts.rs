//! Attack: mount something over the jail's root, or open a mount from outside it.

use crate::harness::attack;

#[test]
fn mounting_is_refused() {
    let code = r#"
for name in ("mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
             "fsconfig", "fsmount", "fspick", "mount_setattr"):
    probe(name, b"/", b"/app", 0, 0, 0)
"#;
    attack(code).run().refuses(
        "EPERM",
        "mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr",
    );
}
