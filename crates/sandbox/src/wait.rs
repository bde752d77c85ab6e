//! [`Bell`]: wakes a run's thread out of its poll. Rung by the future of a host call, by the end
//! of the child and by cancellation, each from another thread.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::atomic::{AtomicBool, Ordering},
    task::Wake,
};

use rustix::event::{EventfdFlags, eventfd};

pub(crate) struct Bell {
    /// For a thread asleep in poll.
    event: OwnedFd,
    /// For a thread that spins: cheaper to look at than the descriptor.
    rung: AtomicBool,
}

impl Bell {
    pub(crate) fn new() -> rustix::io::Result<Bell> {
        Ok(Bell {
            event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            rung: AtomicBool::new(false),
        })
    }

    pub(crate) fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        // Fails only when the counter is full, which is rung enough.
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
    }

    pub(crate) fn is_rung(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }

    /// Quiet again; true if it was rung since the last time.
    pub(crate) fn hush(&self) -> bool {
        if !self.rung.swap(false, Ordering::AcqRel) {
            return false;
        }
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
        true
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Wake for Bell {
    fn wake(self: std::sync::Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &std::sync::Arc<Self>) {
        self.ring();
    }
}
