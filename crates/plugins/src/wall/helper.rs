//! The program `callgate-wall`, carried in our own: in memory, where nobody else can change it.

use std::{fs::File, io, io::Write, os::fd::AsRawFd, sync::OnceLock};

use rustix::{
    fs::{MemfdFlags, memfd_create},
    io::Errno,
};

const PROGRAM: &[u8] = include_bytes!(env!("CALLGATE_WALL"));

/// Made when it is first needed, and open from then on.
static MADE: OnceLock<File> = OnceLock::new();

pub(super) fn program() -> io::Result<&'static File> {
    if let Some(program) = MADE.get() {
        return Ok(program);
    }
    let made = make()?;
    Ok(MADE.get_or_init(|| made))
}

fn make() -> io::Result<File> {
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
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
