//! Attack: configure the network, or reach the kernel's cryptography, through its own sockets.

use crate::harness::attack;

#[test]
fn kernel_sockets_are_refused() {
    let code = r#"
import socket
AF_NETLINK, AF_ALG, AF_BLUETOOTH, AF_CAN = 16, 38, 31, 29
for family in (AF_NETLINK, AF_ALG, AF_BLUETOOTH, AF_CAN):
    probe("socket", family, socket.SOCK_RAW, 0)
    probe("socketpair", family, socket.SOCK_RAW, 0, (ctypes.c_int * 2)())
"#;
    let probes = "socket socketpair ".repeat(4);
    attack(code).run().refuses("EPERM", &probes);
}
