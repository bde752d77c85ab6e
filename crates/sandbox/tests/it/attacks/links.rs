//! Attack: make links for the host to follow, or follow one that lies in the session's folder.

use std::os::unix::fs::symlink;

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn links_and_device_nodes_cannot_be_made() {
    let code = r#"
import pathlib
open("shared/file", "w").write("mine")
attempt("symlink", lambda: os.symlink("/etc/passwd", "shared/link"))
attempt("link", lambda: os.link("shared/file", "shared/link"))
attempt("pathlib", lambda: pathlib.Path("shared/link").symlink_to("/"))
attempt("mkfifo", lambda: os.mkfifo("shared/pipe"))
AT_FDCWD = -100
probe("symlinkat", b"/etc/passwd", AT_FDCWD, b"/app/shared/link")
probe("linkat", AT_FDCWD, b"/app/shared/file", AT_FDCWD, b"/app/shared/link", 0)
probe("mknodat", AT_FDCWD, b"/app/shared/disk", 0o60666, 0x0800)
"#;
    let outcome = attack(code).run();
    outcome.refuses(
        "EPERM",
        "symlink link pathlib mkfifo symlinkat linkat mknodat",
    );
    let entries = std::fs::read_dir(outcome.session.shared()).unwrap();
    let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["file"]);
}

#[test]
fn a_link_that_lies_there_leads_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    // More than the session may hold: counting it would stop the run.
    let bait = outside.path().join("bait");
    std::fs::write(&bait, vec![b'x'; 2 << 20]).unwrap();
    let code = r#"
import time
attempt("read", lambda: open("shared/file").read())
attempt("write", lambda: open("shared/file", "w"))
attempt("list", lambda: os.listdir("shared/folder"))
attempt("inside", lambda: open("shared/folder/bait").read())
time.sleep(0.1)
"#;
    let attack = attack(code).limits(|limits| limits.disk = 1 << 20);
    symlink(&bait, attack.session().shared().join("file")).unwrap();
    symlink(outside.path(), attack.session().shared().join("folder")).unwrap();
    attack
        .run()
        .stops(Stop::Finished)
        .refuses("ENOENT", "read write list inside");
    assert_eq!(std::fs::metadata(bait).unwrap().len(), 2 << 20);
}
