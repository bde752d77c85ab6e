//! The attacks once more, as a user without any rights: a copy of this very binary is run as
//! `nobody`, or as the ordinary user that runs it.

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
    let folder = tempfile::tempdir().unwrap();
    let open = || Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), open()).unwrap();
    // Where cargo puts the binary may be closed to others.
    let binary = folder.path().join("attacks");
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    fs::set_permissions(&binary, open()).unwrap();
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut command = Command::new(&binary);
    if rustix::process::geteuid().is_root() {
        chown(&temporary, Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command
        .args(["attacks::", "--test-threads=2"])
        .env_clear()
        .env("TMPDIR", &temporary)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&temporary)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    assert!(text.contains("attacks::"), "nothing was run: {text}");
}
