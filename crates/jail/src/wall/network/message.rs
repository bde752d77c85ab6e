//! Messages that a program sends: copied out of its memory, addresses judged, and sent by us through its
//! own socket. A message is judged before the first is sent.

use super::{
    address::Address,
    notification::{Answer, Descriptor, Notification, number},
};

/// More than programs send at once; of a stream what goes beyond is left for the next time.
const LARGEST: usize = 8 << 20;
const MOST_PIECES: usize = 1024;
const LARGEST_CONTROL: usize = 64 << 10;
const LONGEST_NAME: usize = 128;

/// Sizes and places of what the kernel's structs hold, on machines with eight bytes to an address.
const HEADER: usize = 56;
const HEADER_AND_LENGTH: u64 = 64;
const CONTROL_HEADER: usize = 16;

/// Of what may come beside the bytes, what names no other receiver.
const HARMLESS: [(i32, i32); 7] = [
    (libc::IPPROTO_IP, libc::IP_TOS),
    (libc::IPPROTO_IP, libc::IP_TTL),
    (libc::IPPROTO_IP, libc::IP_PKTINFO),
    (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO),
    (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT),
    (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
    (libc::SOL_UDP, libc::UDP_SEGMENT),
];

struct Message {
    name: Vec<u8>,
    data: Vec<u8>,
    control: Vec<u8>,
    /// Named in the control, and to be kept until it is sent.
    _passed: Vec<Descriptor>,
    sent: usize,
    /// Where the program wants to read how much was sent.
    length_at: Option<u64>,
}

/// Messages on their way, as far as the socket takes them.
pub struct Sending {
    pub socket: Descriptor,
    messages: Vec<Message>,
    /// How many are sent.
    done: usize,
    flags: i32,
    /// Whether the program waits until the socket takes them.
    waits: bool,
    pub stream: bool,
}

impl Sending {
    /// All that a system call is about to send.
    pub fn read(notification: &Notification) -> Result<Sending, i32> {
        let argument = |index| notification.argument(index);
        let (messages, flags) = match notification.call() {
            libc::SYS_sendto => {
                let length = (argument(2) as usize).min(LARGEST);
                let message = Message {
                    name: name(notification, argument(4), argument(5) as u32)?,
                    data: notification.read(argument(1), length)?,
                    control: Vec::new(),
                    _passed: Vec::new(),
                    sent: 0,
                    length_at: None,
                };
                (vec![message], argument(3))
            }
            libc::SYS_sendmsg => (vec![message(notification, argument(1))?], argument(2)),
            _ => {
                let count = argument(2).min(MOST_PIECES as u64);
                let mut messages: Vec<Message> = Vec::new();
                let mut total = 0;
                for at in (0..count).map(|index| argument(1) + index * HEADER_AND_LENGTH) {
                    let mut next = message(notification, at)?;
                    total += next.data.len();
                    if total > LARGEST && !messages.is_empty() {
                        break;
                    }
                    next.length_at = Some(at + HEADER as u64);
                    messages.push(next);
                }
                (messages, argument(3))
            }
        };
        let socket = notification.descriptor(argument(0))?;
        let flags = flags as i32;
        if flags & libc::MSG_ZEROCOPY != 0 {
            // Ours is a copy: who asks for none is told, as where the kernel has no room, to do without.
            return Err(libc::ENOBUFS);
        }
        // SAFETY: integers only.
        let status = unsafe { libc::fcntl(socket.0, libc::F_GETFL) };
        let waits = flags & libc::MSG_DONTWAIT == 0 && status & libc::O_NONBLOCK == 0;
        let stream = is_stream(&socket);
        if !stream && messages.iter().any(|it| it.data.len() == LARGEST) {
            return Err(libc::EMSGSIZE);
        }
        Ok(Sending {
            messages,
            done: 0,
            flags: flags | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
            waits,
            stream,
            socket,
        })
    }

    pub fn addresses(&self) -> impl Iterator<Item = Address> {
        let named = self.messages.iter().filter(|it| !it.name.is_empty());
        named.map(|message| Address::parse(&message.name))
    }

    /// Sends what the socket takes now. `None` if the program waits for more.
    pub fn advance(&mut self) -> Option<Answer> {
        while let Some(message) = self.messages.get_mut(self.done) {
            match message.send(&self.socket, self.flags) {
                Ok(_) if !self.stream || message.sent == message.data.len() => self.done += 1,
                Ok(_) if self.waits => {}
                Err(libc::EAGAIN) if self.waits => return None,
                Err(error) if self.done == 0 && message.sent == 0 => return Some(Err(error)),
                // What was sent is told first; what went wrong comes up the next time.
                Ok(_) | Err(_) => break,
            }
        }
        Some(Ok(self.result()))
    }

    /// Bytes of the one message, or how many of the several have gone.
    fn result(&self) -> i64 {
        match self.messages.as_slice() {
            [only] if only.length_at.is_none() => only.sent as i64,
            _ => {
                let begun = self.messages.get(self.done).is_some_and(|it| it.sent > 0);
                self.done as i64 + i64::from(begun)
            }
        }
    }

    /// Tells the program how much of each was sent, where it wants to know.
    pub fn tell(&self, notification: &Notification) {
        for message in self.messages.iter().take(self.result() as usize) {
            if let Some(at) = message.length_at {
                // Memory that is gone is nobody's any more.
                let _ = notification.write(at, &(message.sent as u32).to_ne_bytes());
            }
        }
    }
}

impl Message {
    fn send(&mut self, socket: &Descriptor, flags: i32) -> Answer {
        let rest = self.data.get(self.sent..).unwrap_or_default();
        let mut vector = libc::iovec {
            iov_base: rest.as_ptr().cast_mut().cast(),
            iov_len: rest.len(),
        };
        // SAFETY: an all-zero msghdr is valid and empty.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = &mut vector;
        header.msg_iovlen = 1;
        if !self.name.is_empty() {
            header.msg_name = self.name.as_mut_ptr().cast();
            header.msg_namelen = self.name.len() as u32;
        }
        // What comes beside the bytes comes with the first of them.
        if self.sent == 0 && !self.control.is_empty() {
            header.msg_control = self.control.as_mut_ptr().cast();
            header.msg_controllen = self.control.len() as _;
        }
        // SAFETY: every pointer in it is live.
        let sent = number(unsafe { libc::sendmsg(socket.0, &header, flags) } as i64)?;
        self.sent += sent as usize;
        Ok(sent)
    }
}

/// Whether the kernel takes it in pieces.
pub fn is_stream(socket: &Descriptor) -> bool {
    let mut kind = 0i32;
    let mut length = size_of::<i32>() as libc::socklen_t;
    // SAFETY: a live integer and its size.
    let asked = unsafe {
        let kind: *mut i32 = &mut kind;
        libc::getsockopt(
            socket.0,
            libc::SOL_SOCKET,
            libc::SO_TYPE,
            kind.cast(),
            &mut length,
        )
    };
    asked == 0 && kind == libc::SOCK_STREAM
}

pub fn name(notification: &Notification, at: u64, length: u32) -> Result<Vec<u8>, i32> {
    match length as usize {
        _ if at == 0 => Ok(Vec::new()),
        length if length > LONGEST_NAME => Err(libc::EINVAL),
        length => notification.read(at, length),
    }
}

/// What a struct `msghdr` in the program's memory describes.
fn message(notification: &Notification, at: u64) -> Result<Message, i32> {
    let header = notification.read(at, HEADER)?;
    let word = |at: usize| header.get(at..).and_then(|it| it.first_chunk());
    let word = |at: usize| word(at).map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    let name = name(notification, word(0), word(8) as u32)?;
    let data = pieces(notification, word(16), word(24) as usize)?;
    let (control, passed) = control(notification, word(32), word(40) as usize)?;
    Ok(Message {
        name,
        data,
        control,
        _passed: passed,
        sent: 0,
        length_at: None,
    })
}

fn pieces(notification: &Notification, at: u64, count: usize) -> Result<Vec<u8>, i32> {
    if count > MOST_PIECES {
        return Err(libc::EMSGSIZE);
    }
    let vectors = notification.read(at, count * 16)?;
    let mut data = Vec::new();
    for vector in vectors.chunks_exact(16) {
        let (base, length) = vector.split_at(8);
        let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |it| u64::from_ne_bytes(*it));
        let length = (number(length) as usize).min(LARGEST - data.len());
        data.extend(notification.read(number(base), length)?);
    }
    Ok(data)
}

/// What comes beside the bytes: descriptors become ours, and little else is known.
fn control(
    notification: &Notification,
    at: u64,
    length: usize,
) -> Result<(Vec<u8>, Vec<Descriptor>), i32> {
    if at == 0 || length == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    if length > LARGEST_CONTROL {
        return Err(libc::ENOBUFS);
    }
    let mut control = notification.read(at, length)?;
    let mut passed = Vec::new();
    let mut from = 0;
    while let Some(header) = control.get(from..from + CONTROL_HEADER) {
        let word = |at: usize| header.get(at..).and_then(|it| it.first_chunk());
        let kind = |at: usize| word(at).map_or(0, |bytes| i32::from_ne_bytes(*bytes));
        let (level, kind) = (kind(8), kind(12));
        let length = header
            .first_chunk()
            .map_or(0, |it| usize::from_ne_bytes(*it));
        let end = from.saturating_add(length);
        if length < CONTROL_HEADER || end > control.len() {
            return Err(libc::EINVAL);
        }
        if (level, kind) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            let body = control.get_mut(from + CONTROL_HEADER..end);
            for place in body.unwrap_or_default().chunks_exact_mut(4) {
                let theirs = place.first_chunk().map_or(-1, |it| i32::from_ne_bytes(*it));
                let ours = notification.descriptor(theirs as u64)?;
                place.copy_from_slice(&ours.0.to_ne_bytes());
                passed.push(ours);
            }
        } else if !HARMLESS.contains(&(level, kind)) {
            return Err(libc::EPERM);
        }
        from = from.saturating_add(length.next_multiple_of(8));
    }
    Ok((control, passed))
}
