//! Attack: fill the disk that all sessions share.

use std::{path::Path, process::Command};

use callgate_contract::{Limits, Stop};

use crate::harness::{TestJail, attack};

const DISK: u64 = 16 << 20;
/// What a run may write beyond its limit before it is stopped.
const SLACK: u64 = 64 << 20;

fn small(limits: &mut Limits) {
    limits.disk = DISK;
}

/// Counted by a tool that can also walk a path longer than a path may be.
fn used(folder: &Path) -> u64 {
    let output = Command::new("du").arg("-sk").arg(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let kilobytes = text.split_whitespace().next().unwrap();
    kilobytes.parse::<u64>().unwrap() * 1024
}

fn assert_stopped(code: &str) {
    let outcome = attack(code).limits(small).run();
    outcome.stops(Stop::Disk);
    let shared = outcome.session.shared();
    let opened = Command::new("chmod")
        .args(["-R", "u+rwX"])
        .arg(&shared)
        .status();
    assert!(opened.unwrap().success());
    let used = used(&shared);
    assert!(used <= DISK + SLACK, "{used} bytes were written");
    // A chain of thousands of folders is more than the end of the process should have to undo.
    let removed = Command::new("rm").arg("-rf").arg(&shared).status();
    assert!(removed.unwrap().success());
}

#[test]
fn many_files() {
    assert_stopped(
        r#"
number = 0
while True:
    number += 1
    with open(f"shared/{number}", "wb") as file:
        file.write(bytes(1 << 20))
"#,
    );
}

#[test]
fn one_huge_file() {
    assert_stopped(
        r#"
with open("shared/file", "wb") as file:
    while True:
        file.write(bytes(1 << 20))
"#,
    );
}

/// A run that is over its limit at its very end, between two samples.
#[test]
fn a_quick_write_and_a_quick_end() {
    assert_stopped("open('shared/file', 'wb').write(bytes(40 << 20))");
}

#[test]
fn in_many_folders() {
    assert_stopped(
        r#"
for number in range(3_000):
    os.mkdir(f"shared/{number}")
number = 0
while True:
    number = (number + 1) % 3_000
    with open(f"shared/{number}/file", "ab") as file:
        file.write(bytes(64 << 10))
"#,
    );
}

#[test]
fn in_deep_folders() {
    assert_stopped(
        r#"
os.chdir("shared")
for number in range(3_000):
    os.mkdir("x")
    os.chdir("x")
while True:
    with open("file", "ab") as file:
        file.write(bytes(1 << 20))
"#,
    );
}

/// As an ordinary user the server has no more rights to a folder than the code that made it.
#[test]
fn in_a_folder_that_cannot_be_listed() {
    assert_stopped(
        r#"
os.mkdir("shared/closed")
os.chmod("shared/closed", 0o300)
file = open("shared/closed/file", "wb")
while True:
    file.write(bytes(1 << 20))
    file.flush()
"#,
    );
}

/// Each run may overstep a little before it is stopped; the next one cannot add to that.
#[test]
fn run_by_run() {
    let session = TestJail::shared().session();
    for number in 0..4 {
        let code = format!(
            "for n in range(99): open(f'shared/{number}-{{n}}', 'wb').write(bytes(1 << 20))"
        );
        attack(&code).in_session(&session).limits(small).run();
    }
    let used = used(&session.shared());
    assert!(used <= DISK + SLACK, "{used} bytes were written");
}

/// Holes take no room, and making them does not either.
#[test]
fn holes_and_reservations() {
    let code = r#"
file = open("shared/sparse", "wb")
attempt("truncate", lambda: file.truncate(1 << 40))
attempt("seek", lambda: (file.seek(1 << 40), file.write(b"x"), file.flush()))
os.lseek(file.fileno(), 0, os.SEEK_SET)
attempt("posix_fallocate", lambda: os.posix_fallocate(file.fileno(), 0, 1 << 40))
probe("fallocate", file.fileno(), 0, 0, 1 << 40)
os._exit(0)
"#;
    let outcome = attack(code).limits(small).run();
    outcome.stops(Stop::Finished);
    let stdout = &outcome.report.stdout;
    assert!(!stdout.contains("ALLOWED"), "{stdout}");
    assert!(used(&outcome.session.shared()) <= DISK, "{stdout}");
}

#[test]
fn scratch_folders_have_a_size_of_their_own() {
    let code = r#"
for folder in ("/tmp", "/app"):
    file = open(folder + "/file", "wb")
    attempt(folder, lambda: [file.write(bytes(1 << 20)) for _ in range(1_000)])
    os.truncate(folder + "/file", 0)
os._exit(0)
"#;
    let outcome = attack(code).run();
    outcome
        .stops(Stop::Finished)
        .prints("/tmp ENOSPC\n/app ENOSPC\n");
}
