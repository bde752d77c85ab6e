//! Attack: fill the disk with files that no folder shows: deleted ones that are still open, and
//! ones that never had a name.

use callgate_contract::{Limits, Stop};

use crate::harness::attack;

fn small(limits: &mut Limits) {
    limits.disk = 16 << 20;
}

/// 300 MB, where 16 MB and 64 MB of slack are allowed; it says so only when it got them all.
const WRITE: &str = r#"
import mmap, time
kept = []
for number in range(6):
    path = f"shared/{number}"
    file = os.open(path, os.O_CREAT | os.O_RDWR)
    os.unlink(path)
    for _ in range(50):
        os.write(file, bytes(1 << 20))
    keep(file)
time.sleep(0.2)
print("ALLOWED")
"#;

fn assert_stopped(keep: &str) {
    let outcome = attack(&format!("{keep}{WRITE}")).limits(small).run();
    outcome.stops(Stop::Disk).prints("");
}

#[test]
fn deleted_files_that_are_open_count() {
    assert_stopped("keep = lambda file: kept.append(file)");
}

#[test]
fn deleted_files_that_are_only_mapped_count() {
    assert_stopped(
        r#"
def keep(file):
    kept.append(mmap.mmap(file, 4096))
    os.close(file)
    # The object holds a descriptor of its own, right after the ones that are open.
    for other in range(4, 256):
        try:
            os.close(other)
        except OSError:
            pass
"#,
    );
}

#[test]
fn descriptors_cannot_be_kept_in_a_table_of_their_own() {
    let code = r#"
THREAD, SIGHAND, VM = 0x10000, 0x800, 0x100
probe("clone", THREAD | SIGHAND | VM, 0, 0, 0, 0)
CLOSE_RANGE_UNSHARE = 2
probe("close_range", 200, 300, CLOSE_RANGE_UNSHARE)
CLONE_FILES = 0x400
probe("unshare", CLONE_FILES)
"#;
    attack(code)
        .run()
        .refuses("EPERM", "clone close_range unshare");
}

#[test]
fn files_without_a_name_are_refused() {
    let code = r#"
attempt("shared", lambda: os.open("shared", os.O_TMPFILE | os.O_RDWR))
attempt("tmp", lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR))
"#;
    attack(code).run().refuses("EPERM", "shared tmp");
}

/// Few and small, they are nobody's business: programs keep their scratch files like that.
#[test]
fn a_small_one_is_fine() {
    let code = r#"
import tempfile, time
with tempfile.TemporaryFile(dir="shared") as file:
    file.write(bytes(1 << 20))
    time.sleep(0.1)
    print(file.tell())
"#;
    attack(code)
        .limits(small)
        .run()
        .stops(Stop::Finished)
        .prints("1048576\n");
}
