//! Attack: send a pickle, which runs code wherever it is opened. The host never opens one.

use callgate_contract::{Stop, Value};

use crate::harness::attack;

const EVIL: &str = r#"
import marshal, pickle, posix

class Evil:
    def __reduce__(self):
        return posix.system, ("touch /tmp/callgate-was-here",)

payload = pickle.dumps(Evil())
"#;

#[test]
fn a_pickle_is_only_bytes() {
    let code = format!("{EVIL}\nprint(echo(payload) == payload)");
    let outcome = attack(&code).run();
    outcome.stops(Stop::Finished).prints("True\n");
    let argument = &outcome.calls[0].arguments.positional[0];
    assert!(matches!(argument, Value::Bytes(bytes) if bytes.starts_with(b"\x80")));
}

#[test]
fn an_opaque_object_toward_the_host_is_refused_by_name() {
    let code = format!(
        r#"{EVIL}
body = marshal.dumps((1, "echo", ((..., "opaque", ("Evil", payload)),), {{}}, [], False), 2)
send(frame(CALL, body))
answer = os.read(3, 1000)
print(b"Evil" in answer, b"cannot pass" in answer)
os._exit(0)
"#
    );
    let outcome = attack(&code).run();
    outcome.prints("True True\n").called(&[]);
}

#[test]
fn an_object_of_the_code_cannot_pass() {
    let code = format!("{EVIL}\necho({{'a': [Evil()]}})");
    let outcome = attack(&code).run();
    outcome
        .stops(Stop::Error)
        .error_has("cannot pass a 'Evil'")
        .called(&[]);
}

#[test]
fn a_pickle_as_a_frame_breaks_the_protocol() {
    let code = format!("{EVIL}\nsend(frame(CALL, payload))\nos.read(3, 1)");
    let outcome = attack(&code).run();
    outcome.stops(Stop::Killed).called(&[]);
}
