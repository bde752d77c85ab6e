//! Attack: raw and packet sockets, which see other people's traffic.

use crate::harness::attack;

#[test]
fn raw_sockets_are_refused() {
    let code = r#"
import socket
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt("ping", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3))
AF_XDP = 44
probe("socket", AF_XDP, socket.SOCK_RAW, 0)
"#;
    attack(code)
        .run()
        .refuses("EPERM", "raw ping packet socket");
}
