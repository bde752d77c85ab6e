//! [`Guard`]: a process that stays outside of all that is built here, without any power of its own, and
//! answers what the program may connect and send to. It is asked through a socket, and ends with whoever
//! holds the other end.

use crate::{
    network::{NetworkGuard, OpenAddresses, descriptor_of},
    process,
    sys::{self, Step, check, failed, prctl},
};

pub struct Guard {
    socket: i32,
}

const DONE: &[u8] = b"done";

impl Guard {
    /// Before anything is left behind: it must see all processes, and is to be seen by none in there.
    pub fn start(open: OpenAddresses) -> Step<Guard> {
        let mut ends = [-1; 2];
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        // SAFETY: a live array of two.
        let made = unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) };
        check(made.into(), "socketpair")?;
        let [socket, its] = ends;
        if process::fork()? == 0 {
            // SAFETY: integers only; the standard streams are somebody else's.
            unsafe { libc::dup2(its, 0) };
            process::close_from(1);
            sys::exit(i32::from(serve(0, open).is_err()));
        }
        process::close(its);
        Ok(Guard { socket })
    }

    /// Whose system calls it answers, by the descriptor that the program has for them.
    pub fn watch(&self, program: i32, descriptor: i32) -> Step<()> {
        self.ask(&format!("watch {program} {descriptor}"))
    }

    pub fn open(&self, address: &str) -> Step<()> {
        self.ask(&format!("open {address}"))
    }

    fn ask(&self, order: &str) -> Step<()> {
        process::write(self.socket, order.as_bytes());
        match process::read(self.socket).as_slice() {
            DONE => Ok(()),
            words => Err(failed("network", &String::from_utf8_lossy(words))),
        }
    }
}

/// Until nobody holds the other end any more.
fn serve(socket: i32, mut open: OpenAddresses) -> Step<()> {
    sys::set_capabilities(0)?;
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1, "no_new_privs")?;
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64, "pdeathsig")?;
    let mut network: Option<NetworkGuard> = None;
    loop {
        let descriptor = network.as_ref().map_or(-1, NetworkGuard::descriptor);
        let [ordered, asked] = process::wait([socket, descriptor]);
        if let (true, Some(network)) = (asked & libc::POLLIN != 0, &mut network) {
            network.serve(&open);
        }
        if ordered == 0 {
            continue;
        }
        let order = process::read(socket);
        if order.is_empty() {
            return Ok(());
        }
        let order = String::from_utf8_lossy(&order);
        let words: Vec<&str> = order.split(' ').collect();
        let done = match words.as_slice() {
            ["open", address] => open.add(address),
            ["watch", program, descriptor] => watch(program, descriptor).map(|listener| {
                network = Some(NetworkGuard::new(listener));
            }),
            _ => Err(failed("order", &order)),
        };
        match done {
            Ok(()) => process::write(socket, DONE),
            Err(failure) => process::write(socket, failure.to_string().as_bytes()),
        }
    }
}

fn watch(program: &str, descriptor: &str) -> Step<i32> {
    let number = |word: &str| word.parse().map_err(|_| failed("watch", word));
    descriptor_of(number(program)?, number(descriptor)?)
}
