//! Attack: walk out of the jail with `..`.

use crate::harness::attack;

#[test]
fn dots_end_at_the_root_of_the_jail() {
    let folder = tempfile::tempdir().unwrap();
    let bait = folder.path().join("bait");
    std::fs::write(&bait, "secret").unwrap();
    let code = format!(
        r#"
bait = {bait:?}.lstrip("/")
attempt("shared", lambda: os.stat("/app/shared/" + "../" * 40 + bait))
attempt("uploads", lambda: os.stat("/app/uploads/../../../../../" + bait))
for _ in range(40):
    os.chdir("..")
attempt("chdir", lambda: os.stat(bait))
os.chdir("/app/shared")
os.chdir("../..")
print(os.getcwd())
folder = os.open("/app/shared", os.O_RDONLY)
attempt("openat", lambda: os.stat("../../../" + bait, dir_fd=folder))
os.fchdir(folder)
os.chdir("../../..")
print(os.getcwd(), os.listdir(".") == os.listdir("/"))
"#
    );
    attack(&code)
        .run()
        .prints("shared ENOENT\nuploads ENOENT\nchdir ENOENT\n/\nopenat ENOENT\n/ True\n");
}
