//! Attack: open descriptors until nobody can.

use crate::harness::attack;

#[test]
fn descriptors_are_limited_and_calls_still_work() {
    let code = r#"
import socket
held = []
attempt("open", lambda: [held.append(open("/dev/null")) for _ in range(10_000)])
print(len(held) < 256, add(1, 2))
held.clear()
attempt("pipe", lambda: [held.append(os.pipe()) for _ in range(10_000)])
for pair in held: os.close(pair[0]), os.close(pair[1])
held.clear()
attempt("pair", lambda: [held.append(socket.socketpair()) for _ in range(10_000)])
held.clear()
attempt("dup", lambda: [held.append(os.dup(0)) for _ in range(10_000)])
print(len(held) < 256, add(3, 4))
"#;
    attack(code)
        .run()
        .prints("open EMFILE\nTrue 3\npipe EMFILE\npair EMFILE\ndup EMFILE\nTrue 7\n");
}
