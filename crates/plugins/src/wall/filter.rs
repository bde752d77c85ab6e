//! Which system calls are refused behind the wall. A list of what is refused, not of what is allowed:
//! plugins bring native code of every kind. Files are the mounts' part; this is what those do not see:
//! sockets without a network address, and what administers the machine.

use std::collections::BTreeMap;

use libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, EPERM, IPPROTO_ICMP, IPPROTO_ICMPV6, IPPROTO_IP,
    IPPROTO_IPV6, IPPROTO_MPTCP, IPPROTO_TCP, IPPROTO_UDP, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_STREAM,
    SYS_add_key, SYS_bpf, SYS_connect, SYS_delete_module, SYS_finit_module, SYS_fsconfig,
    SYS_fsmount, SYS_fsopen, SYS_fspick, SYS_init_module, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_io_uring_setup, SYS_kexec_file_load, SYS_kexec_load, SYS_keyctl,
    SYS_listen, SYS_mount, SYS_mount_setattr, SYS_move_mount, SYS_open_by_handle_at, SYS_open_tree,
    SYS_perf_event_open, SYS_pivot_root, SYS_reboot, SYS_request_key, SYS_sendmmsg, SYS_sendmsg,
    SYS_sendto, SYS_setns, SYS_setsockopt, SYS_socket, SYS_socketpair, SYS_swapoff, SYS_swapon,
    SYS_umount2,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp as Is,
    SeccompCondition as Condition, SeccompFilter, SeccompRule, sock_filter,
};

/// Refused with any arguments. Requests in a ring are not seen by a filter, so there is no ring.
const REFUSED: [i64; 28] = [
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_mount,
    SYS_umount2,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_pivot_root,
    SYS_setns,
    SYS_open_by_handle_at,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
];

/// The network, and what the C library asks the kernel about it.
const FAMILIES: [i32; 3] = [AF_INET, AF_INET6, AF_NETLINK];
/// Of the internet's, those that name their receivers only where they connect and send; others do so by
/// options too.
const INTERNET: [i32; 2] = [AF_INET, AF_INET6];
const KINDS: [i32; 2] = [SOCK_STREAM, SOCK_DGRAM];
const PROTOCOLS: [i32; 6] = [
    IPPROTO_IP,
    IPPROTO_TCP,
    IPPROTO_UDP,
    IPPROTO_ICMP,
    IPPROTO_ICMPV6,
    IPPROTO_MPTCP,
];
/// Options by which packets go by way of somebody else.
const DETOURS: [(i32, i32); 4] = [
    (IPPROTO_IP, libc::IP_OPTIONS),
    (IPPROTO_IPV6, libc::IPV6_RTHDR),
    (IPPROTO_IPV6, libc::IPV6_2292RTHDR),
    (IPPROTO_IPV6, libc::IPV6_2292PKTOPTIONS),
];
/// A pair of these leads to its other end alone; a datagram socket can be sent to any address.
const PAIRS: [i32; 2] = [SOCK_STREAM, SOCK_SEQPACKET];
const TYPES: u64 = 0xf;

/// The programs, each in hexadecimal. Who has a network of its own has no sockets but its own either,
/// and may make any.
pub(super) fn programs(own_network: bool) -> Result<Vec<String>, BackendError> {
    let refusals = refusals(own_network)?;
    Ok(vec![hexadecimal(refusals), hexadecimal(other_numbers())])
}

fn refusals(own_network: bool) -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    rules.extend(REFUSED.map(|number| (number, Vec::new())));
    if !own_network {
        rules.extend(sockets()?);
    }
    let refused = SeccompAction::Errno(EPERM as u32);
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture)?.try_into()
}

/// What is refused of making sockets.
fn sockets() -> Result<[(i64, Vec<SeccompRule>); 3], BackendError> {
    let other_family = FAMILIES.map(|family| Condition::new(0, Dword, Is::Ne, family as u64));
    let other_family = other_family.into_iter().collect::<Result<_, _>>()?;
    let mut refused = vec![SeccompRule::new(other_family)?];
    for family in INTERNET {
        let of_family = Condition::new(0, Dword, Is::Eq, family as u64)?;
        for other_kind in others(KINDS)? {
            refused.push(SeccompRule::new(vec![of_family.clone(), other_kind])?);
        }
        let other_protocol =
            PROTOCOLS.map(|protocol| Condition::new(2, Dword, Is::Ne, protocol as u64));
        let mut conditions = other_protocol.into_iter().collect::<Result<Vec<_>, _>>()?;
        conditions.push(of_family);
        refused.push(SeccompRule::new(conditions)?);
    }
    let other_pair = Condition::new(0, Dword, Is::Ne, AF_UNIX as u64)?;
    let mut pairs = vec![SeccompRule::new(vec![other_pair])?];
    for other_kind in others(PAIRS)? {
        pairs.push(SeccompRule::new(vec![other_kind])?);
    }
    let mut detours = Vec::new();
    for (level, option) in DETOURS {
        let of_level = Condition::new(1, Dword, Is::Eq, level as u64)?;
        let of_option = Condition::new(2, Dword, Is::Eq, option as u64)?;
        detours.push(SeccompRule::new(vec![of_level, of_option])?);
    }
    Ok([
        (SYS_socket, refused),
        (SYS_socketpair, pairs),
        (SYS_setsockopt, detours),
    ])
}

/// Every kind of socket but these.
fn others(kinds: [i32; 2]) -> Result<Vec<Condition>, BackendError> {
    let others = (0..=TYPES).filter(|kind| kinds.iter().all(|known| *known as u64 != *kind));
    others
        .map(|kind| Condition::new(1, Dword, Is::MaskedEq(TYPES), kind))
        .collect()
}

/// Has `callgate-wall` asked about whatever connects, listens or sends to an address. (Of a call that
/// sends, the address is its fifth argument; of those that take structs, only memory knows.)
pub(super) fn guard() -> String {
    const LOAD: u16 = 0x20;
    const EQUAL: u16 = 0x15;
    const ANSWER: u16 = 0x06;
    const LOW_HALF: u32 = 48;
    const HIGH_HALF: u32 = 52;
    const ALLOWED: u32 = 0x7fff_0000;
    const ASKED: u32 = 0x7fc0_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let is = |call: i64, jt, jf| step(EQUAL, jt, jf, call as u32);
    let program = vec![
        step(LOAD, 0, 0, 0),
        is(SYS_connect, 9, 0),
        is(SYS_listen, 8, 0),
        is(SYS_sendmsg, 7, 0),
        is(SYS_sendmmsg, 6, 0),
        is(SYS_sendto, 0, 4),
        step(LOAD, 0, 0, LOW_HALF),
        step(EQUAL, 0, 3, 0),
        step(LOAD, 0, 0, HIGH_HALF),
        step(EQUAL, 0, 1, 0),
        step(ANSWER, 0, 0, ALLOWED),
        step(ANSWER, 0, 0, ASKED),
    ];
    hexadecimal(program)
}

/// On x86-64 every call has a second number, which the filter above does not know. No program of
/// today uses them. (Calls of another architecture end the process: the filter above sees to it.)
fn other_numbers() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const AT_LEAST: u16 = 0x35;
    const ANSWER: u16 = 0x06;
    const SECOND_NUMBERS: u32 = 0x4000_0000;
    const ALLOWED: u32 = 0x7fff_0000;
    const NOT_THERE: u32 = 0x0005_0000 | libc::ENOSYS as u32;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(LOAD_NUMBER, 0, 0, 0),
        step(AT_LEAST, 0, 1, SECOND_NUMBERS),
        step(ANSWER, 0, 0, NOT_THERE),
        step(ANSWER, 0, 0, ALLOWED),
    ]
}

fn hexadecimal(program: BpfProgram) -> String {
    let bytes = program.into_iter().flat_map(|step| {
        let mut bytes = step.code.to_ne_bytes().to_vec();
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_ne_bytes());
        bytes
    });
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
