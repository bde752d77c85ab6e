//! Attack: fill the disk with files that no folder shows: deleted ones that are still open, and
//! ones that never had a name.

use callgate_contract::{Limits, Stop};

use crate::harness::attack;

fn small(limits: &mut Limits) {
    limits.disk = 16 << 20;
}

/// 300 MB, where 16 MB and 64 MB of slack are allowed; it says so only when it got them all.
const WRITE: &str = r#"
import time
kept = []
for number in range(6):
    file = open_hidden(number)
    kept.append(file)
    for _ in range(50):
        os.write(file, bytes(1 << 20))
time.sleep(0.2)
print("ALLOWED")
"#;

#[test]
fn deleted_files_count() {
    let code = r#"
def open_hidden(number):
    file = os.open(f"shared/{number}", os.O_CREAT | os.O_RDWR)
    os.unlink(f"shared/{number}")
    return file
"#;
    attack(&format!("{code}{WRITE}"))
        .limits(small)
        .run()
        .stops(Stop::Disk);
}

#[test]
fn files_without_a_name_are_refused() {
    let code = r#"
attempt("shared", lambda: os.open("shared", os.O_TMPFILE | os.O_RDWR))
attempt("tmp", lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR))
"#;
    let outcome = attack(code).limits(small).run();
    let stdout = &outcome.report.stdout;
    assert!(!stdout.contains("shared ALLOWED"), "{stdout}");
}
