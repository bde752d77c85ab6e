//! [`Child`]: one jailed process as the host holds it. Killed and reaped whatever happens to the
//! host's interest in it.

use std::{
    os::fd::{AsFd, AsRawFd, OwnedFd},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use rustix::process::{Signal, pidfd_send_signal};

use crate::{wait::Bell, wire::Event, zygote::Zygote};

pub(crate) struct Child {
    pub(crate) calls: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) exit: Arc<Exit>,
    pidfd: OwnedFd,
    /// Children end with their zygote, so each holds on to it.
    zygote: Arc<Zygote>,
}

/// How a child ended, filled in by the zygote's thread.
pub(crate) struct Exit {
    /// A mutex since two threads meet here once; held for a copy only.
    event: Mutex<Option<Event>>,
    pub(crate) bell: Arc<Bell>,
}

impl Exit {
    pub(crate) fn new() -> rustix::io::Result<Exit> {
        Ok(Exit {
            event: Mutex::new(None),
            bell: Arc::new(Bell::new()?),
        })
    }

    pub(crate) fn set(&self, event: Event) {
        *self.event.lock() = Some(event);
        self.bell.ring();
    }

    pub(crate) fn get(&self) -> Option<Event> {
        *self.event.lock()
    }
}

impl Child {
    pub(crate) fn new(
        (calls, output, pidfd): (OwnedFd, OwnedFd, OwnedFd),
        exit: Arc<Exit>,
        zygote: Arc<Zygote>,
    ) -> Self {
        Child {
            calls,
            output,
            exit,
            pidfd,
            zygote,
        }
    }

    pub(crate) fn kill(&self) {
        kill(&self.pidfd);
    }

    /// Holds the child still until the guard is dropped.
    pub(crate) fn hold(&self) -> PauseGuard<'_> {
        let _ = pidfd_send_signal(&self.pidfd, Signal::STOP);
        PauseGuard(&self.pidfd)
    }

    /// Address space that a child has before it does anything: libraries and the interpreter.
    pub(crate) fn base_memory(&self) -> u64 {
        self.zygote.base_memory(|| {
            let statm = format!("/proc/{}/statm", self.pid()?);
            let pages = std::fs::read_to_string(statm).ok()?;
            let pages: u64 = pages.split(' ').next()?.parse().ok()?;
            Some(pages * rustix::param::page_size() as u64)
        })
    }

    /// Memory that is this child's alone.
    pub(crate) fn private_memory(&self) -> Option<u64> {
        let rollup = format!("/proc/{}/smaps_rollup", self.pid()?);
        let rollup = std::fs::read_to_string(rollup).ok()?;
        let line = rollup
            .lines()
            .find(|line| line.starts_with("Private_Dirty:"))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes * 1024)
    }

    pub(crate) fn many_users(&self) -> bool {
        self.zygote.many_users
    }

    /// As the host sees it; `None` once the child was reaped.
    pub(crate) fn pid(&self) -> Option<i32> {
        let path = format!("/proc/self/fdinfo/{}", self.pidfd.as_fd().as_raw_fd());
        let info = std::fs::read_to_string(path).ok()?;
        let pid = info.lines().find_map(|line| line.strip_prefix("Pid:"))?;
        pid.trim().parse().ok().filter(|pid| *pid > 0)
    }
}

pub(crate) struct PauseGuard<'a>(&'a OwnedFd);

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(self.0, Signal::CONT);
    }
}

fn kill(pidfd: &OwnedFd) {
    // Fails only when it is dead already.
    let _ = pidfd_send_signal(pidfd, Signal::KILL);
}

/// How long a killed child may take to be reaped before the host stops waiting for its figures.
pub(crate) const REAP: Duration = Duration::from_secs(5);

impl Drop for Child {
    fn drop(&mut self) {
        if self.exit.get().is_none() {
            self.kill();
        }
    }
}
