//! Attack: connect to a server of the host on loopback.

use std::{io::ErrorKind, net::TcpListener};

use crate::harness::attack;

#[test]
fn a_server_on_loopback_hears_nothing() {
    let bait = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = bait.local_addr().unwrap().port();
    let code = format!(
        r#"
import http.client, socket, struct
attempt("create", lambda: socket.create_connection(("127.0.0.1", {port}), 2))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("ipv6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
attempt("http", lambda: http.client.HTTPConnection("127.0.0.1", {port}).request("GET", "/"))
probe("socket", socket.AF_INET, socket.SOCK_STREAM, 0)
# The two descriptors that are sockets already: its own calls, and a pair.
address = struct.pack("=H", socket.AF_INET) + struct.pack(">HI8x", {port}, 0x7F000001)
left, right = socket.socketpair()
for descriptor in (3, left.fileno()):
    probe("connect", descriptor, address, len(address))
    probe("bind", descriptor, address, len(address))
    probe("sendto", descriptor, b"x", 1, 0, address, len(address))
"#
    );
    let attack = attack(&code).run();
    attack.prints(
        "create EPERM\nudp EPERM\nipv6 EPERM\nhttp EPERM\nsocket EPERM\n\
         connect EPERM\nbind EPERM\nsendto EPERM\nconnect EPERM\nbind EPERM\nsendto EPERM\n",
    );
    bait.set_nonblocking(true).unwrap();
    assert_eq!(bait.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}
