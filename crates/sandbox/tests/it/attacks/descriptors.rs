//! Attack: use descriptors that the server left open.

use crate::harness::{BAIT_DESCRIPTOR, attack};

#[test]
fn only_stdio_and_the_call_socket_are_open() {
    let code = format!(
        r#"
open_ones = []
for descriptor in range(4096):
    try:
        os.fstat(descriptor)
        open_ones.append(descriptor)
    except OSError:
        pass
print(open_ones, os.read(0, 100))
for descriptor in open_ones[:3]:
    try:
        assert {BAIT_DESCRIPTOR:?}.encode() not in os.pread(descriptor, 100, 0)
    except OSError:
        pass
attempt("stdin", lambda: os.write(0, b"x"))
attempt("stdout", lambda: os.read(1, 1))
"#
    );
    attack(&code)
        .run()
        .prints("[0, 1, 2, 3] b''\nstdin EBADF\nstdout EBADF\n");
}
