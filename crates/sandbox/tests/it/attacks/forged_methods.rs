//! Attack: call what was not granted, under every name that might be mistaken for one that was.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn what_is_not_granted_is_refused() {
    let code = r#"
names = ["shell", "builtin/shell", "echo ", "ECHO", "echo\0", "../echo", "plugin:x/echo", "", "écho", "x" * 100_000]
for name in names:
    try:
        print("ALLOWED", call(name, 1))
    except MethodError as error:
        print(str(error).startswith(f"method '{name}' is not granted"))
from callgate_guest import calls
try:
    calls.stub("delete_everything", "()", "")()
except MethodError as error:
    print(error)
"#;
    let outcome = attack(code).run();
    let expected = "True\n".repeat(10) + "method 'delete_everything' is not granted\n";
    outcome.prints(&expected);
    assert_eq!(outcome.calls.len(), 11);
}

#[test]
fn names_that_are_not_text_break_the_protocol() {
    for name in ["None", "1", "b'echo'", "('echo',)"] {
        let code = format!(
            r#"
import marshal
send(frame(CALL, marshal.dumps((1, {name}, (), {{}}, [], False), 2)))
print(os.read(3, 100))
"#
        );
        let outcome = attack(&code).run();
        outcome
            .stops(Stop::Killed)
            .error_has("malformed call")
            .called(&[]);
    }
}
