//! Servers that programs behind the wall have opened themselves: those may be reached by them at this
//! machine's own addresses. One is told by the kernel's number for its socket together with its address,
//! which nobody else can have.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use super::{
    address::Address,
    notification::{Answer, Descriptor, number},
};

/// Where the kernel lists sockets.
const LISTS: [&str; 2] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
const LISTENS: &str = "0A";

#[derive(Default)]
pub struct OwnListeners(Vec<Listening>);

#[derive(Clone, Copy, PartialEq)]
struct Listening {
    at: SocketAddr,
    socket: u64,
}

impl OwnListeners {
    /// As the program would, and noted.
    pub fn listen(&mut self, socket: &Descriptor, backlog: i32) -> Answer {
        // SAFETY: integers only.
        let answer = number(unsafe { libc::listen(socket.0, backlog) }.into())?;
        if let Some(listening) = Listening::of(socket) {
            let open = listeners();
            self.0.retain(|known| open.contains(known));
            self.0.push(listening);
        }
        Ok(answer)
    }

    /// Is whoever listens at this port, by whatever address, one of these?
    pub fn are_all_at(&self, port: u16) -> bool {
        let open = listeners();
        let mut there = open.iter().filter(|it| it.at.port() == port).peekable();
        there.peek().is_some() && there.all(|it| self.0.contains(it))
    }
}

impl Listening {
    fn of(socket: &Descriptor) -> Option<Listening> {
        // SAFETY: all-zero structs are valid, and are written by the calls.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        let mut address = [0u8; 128];
        let mut length = address.len() as libc::socklen_t;
        // SAFETY: live buffers with their sizes.
        let known = unsafe {
            libc::fstat(socket.0, &mut status) == 0
                && libc::getsockname(socket.0, address.as_mut_ptr().cast(), &mut length) == 0
        };
        match Address::parse(address.get(..length as usize)?) {
            Address::Internet(at) if known => Some(Listening {
                at,
                socket: status.st_ino,
            }),
            _ => None,
        }
    }

    /// A line of the kernel's lists.
    fn parse(line: &str) -> Option<Listening> {
        let mut columns = line.split_whitespace().skip(1);
        let at = columns.next()?;
        let state = columns.nth(1)?;
        let socket = columns.nth(5)?.parse().ok()?;
        let (ip, port) = at.split_once(':')?;
        let word = |at: usize| u32::from_str_radix(ip.get(at..at + 8)?, 16).ok();
        let ip = match ip.len() {
            8 => IpAddr::V4(Ipv4Addr::from(word(0)?.to_ne_bytes())),
            _ => {
                let mut bytes = [0; 16];
                for (at, chunk) in bytes.chunks_exact_mut(4).enumerate() {
                    chunk.copy_from_slice(&word(at * 8)?.to_ne_bytes());
                }
                IpAddr::V6(Ipv6Addr::from(bytes))
            }
        };
        let at = SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?);
        (state == LISTENS).then_some(Listening { at, socket })
    }
}

fn listeners() -> Vec<Listening> {
    let lists = LISTS.map(|list| fs::read_to_string(list).unwrap_or_default());
    let lines = lists.iter().flat_map(|list| list.lines());
    lines.filter_map(Listening::parse).collect()
}
