//! Attack: reach the folders of another session.

use crate::harness::{TestJail, attack, trial};

#[test]
fn the_folders_of_other_sessions_are_out_of_reach() {
    let other = TestJail::shared().session();
    trial("open('shared/secret', 'w').write('theirs')")
        .in_session(&other)
        .run();
    let (id, path) = (other.folders.id, other.shared());
    let code = format!(
        r#"
print(os.path.exists("/app/shared/secret"))
for path in ("/.sessions/{id}/shared/secret", "/.sessions/{id}", "{path}/secret", "../{id}/shared/secret",
             "shared/../../{id}/shared/secret", "/app/shared/../{id}/shared/secret"):
    attempt("path", lambda: os.stat(path))
try:
    print(os.listdir("/.sessions"))
except PermissionError:
    print([])
"#,
        path = path.display()
    );
    let expected = format!("False\n{}[]\n", "path ENOENT\n".repeat(6));
    attack(&code).run().prints(&expected);
    let kept = std::fs::read_to_string(path.join("secret")).unwrap();
    assert_eq!(kept, "theirs");
}

#[test]
fn scratch_folders_are_not_shared_between_runs() {
    let code = "open('/tmp/mine', 'w').write('x'); open('/app/mine', 'w').write('x')";
    trial(code).run();
    let look = "print(os.path.exists('/tmp/mine'), os.path.exists('/app/mine'))";
    attack(look).run().prints("False False\n");
}
