//! Attack: read files of the host, by the paths they have there.

use crate::harness::attack;

#[test]
fn files_of_the_host_do_not_exist_inside() {
    let folder = tempfile::tempdir().unwrap();
    let bait = folder.path().join("bait");
    std::fs::write(&bait, "secret").unwrap();
    let code = format!(
        r#"
attempt("bait", lambda: open({bait:?}).read())
attempt("shadow", lambda: os.stat("/etc/shadow"))
for folder in ("/root", "/home", "/var", "/sys", "/boot", "/run", "/mnt", "/srv"):
    attempt(folder, lambda: os.listdir(folder))
"#
    );
    attack(&code).run().refuses(
        "ENOENT",
        "bait shadow /root /home /var /sys /boot /run /mnt /srv",
    );
}

#[test]
fn the_root_holds_only_what_python_needs() {
    let code = r#"
inside = {"usr", "lib", "lib64", "app", "tmp", "dev", "etc", ".sessions", "opt"}
print(set(os.listdir("/")) - inside)
print(sorted(os.listdir("/dev")), open("/etc/passwd").read())
print(set(os.listdir("/usr")) - {"lib", "lib64", "local", "share"})
"#;
    attack(code).run().prints(
        "set()\n['full', 'null', 'random', 'urandom', 'zero'] \
         sandbox:x:1000:1000::/app:/bin/false\n\nset()\n",
    );
}

#[test]
fn nothing_outside_the_scratch_folders_can_be_written() {
    let code = r#"
for folder in ("/", "/usr/lib", "/etc", "/dev", "/app/uploads", "/.sessions"):
    try:
        open(folder + "/planted", "w")
    except OSError as error:
        print(folder, error.errno in (errno.EACCES, errno.EROFS))
for path in ("/etc/passwd", "/dev/zero", os.__file__):
    try:
        open(path, "w")
    except OSError as error:
        print(error.errno in (errno.EACCES, errno.EROFS))
attempt("mem", lambda: open("/dev/mem"))
attempt("chmod", lambda: os.chmod("/etc/passwd", 0o777))
"#;
    let outcome = attack(code).run();
    let stdout = &outcome.report.stdout;
    assert_eq!(stdout.matches("True").count(), 9, "{stdout}");
    assert!(
        !stdout.contains("False") && !stdout.contains("ALLOWED"),
        "{stdout}"
    );
}
