//! Attack: use up the inodes of the disk with empty files.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn too_many_files_are_a_full_disk() {
    let code = r#"
number = 0
while True:
    number += 1
    os.close(os.open(f"shared/{number}", os.O_CREAT | os.O_WRONLY))
"#;
    let outcome = attack(code).run();
    outcome.stops(Stop::Disk);
    let files = std::fs::read_dir(outcome.session.shared()).unwrap().count();
    assert!(files < 40_000, "{files} files");
}

#[test]
fn scratch_folders_have_few_inodes() {
    let code = r#"
for folder in ("/tmp", "/app"):
    attempt(folder, lambda: [os.close(os.open(f"{folder}/{n}", os.O_CREAT | os.O_WRONLY)) for n in range(5_000)])
"#;
    attack(code).run().refuses("ENOSPC", "/tmp /app");
}
