//! Attack: talk to a unix socket of the host, by its path or its abstract name.

use std::{
    io::ErrorKind,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixDatagram, UnixListener},
        },
    },
};

use callgate_contract::Stop;

use crate::harness::attack;

/// The worst case: the sockets lie in the session's own folder, open to everybody.
#[test]
fn sockets_of_the_host_hear_nothing() {
    let code = r#"
import socket, struct
attempt("socket", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
probe("socket", socket.AF_UNIX, socket.SOCK_DGRAM, 0)

def address(path):
    return struct.pack("=H", socket.AF_UNIX) + path

names = b"/app/shared/stream\0", b"/app/shared/datagram\0", b"\0callgate-bait-" + _ck.encode()
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    try:
        left, right = socket.socketpair(socket.AF_UNIX, kind)
    except PermissionError:
        continue
    for name in map(address, names):
        probe("connect", left.fileno(), name, len(name))
        probe("bind", left.fileno(), name, len(name))
        probe("sendto", left.fileno(), b"hello", 5, 0, name, len(name))
        probe("sendmsg", left.fileno(), b"", 0)
"#;
    let mut attack = attack(code);
    let shared = attack.session().shared();
    let name = attack.session().folders.id.to_string();
    attack.spec.chat_key.clone_from(&name);
    let stream = UnixListener::bind(shared.join("stream")).unwrap();
    let datagram = UnixDatagram::bind(shared.join("datagram")).unwrap();
    for file in ["stream", "datagram"] {
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(shared.join(file), open).unwrap();
    }
    let abstract_name = SocketAddr::from_abstract_name(format!("callgate-bait-{name}")).unwrap();
    let by_name = UnixDatagram::bind_addr(&abstract_name).unwrap();

    let outcome = attack.run();
    outcome.stops(Stop::Finished);
    let stdout = &outcome.report.stdout;
    assert!(
        stdout.lines().all(|line| line.ends_with(" EPERM")),
        "{stdout}"
    );
    assert!(stdout.lines().count() >= 14, "{stdout}");
    stream.set_nonblocking(true).unwrap();
    assert_eq!(stream.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    for bait in [datagram, by_name] {
        bait.set_nonblocking(true).unwrap();
        assert_eq!(
            bait.recv(&mut [0; 8]).unwrap_err().kind(),
            ErrorKind::WouldBlock
        );
    }
}
