//! Attack: learn about other processes, or change the kernel's settings, through /proc.

use crate::harness::attack;

#[test]
fn there_is_no_proc() {
    let code = r#"
for path in ("/proc", "/proc/self/environ", "/proc/1/root/etc", "/proc/1/environ", "/proc/kcore",
             "/proc/sys/kernel/core_pattern", "/proc/self/ns/net", "/proc/self/fd/3"):
    attempt(path, lambda: os.stat(path))
"#;
    attack(code).run().refuses(
        "ENOENT",
        "/proc /proc/self/environ /proc/1/root/etc /proc/1/environ /proc/kcore \
         /proc/sys/kernel/core_pattern /proc/self/ns/net /proc/self/fd/3",
    );
}

#[test]
fn it_cannot_be_mounted() {
    let code = r#"
os.mkdir("/tmp/proc")
probe("mount", b"proc", b"/tmp/proc", b"proc", 0, 0)
print(os.listdir("/tmp/proc"))
"#;
    attack(code).run().prints("mount EPERM\n[]\n");
}
