//! System calls that wait for our answer, as the kernel hands them over. Whatever is read of a program
//! is copied first and judged as a copy: the program cannot change it any more.

use std::{io, mem::offset_of};

use crate::{
    process::close,
    sys::{Step, check},
};

/// A descriptor of ours.
pub struct Descriptor(pub i32);

impl Drop for Descriptor {
    fn drop(&mut self) {
        close(self.0);
    }
}

/// A number of the kernel's for what went wrong.
pub type Answer = Result<i64, i32>;

/// From which such system calls come.
#[derive(Clone, Copy)]
pub struct Listener(pub i32);

#[repr(C)]
#[derive(Clone, Copy)]
struct Data {
    number: i32,
    architecture: u32,
    instruction: u64,
    arguments: [u64; 6],
}

/// One that waits.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Notification {
    id: u64,
    pid: u32,
    flags: u32,
    data: Data,
}

#[repr(C)]
struct Response {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

const fn request(direction: u64, number: u64, size: usize) -> u64 {
    direction << 30 | (size as u64) << 16 | (b'!' as u64) << 8 | number
}
const RECEIVE: u64 = request(3, 0, size_of::<Notification>());
const SEND: u64 = request(3, 1, size_of::<Response>());
const IS_VALID: u64 = request(1, 2, size_of::<u64>());

impl Listener {
    /// The next, or none after all.
    pub fn next(self) -> Option<Notification> {
        // SAFETY: an all-zero notification is valid, and has to be all zero.
        let mut notification: Notification = unsafe { std::mem::zeroed() };
        // SAFETY: a live struct of the request's size.
        let received = unsafe { libc::ioctl(self.0, RECEIVE, &mut notification) };
        (received == 0).then_some(notification)
    }

    /// Does it still wait? Else whoever has its process id now may be somebody else.
    pub fn is_valid(self, notification: &Notification) -> bool {
        // SAFETY: a live integer of the request's size.
        unsafe { libc::ioctl(self.0, IS_VALID, &notification.id) == 0 }
    }

    /// One that is gone needs no answer any more.
    pub fn answer(self, notification: &Notification, answer: Answer) {
        let response = Response {
            id: notification.id,
            value: answer.unwrap_or(0),
            error: answer.err().map_or(0, |error| -error),
            flags: 0,
        };
        // SAFETY: a live struct of the request's size.
        unsafe { libc::ioctl(self.0, SEND, &response) };
    }
}

impl Notification {
    pub fn call(&self) -> i64 {
        self.data.number.into()
    }

    pub fn argument(&self, index: usize) -> u64 {
        self.data.arguments.get(index).copied().unwrap_or(0)
    }

    /// The program's descriptor of that number, for us too.
    pub fn descriptor(&self, number: u64) -> Result<Descriptor, i32> {
        let process = open_process(self.pid as i32)?;
        take(&process, number as i32)
    }

    pub fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, i32> {
        let mut bytes = vec![0; length];
        if length > 0 {
            let pointer = bytes.as_mut_ptr();
            self.transfer(libc::SYS_process_vm_readv, pointer, address, length)?;
        }
        Ok(bytes)
    }

    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), i32> {
        let pointer = bytes.as_ptr().cast_mut();
        self.transfer(libc::SYS_process_vm_writev, pointer, address, bytes.len())
    }

    fn transfer(&self, call: i64, ours: *mut u8, theirs: u64, length: usize) -> Result<(), i32> {
        let vector = |base: *mut libc::c_void| libc::iovec {
            iov_base: base,
            iov_len: length,
        };
        let (local, remote) = (vector(ours.cast()), vector(theirs as *mut libc::c_void));
        // SAFETY: our side is a live buffer of this length; theirs is checked by the kernel.
        let moved =
            unsafe { libc::syscall(call, self.pid, &local, 1usize, &remote, 1usize, 0usize) };
        if moved == length as i64 {
            Ok(())
        } else {
            Err(libc::EFAULT)
        }
    }
}

/// Of a thread where the kernel can, else of the process that it belongs to.
fn open_process(pid: i32) -> Result<Descriptor, i32> {
    const OF_THREAD: i32 = libc::O_EXCL;
    // SAFETY: integers only.
    let open = |pid: i32, flags: i32| unsafe { libc::syscall(libc::SYS_pidfd_open, pid, flags) };
    let opened = match open(pid, OF_THREAD) {
        -1 => open(leader(pid), 0),
        opened => opened,
    };
    number(opened).map(|descriptor| Descriptor(descriptor as i32))
}

fn leader(thread: i32) -> i32 {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status"));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    line.and_then(|number| number.trim().parse().ok())
        .unwrap_or(thread)
}

fn take(process: &Descriptor, descriptor: i32) -> Result<Descriptor, i32> {
    // SAFETY: integers only.
    let taken = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.0, descriptor, 0) };
    number(taken).map(|taken| Descriptor(taken as i32))
}

/// A child's descriptor, taken by its parent.
pub fn descriptor_of(child: i32, descriptor: i32) -> Step<i32> {
    // SAFETY: integers only.
    let process = unsafe { libc::syscall(libc::SYS_pidfd_open, child, 0) };
    let process = Descriptor(check(process, "pidfd_open")? as i32);
    // SAFETY: integers only.
    let taken = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.0, descriptor, 0) };
    check(taken, "pidfd_getfd").map(|taken| taken as i32)
}

/// A result of the kernel's, or its number for what went wrong.
pub fn number(result: i64) -> Answer {
    if result >= 0 {
        return Ok(result);
    }
    Err(io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EIO))
}

const _: () = assert!(size_of::<Notification>() == 80 && size_of::<Response>() == 24);
const _: () = assert!(offset_of!(Notification, data) == 16);
