//! Attack: read keys that the server holds in the kernel.

use crate::harness::attack;

#[test]
fn keyrings_are_refused() {
    let code = r#"
KEYCTL_GET_KEYRING_ID, KEYCTL_DESCRIBE, SESSION = 0, 6, -3
probe("keyctl", KEYCTL_GET_KEYRING_ID, SESSION, 1, 0, 0)
probe("keyctl", KEYCTL_DESCRIBE, SESSION, 0, 0, 0)
probe("add_key", b"user", b"bait", b"x", 1, SESSION)
probe("request_key", b"user", b"bait", 0, SESSION)
"#;
    attack(code)
        .run()
        .refuses("EPERM", "keyctl keyctl add_key request_key");
}
