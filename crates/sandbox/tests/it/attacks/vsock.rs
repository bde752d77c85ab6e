//! Attack: reach the hypervisor through a vsock.

use crate::harness::attack;

#[test]
fn vsock_is_refused() {
    let code = r#"
import socket
attempt("stream", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
probe("socket", 40, socket.SOCK_DGRAM, 0)
attempt("device", lambda: open("/dev/vsock"))
"#;
    attack(code)
        .run()
        .prints("stream EPERM\nsocket EPERM\ndevice ENOENT\n");
}
