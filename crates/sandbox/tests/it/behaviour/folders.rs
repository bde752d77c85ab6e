//! What a run finds in its folders, and what stays there.

use callgate_contract::Stop;

use crate::harness::{TestJail, trial};

#[test]
fn shared_files_stay_between_runs() {
    let session = TestJail::shared().session();
    let write = "import pathlib\npathlib.Path('/app/shared/notes').mkdir()\nopen('shared/notes/你好.txt', 'w').write('一')";
    trial(write)
        .in_session(&session)
        .run()
        .stops(Stop::Finished);
    let kept = std::fs::read_to_string(session.shared().join("notes/你好.txt")).unwrap();
    assert_eq!(kept, "一");
    let read = "import os\nprint(os.getcwd(), open('/app/shared/notes/你好.txt').read())\nos.remove('shared/notes/你好.txt')";
    trial(read).in_session(&session).run().prints("/app 一\n");
    assert!(!session.shared().join("notes/你好.txt").exists());
}

#[test]
fn scratch_files_do_not() {
    let session = TestJail::shared().session();
    let write = "open('here', 'w').write('x')\nopen('/tmp/there', 'w').write('x')";
    trial(write)
        .in_session(&session)
        .run()
        .stops(Stop::Finished);
    let look = "import os\nprint(sorted(os.listdir('.')), os.listdir('/tmp'))";
    trial(look)
        .in_session(&session)
        .run()
        .prints("['shared', 'uploads'] []\n");
}

#[test]
fn uploads_can_be_read_and_not_written() {
    let session = TestJail::shared().session();
    std::fs::write(session.uploads().join("table.csv"), "a,b\n").unwrap();
    let code = r#"
import os
print(open("/app/uploads/table.csv").read(), end="")
for action in (lambda: open("uploads/new", "w"), lambda: open("uploads/table.csv", "a"),
               lambda: os.remove("uploads/table.csv"), lambda: os.mkdir("uploads/folder"),
               lambda: os.rename("uploads/table.csv", "uploads/other")):
    try:
        action()
        print("ALLOWED")
    except OSError as error:
        print(error.errno in (13, 30))
"#;
    trial(code)
        .in_session(&session)
        .run()
        .prints("a,b\nTrue\nTrue\nTrue\nTrue\nTrue\n");
    assert_eq!(std::fs::read_dir(session.uploads()).unwrap().count(), 1);
}

/// Over its limit a session may run, to tidy up, but not grow.
#[test]
fn a_full_session_can_be_tidied_and_does_not_grow() {
    let session = TestJail::shared().session();
    let fill = "open('shared/big', 'wb').write(bytes(20 << 20))\nopen('shared/small', 'wb').write(bytes(9))";
    trial(fill).in_session(&session).run().stops(Stop::Finished);
    let small = |limits: &mut callgate_contract::Limits| limits.disk = 1 << 20;
    let grow = "open('shared/more', 'wb').write(bytes(1 << 20))";
    let grown = trial(grow).in_session(&session).limits(small).run();
    grown.stops(Stop::Error).error_has("File too large");
    let tidy =
        "import os\nos.remove('shared/big')\nos.remove('shared/more')\nprint(os.listdir('shared'))";
    let tidied = trial(tidy).in_session(&session).limits(small).run();
    tidied.stops(Stop::Finished).prints("['small']\n");
    trial("open('shared/new', 'w').write('x')")
        .in_session(&session)
        .limits(small)
        .run()
        .stops(Stop::Finished);
}
