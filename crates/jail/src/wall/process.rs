//! Processes, their descriptors and signals: system calls with their errors named.

use crate::sys::{self, Step, check, failed, prctl};

/// Everything from this descriptor on is somebody else's.
pub fn close_from(first: u32) {
    // SAFETY: integers only; nothing above the standard streams is in use yet.
    unsafe { libc::close_range(first, u32::MAX, 0) };
}

/// As it is called in lists of processes: it was started by the number of a descriptor.
pub fn take_name() {
    // SAFETY: a live NUL-terminated string.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"callgate-wall".as_ptr()) };
}

/// Whoever cannot be told any more is gone.
pub fn write(descriptor: i32, text: &[u8]) {
    // SAFETY: a live buffer and its length.
    unsafe { libc::write(descriptor, text.as_ptr().cast(), text.len()) };
}

/// 0 in the child.
pub fn fork() -> Step<i32> {
    // SAFETY: this process has one thread.
    check(unsafe { libc::fork() }.into(), "fork").map(|pid| pid as i32)
}

/// The status of a child that has ended, or `None` while it runs.
pub fn ended(pid: i32, wait: bool) -> Option<i32> {
    let mut status = 0;
    let flags = if wait { 0 } else { libc::WNOHANG };
    // SAFETY: a live integer.
    let found = unsafe { libc::waitpid(pid, &mut status, flags) };
    (found == pid).then_some(status)
}

pub fn kill(pid: i32, signal: i32) {
    // SAFETY: integers only; `pid` is a child of ours that was not waited for.
    unsafe { libc::kill(pid, signal) };
}

/// A pipe's ends, for reading and for writing.
pub fn pipe() -> Step<[i32; 2]> {
    let mut ends = [-1; 2];
    // SAFETY: a live array of two.
    let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    check(made.into(), "pipe")?;
    Ok(ends)
}

pub fn close(descriptor: i32) {
    // SAFETY: the descriptor is ours and not used again.
    unsafe { libc::close(descriptor) };
}

/// What comes before the end; empty if it is nothing.
pub fn read(descriptor: i32) -> Vec<u8> {
    let mut buffer = vec![0; 16 << 10];
    // SAFETY: a live buffer and its length.
    let read = unsafe { libc::read(descriptor, buffer.as_mut_ptr().cast(), buffer.len()) };
    buffer.truncate(usize::try_from(read).unwrap_or(0));
    buffer
}

/// Which of the descriptors has something to read, or has ended, as the kernel puts it.
pub fn wait(descriptors: [i32; 2]) -> [i16; 2] {
    let mut polled = descriptors.map(|descriptor| libc::pollfd {
        fd: descriptor,
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: a live array and its length.
    unsafe { libc::poll(polled.as_mut_ptr(), 2, -1) };
    polled.map(|polled| polled.revents)
}

/// The first process of a pid namespace: orphans become its children.
pub struct Init {
    pub pid: i32,
    pidfd: i32,
}

const IN_PLACE: &[u8] = b"in place";

/// Starts it in a mount namespace of its own, and returns when it has entered its place there. It does
/// nothing afterwards but be there: with it everything in its namespace ends.
pub fn init(enter: impl FnOnce() -> Step<()>) -> Step<Init> {
    let [told, tell] = pipe()?;
    let flags = libc::CLONE_NEWNS | libc::CLONE_PIDFD | libc::SIGCHLD;
    let mut pidfd: i32 = -1;
    // SAFETY: a fork by another name, of a process with one thread.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone,
            flags as usize,
            0usize,
            &mut pidfd as *mut i32,
            0usize,
            0usize,
        )
    };
    let pid = check(pid, "clone")? as i32;
    if pid == 0 {
        if let Err(failure) = enter().and_then(|()| rest()) {
            write(tell, failure.to_string().as_bytes());
            sys::exit(1);
        }
        write(tell, IN_PLACE);
        close_from(0);
        loop {
            // SAFETY: no arguments.
            unsafe { libc::pause() };
        }
    }
    close(tell);
    let words = read(told);
    close(told);
    match words.as_slice() {
        IN_PLACE => Ok(Init { pid, pidfd }),
        words => Err(failed("root", &String::from_utf8_lossy(words))),
    }
}

fn rest() -> Step<()> {
    // Nobody's children are waited for by the kernel itself.
    // SAFETY: integers only.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    sys::set_capabilities(0)?;
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64, "pdeathsig")
}

impl Init {
    /// Moves the calling process to its mounts.
    pub fn join(&self) -> Step<()> {
        // SAFETY: integers only.
        let joined = unsafe { libc::setns(self.pidfd, libc::CLONE_NEWNS) };
        check(joined.into(), "setns").map(drop)
    }
}

/// The signals that are waited for instead of received.
pub struct Signals {
    pub descriptor: i32,
    before: libc::sigset_t,
}

impl Signals {
    pub fn blocked() -> Step<Signals> {
        // SAFETY: all-zero sets are valid, and are written by the calls.
        let (mut set, mut before): (libc::sigset_t, libc::sigset_t) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        // SAFETY: live sets.
        let descriptor = unsafe {
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGCHLD);
            libc::sigaddset(&mut set, libc::SIGUSR1);
            libc::sigprocmask(libc::SIG_BLOCK, &set, &mut before);
            libc::signalfd(-1, &set, libc::SFD_CLOEXEC)
        };
        let descriptor = check(descriptor.into(), "signalfd")? as i32;
        Ok(Signals { descriptor, before })
    }

    /// As it was before, for another program.
    pub fn restore(&self) {
        // SAFETY: a live set; Rust's runtime has ignored the signal of a broken pipe.
        unsafe {
            libc::sigprocmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut());
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        }
    }

    /// Has this one come, among all that have?
    pub fn bring(&self, signal: i32) -> bool {
        let read = read(self.descriptor);
        let came = read.chunks(size_of::<libc::signalfd_siginfo>());
        let numbers = came.filter_map(|it| Some(i32::from_ne_bytes(*it.first_chunk()?)));
        numbers.into_iter().any(|number| number == signal)
    }
}

/// Ends as a child ended: with its code, or by its signal.
pub fn end_as(status: i32) -> ! {
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        let _ = sys::limit(libc::RLIMIT_CORE, 0, "core limit");
        // SAFETY: integers only.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        sys::exit(128 + signal);
    }
    sys::exit(libc::WEXITSTATUS(status))
}
