//! Attack: repeat, skip or reorder calls, to be given an answer that belongs to another.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn a_call_out_of_sequence_ends_the_run() {
    for (sequence, reached) in [
        ("0", 0),
        ("2", 0),
        ("-1", 0),
        ("2**63", 0),
        ("1, 1", 1),
        ("1, 3", 1),
        ("1, 2, 2", 2),
    ] {
        let code = format!(
            r#"
import marshal
for number in ({sequence},):
    send(frame(CALL, marshal.dumps((number, "add", (1, 2), {{}}, [], False), 2)))
    os.read(3, 100)
print("ALLOWED")
"#
        );
        let outcome = attack(&code).run();
        outcome
            .stops(Stop::Killed)
            .called(&vec!["add"; reached])
            .prints("");
    }
}
