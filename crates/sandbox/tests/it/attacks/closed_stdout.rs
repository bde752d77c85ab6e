//! Attack: close or replace the streams that the host reads from.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn a_run_without_streams_ends_like_any_other() {
    let code = "import sys\nprint('before')\nsys.stdout.close()\nsys.stderr.close()\nos.close(1)\nos.close(2)\nadd(1, 2)";
    let outcome = attack(code).run();
    outcome
        .stops(Stop::Finished)
        .prints("before\n")
        .called(&["add"]);
}

#[test]
fn streams_that_are_no_streams_do_not_hide_the_end() {
    let code = r#"
import sys
class Trap:
    def __getattr__(self, name): raise KeyboardInterrupt
sys.stdout = sys.stderr = Trap()
raise ValueError("real")
"#;
    attack(code)
        .run()
        .stops(Stop::Error)
        .error_has("ValueError: real");
}
