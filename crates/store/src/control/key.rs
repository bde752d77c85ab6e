//! The key of the control socket: made anew by each owner and read from `DIR/control.key`, which only
//! the user's own commands can. A process that runs as the same user behind a wall of ours cannot,
//! so that its user id alone lets it do nothing.

use std::{
    fs::File,
    io::{self, Read, Write},
};

use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};

const FILE: &str = "control.key";

#[derive(Clone)]
pub(super) struct ControlKey(String);

impl ControlKey {
    /// Written before the owner listens: whoever has connected reads the key of that owner, or of a
    /// later one, when the connection is dead anyway.
    pub(super) fn make(directory: &File) -> io::Result<ControlKey> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let key = ControlKey(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let mut file = open(directory, flags)?;
        file.write_all(key.0.as_bytes())?;
        Ok(key)
    }

    pub(super) fn read(directory: &File) -> io::Result<ControlKey> {
        let mut key = String::new();
        open(directory, OFlags::RDONLY)?.read_to_string(&mut key)?;
        Ok(ControlKey(key))
    }

    /// Of one line, without its end.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Compared by digests, so that the time it takes tells nothing of the key.
    pub(super) fn is(&self, given: &[u8]) -> bool {
        Sha256::digest(given) == Sha256::digest(&self.0)
    }
}

fn open(directory: &File, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    Ok(rustix::fs::openat(directory, FILE, flags, mode)?.into())
}
