//! [`Handshake`]: between the process that becomes the program and the one that stays outside. What the
//! program's system calls are asked by is taken from it before the program begins.

use crate::{
    process,
    sys::{Step, failed},
};

/// Two pipes, each with its end for reading and its end for writing.
pub struct Handshake {
    told: [i32; 2],
    taken: [i32; 2],
}

impl Handshake {
    pub fn new() -> Step<Handshake> {
        Ok(Handshake {
            told: process::pipe()?,
            taken: process::pipe()?,
        })
    }

    /// By the one that becomes the program: which descriptor it is, and waits until it was taken.
    pub fn give(&self, descriptor: i32) -> Step<()> {
        process::close(self.told[0]);
        process::close(self.taken[1]);
        process::write(self.told[1], &descriptor.to_ne_bytes());
        if process::read(self.taken[0]).is_empty() {
            return Err(failed("handshake", "nobody guards the network"));
        }
        process::close(descriptor);
        Ok(())
    }

    /// By the one outside, if there is anything to be taken. Where that fails the program does not begin.
    pub fn take(self, take: impl FnOnce(i32) -> Step<()>) -> Step<()> {
        process::close(self.told[1]);
        process::close(self.taken[0]);
        let told = process::read(self.told[0]);
        let descriptor = told.first_chunk().map(|number| i32::from_ne_bytes(*number));
        let taken = descriptor.map_or(Ok(()), take);
        if taken.is_ok() {
            process::write(self.taken[1], b"taken");
        }
        process::close(self.told[0]);
        process::close(self.taken[1]);
        taken
    }
}
