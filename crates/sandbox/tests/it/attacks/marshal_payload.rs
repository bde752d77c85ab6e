//! Attack: the frames are in marshal's format, which also knows code objects. The host does not.

use callgate_contract::{Report, Stop};

use crate::harness::attack;

/// Nested, the type is named in the answer; as the frame itself, or with references to other
/// places as the newer versions write, nothing is left to answer.
#[test]
fn code_objects_are_refused() {
    for version in 0..=4 {
        let code = format!(
            r#"
import marshal
code = compile("import os; os.abort()", "x", "exec")
send(frame(CALL, marshal.dumps((1, "echo", (code,), {{}}, [], False), {version})))
print(b"cannot pass a 'code'" in os.read(3, 1000))
os._exit(0)
"#
        );
        let outcome = attack(&code).run();
        outcome.called(&[]);
        let Report { stop, stdout, .. } = &outcome.report;
        let answered = (*stop, stdout.as_str()) == (Stop::Finished, "True\n");
        assert!(answered || *stop == Stop::Killed, "{:?}", outcome.report);
    }
}

/// References, interned text, StopIteration, complex numbers, the old spellings.
#[test]
fn every_type_that_is_not_data_is_refused() {
    for byte in b"SIfxy?RAaZz)ctr!\xe3\xf3" {
        let code = format!(
            r#"
send(frame(CALL, bytes([{byte}]) + bytes(20)))
print(b"cannot pass a" in os.read(3, 1000))
os._exit(0)
"#
        );
        let outcome = attack(&code).run();
        outcome.called(&[]);
        let Report { stop, stdout, .. } = &outcome.report;
        let answered = (*stop, stdout.as_str()) == (Stop::Finished, "True\n");
        assert!(answered || *stop == Stop::Killed, "{:?}", outcome.report);
    }
}

#[test]
fn the_honest_way_is_an_error_that_names_the_type() {
    let outcome = attack("echo({'code': compile('1', 'x', 'eval')})").run();
    outcome
        .stops(Stop::Error)
        .error_has("cannot pass a 'code'")
        .called(&[]);
}
