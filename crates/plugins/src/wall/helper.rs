//! The program `callgate-wall`, carried in our own: in memory, where nobody else can change it.

use std::{fs::File, io, io::Write, os::fd::AsRawFd};

use parking_lot::Mutex;
use rustix::{
    fs::{MemfdFlags, memfd_create},
    io::Errno,
};

const PROGRAM: &[u8] = include_bytes!(env!("CALLGATE_WALL"));

/// Held while it is made; there is one for the whole process, kept open as long as it lives.
static MADE: Mutex<Option<&'static File>> = Mutex::new(None);

pub(super) fn program() -> io::Result<&'static File> {
    let mut made = MADE.lock();
    if let Some(program) = *made {
        return Ok(program);
    }
    let name = "callgate-wall";
    let flags = MemfdFlags::CLOEXEC;
    let descriptor = match memfd_create(name, flags | MemfdFlags::EXEC) {
        // Older kernels do not know the flag, and need none.
        Err(Errno::INVAL) => memfd_create(name, flags),
        made => made,
    };
    let mut file = File::from(descriptor?);
    file.write_all(PROGRAM)?;
    // What is open for writing cannot be executed.
    let program = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    Ok(made.insert(Box::leak(Box::new(program))))
}
