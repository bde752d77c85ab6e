//! [`NetworkGuard`]: what programs behind the wall want to connect and send to. The kernel holds each such
//! system call until we have answered it. We copy what it is about, judge the copy, and do it ourselves
//! through the program's own socket: what is judged is what is done. Nothing else is looked at: bytes on a
//! connection that stands pass without us.

mod address;
mod listeners;
mod message;
mod notification;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

pub use address::OpenAddresses;
use address::{Address, is_here};
use listeners::OwnListeners;
use message::{Sending, is_stream, name};
pub use notification::descriptor_of;
use notification::{Answer, Descriptor, Listener, Notification, number};

/// As a firewall that lets nothing out.
const CLOSED: i32 = libc::EPERM;

/// Calls that take long, each with a thread of its own.
const MOST_WAITING: usize = 256;
/// How often it is seen whether whoever waits is still there.
const LOOK: i32 = 500;

pub struct NetworkGuard {
    listener: Listener,
    own: OwnListeners,
    waiting: Arc<AtomicUsize>,
}

impl NetworkGuard {
    pub fn new(listener: i32) -> Self {
        NetworkGuard {
            listener: Listener(listener),
            own: OwnListeners::default(),
            waiting: Arc::default(),
        }
    }

    pub fn descriptor(&self) -> i32 {
        self.listener.0
    }

    /// Answers a system call, or sees to it that it will be.
    pub fn serve(&mut self, open: &OpenAddresses) {
        let Some(notification) = self.listener.next() else {
            return;
        };
        let answer = match notification.call() {
            libc::SYS_connect => self.connect(&notification, open),
            libc::SYS_listen => self.listen(&notification),
            libc::SYS_sendto | libc::SYS_sendmsg | libc::SYS_sendmmsg => {
                self.send(&notification, open)
            }
            _ => Some(Err(libc::ENOSYS)),
        };
        if let Some(answer) = answer {
            self.listener.answer(&notification, answer);
        }
    }

    fn listen(&mut self, notification: &Notification) -> Option<Answer> {
        let socket = match self.given(notification, |it| it.descriptor(it.argument(0))) {
            Ok(socket) => socket,
            Err(error) => return Some(Err(error)),
        };
        Some(self.own.listen(&socket, notification.argument(1) as i32))
    }

    fn connect(&self, notification: &Notification, open: &OpenAddresses) -> Option<Answer> {
        let given = self.given(notification, |it| {
            let address = name(it, it.argument(1), it.argument(2) as u32)?;
            Ok((it.descriptor(it.argument(0))?, address))
        });
        let (socket, address) = match given {
            Ok(given) => given,
            Err(error) => return Some(Err(error)),
        };
        let to = Address::parse(&address);
        if !matches!(to, Address::None) && !self.may_send(&to, is_stream(&socket), open) {
            return Some(Err(CLOSED));
        }
        // SAFETY: integers only.
        let status = unsafe { libc::fcntl(socket.0, libc::F_GETFL) };
        if status & libc::O_NONBLOCK != 0 || !is_stream(&socket) {
            return Some(connect(&socket, &address));
        }
        self.in_a_thread(notification, move |_, _| Some(connect(&socket, &address)))
    }

    fn send(&self, notification: &Notification, open: &OpenAddresses) -> Option<Answer> {
        let mut sending = match self.given(notification, Sending::read) {
            Ok(sending) => sending,
            Err(error) => return Some(Err(error)),
        };
        // On a stream a name counts only where the connection begins with it.
        let closed = |to: Address| !self.may_send(&to, sending.stream, open);
        if sending.addresses().any(closed) {
            return Some(Err(CLOSED));
        }
        if let Some(answer) = sending.advance() {
            sending.tell(notification);
            return Some(answer);
        }
        self.in_a_thread(notification, move |listener, notification| {
            while listener.is_valid(notification) {
                if let Some(answer) = sending.advance() {
                    sending.tell(notification);
                    return Some(answer);
                }
                until_writable(&sending.socket);
            }
            None
        })
    }

    /// What is read of the program, if it is still the one that asked.
    fn given<T>(
        &self,
        notification: &Notification,
        read: impl FnOnce(&Notification) -> Result<T, i32>,
    ) -> Result<T, i32> {
        let given = read(notification)?;
        if self.listener.is_valid(notification) {
            Ok(given)
        } else {
            Err(libc::ESRCH)
        }
    }

    fn may_send(&self, address: &Address, stream: bool, open: &OpenAddresses) -> bool {
        match address {
            Address::Internet(address) => {
                let own = || stream && is_here(address.ip()) && self.own.are_all_at(address.port());
                open.hold(*address) || own()
            }
            Address::Netlink => true,
            // Of no family some sockets take the address that follows all the same.
            Address::None | Address::Short | Address::Other => false,
        }
    }

    /// Does what may take long; signals that are no end wait for it.
    fn in_a_thread(
        &self,
        notification: &Notification,
        act: impl FnOnce(Listener, &Notification) -> Option<Answer> + Send + 'static,
    ) -> Option<Answer> {
        if self.waiting.fetch_add(1, Relaxed) >= MOST_WAITING {
            self.waiting.fetch_sub(1, Relaxed);
            return Some(Err(libc::EAGAIN));
        }
        let (listener, notification, waiting) =
            (self.listener, *notification, self.waiting.clone());
        let begun = thread::Builder::new().spawn(move || {
            if let Some(answer) = act(listener, &notification) {
                listener.answer(&notification, answer);
            }
            waiting.fetch_sub(1, Relaxed);
        });
        begun.is_err().then(|| {
            self.waiting.fetch_sub(1, Relaxed);
            Err(libc::EAGAIN)
        })
    }
}

fn connect(socket: &Descriptor, address: &[u8]) -> Answer {
    // SAFETY: a live buffer and its length.
    number(unsafe { libc::connect(socket.0, address.as_ptr().cast(), address.len() as u32) }.into())
}

fn until_writable(socket: &Descriptor) {
    let mut polled = libc::pollfd {
        fd: socket.0,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: a live struct, of which there is one.
    unsafe { libc::poll(&mut polled, 1, LOOK) };
}
