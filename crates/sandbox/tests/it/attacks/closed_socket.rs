//! Attack: close, replace or fill the descriptor that calls travel on.

use std::time::Duration;

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn a_run_that_hangs_up_is_ended() {
    let outcome = attack("import time\nprint('before')\nos.close(3)\ntime.sleep(60)").run();
    outcome.stops(Stop::Killed).prints("before\n");
}

#[test]
fn a_call_on_a_closed_socket_ends_the_run() {
    let outcome = attack("os.close(3)\nadd(1, 2)\nprint('ALLOWED')").run();
    outcome.called(&[]).prints("");
}

#[test]
fn another_file_in_its_place_answers_nothing() {
    let code = r#"
import socket
left, right = socket.socketpair()
os.dup2(left.fileno(), 3)
right.send(frame(2, b"N"))
try:
    print("an answer of its own:", add(1, 2))
finally:
    os.write(1, b"over\n")
"#;
    let outcome = attack(code)
        .limits(|limits| limits.wall = Duration::from_secs(5))
        .run();
    outcome.called(&[]);
}

#[test]
fn half_closing_it_ends_the_run() {
    let code = r#"
import socket, time
ctypes.CDLL(None).shutdown(3, socket.SHUT_WR)
time.sleep(60)
"#;
    attack(code).run().stops(Stop::Killed);
}
