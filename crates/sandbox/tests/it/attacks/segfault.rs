//! Attack: crash the interpreter.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn a_crash_ends_only_the_run() {
    let outcome = attack("print('before', flush=True)\nctypes.string_at(0)").run();
    outcome
        .stops(Stop::Killed)
        .prints("before\n")
        .error_has("killed by signal 11");
}

#[test]
fn so_does_an_abort_and_a_jump_into_nothing() {
    attack("os.abort()").run().stops(Stop::Killed);
    attack("ctypes.CFUNCTYPE(None)(1)()")
        .run()
        .stops(Stop::Killed)
        .error_has("signal 11");
}
