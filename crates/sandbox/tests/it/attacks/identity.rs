//! Attack: become another user, or regain a capability.

use std::os::unix::fs::PermissionsExt;

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn the_user_and_its_rights_cannot_be_changed() {
    let code = r#"
for name in ("setuid", "setgid", "setresuid", "setresgid", "setfsuid"):
    probe(name, 0, 0, 0)
probe("setgroups", 0, 0)
probe("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6))
PR_CAP_AMBIENT, PR_SET_SECUREBITS, PR_SET_KEEPCAPS, PR_SET_DUMPABLE, PR_SET_PDEATHSIG = 47, 28, 8, 4, 1
for option in (PR_CAP_AMBIENT, PR_SET_SECUREBITS, PR_SET_KEEPCAPS, PR_SET_DUMPABLE, PR_SET_PDEATHSIG):
    probe("prctl", option, 1, 0, 0, 0)
probe("seccomp", 1, 0, 0)
probe("landlock_create_ruleset", 0, 0, 1)
attempt("chown", lambda: os.chown("/app", 0, 0))
"#;
    attack(code).run().refuses(
        "EPERM",
        "setuid setgid setresuid setresgid setfsuid setgroups capset prctl prctl prctl prctl prctl \
         seccomp landlock_create_ruleset chown",
    );
}

#[test]
fn a_set_user_id_file_is_worth_nothing() {
    let code = r#"
open("shared/su", "wb").write(b'#!/bin/true')
attempt("chmod", lambda: os.chmod("shared/su", 0o6755))
probe("execve", b"/app/shared/su", 0, 0)
probe("execveat", -100, b"/app/shared/su", 0, 0, 0)
print(os.getuid() != 0, os.getuid() == os.geteuid())
"#;
    let outcome = attack(code).run();
    outcome.stops(Stop::Finished);
    let stdout = &outcome.report.stdout;
    assert!(
        stdout.ends_with("execve EPERM\nexecveat EPERM\nTrue True\n"),
        "{stdout}"
    );
    // Whoever finds it on the host finds a file of a user that owns nothing else.
    let metadata = std::fs::metadata(outcome.session.shared().join("su")).unwrap();
    let set_id = metadata.permissions().mode() & 0o6000 != 0;
    let owner = std::os::unix::fs::MetadataExt::uid(&metadata);
    assert!(!set_id || owner != 0, "a set-user-id file of root");
}
