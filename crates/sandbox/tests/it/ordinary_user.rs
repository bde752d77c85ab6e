//! The attacks once more, as a user without any rights: a copy of this very binary is run as
//! `nobody`. That copy finds itself an ordinary user and so does not copy itself again.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    process::Command,
};

const NOBODY: u32 = 65_534;

#[test]
fn the_attacks_fail_as_an_ordinary_user_too() {
    if !rustix::process::geteuid().is_root() {
        return; // Then the other tests of this binary are that test.
    }
    let folder = tempfile::tempdir().unwrap();
    let open = || Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), open()).unwrap();
    // Where cargo puts the binary may be closed to others.
    let binary = folder.path().join("attacks");
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    fs::set_permissions(&binary, open()).unwrap();
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    chown(&temporary, Some(NOBODY), Some(NOBODY)).unwrap();

    let output = Command::new(&binary)
        .args(["attacks::", "--test-threads=2"])
        .env_clear()
        .env("TMPDIR", &temporary)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&temporary)
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    assert!(text.contains("attacks::"), "nothing was run: {text}");
}
