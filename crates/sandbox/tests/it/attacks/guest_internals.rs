//! Attack: change our own modules inside the sandbox. They are conveniences; the wall is elsewhere.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn undoing_the_explanations_undoes_no_wall() {
    let code = r#"
import _socket, sys
for name in [name for name in sys.modules if name.startswith(("callgate", "socket", "subprocess"))]:
    del sys.modules[name]
import socket
attempt("socket", lambda: socket.socket())
attempt("raw", lambda: _socket.socket())
import posix
attempt("fork", posix.fork)
"#;
    attack(code).run().refuses("EPERM", "socket raw fork");
}

#[test]
fn a_forged_end_of_calls_reaches_nothing() {
    let code = r#"
from callgate_guest import calls, judge, main
calls._sequence = 41
try:
    add(1, 2)
finally:
    os.write(1, b"ALLOWED")
"#;
    let outcome = attack(code).run();
    outcome
        .stops(Stop::Killed)
        .error_has("call 42 where 1 was due")
        .called(&[]);
}

#[test]
fn a_broken_judge_is_an_error() {
    let code = r#"
from callgate_guest import judge, calls
def broken(*_): raise SystemError("no judge")
judge.judge = broken
raise ValueError("real")
"#;
    attack(code)
        .run()
        .stops(Stop::Error)
        .error_has("ValueError");
}

/// Without our last frame only the exit status remains.
#[test]
fn without_a_last_word_the_status_counts() {
    let code = "from callgate_guest import calls\ncalls.finish = None\nraise ValueError('real')";
    let outcome = attack(code).run();
    assert!(
        matches!(outcome.report.stop, Stop::Finished | Stop::Error),
        "{:?}",
        outcome.report
    );
}

#[test]
fn broken_builtins_do_not_hang_the_run() {
    let code = r#"
import builtins, threading
def forever(*a, **k):
    while True: pass
threading._shutdown = forever
for name in ("isinstance", "len", "type", "open", "print"):
    setattr(builtins, name, forever)
"#;
    let wall = std::time::Duration::from_millis(500);
    attack(code)
        .limits(|limits| limits.wall = wall)
        .run()
        .stops(Stop::Timeout);
}
