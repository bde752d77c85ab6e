//! What the child says and is answered. Every read and every write is non-blocking, and no queue grows
//! at the child's will.

use std::{
    task::{Context, Poll},
    time::{Duration, Instant},
};

use callgate_contract::{CodeReply, Stop};
use rustix::{
    io::Errno,
    net::{RecvFlags, SendFlags, recv, send},
};

use super::{ActiveRun, PendingAnswer};
use crate::{
    protocol::{self, GuestMessage},
    verdict::RunVerdict,
    wire::LEASED,
};

/// Once the run is to end, the code may unwind for this long.
const UNWIND: Duration = Duration::from_secs(1);
/// Once it said that it is done, it may take this long to be gone.
const LINGER: Duration = Duration::from_millis(100);

impl ActiveRun<'_> {
    /// Sends what the child is owed, as far as it takes it.
    pub(super) fn flush(&mut self) {
        while self.calls_open && !self.outgoing.is_empty() {
            match send(&self.child.calls, &self.outgoing, SendFlags::NOSIGNAL) {
                Ok(sent) => drop(self.outgoing.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.hang_up(),
            }
        }
    }

    pub(super) fn outgoing_is_due(&self) -> bool {
        self.calls_open && self.answered && !self.outgoing.is_empty()
    }

    /// A child that owes us reads is not read from: no queue grows at its will.
    pub(super) fn wants_frames(&self) -> bool {
        self.calls_open && self.outgoing.is_empty() && self.pending.is_none() && self.done.is_none()
    }

    pub(super) fn read_frames(&mut self) {
        while self.wants_frames() {
            let said = match self.reader.next_frame() {
                Ok(Some(frame)) => protocol::read(frame, self.calls + 1).map_err(|e| e.to_string()),
                Ok(None) => {
                    if !self.receive() {
                        return;
                    }
                    continue;
                }
                Err(error) => Err(error.to_string()),
            };
            match said {
                Ok(said) => self.hear(said),
                Err(reason) => self.stop(Stop::Killed, reason),
            }
        }
    }

    /// How the code said it ended, if that lies unread: it came since the last look, or while a
    /// thread of the code still waited for an answer. Calls before it are not made, for nobody is
    /// left to be answered.
    pub(super) fn read_last_word(&mut self) {
        let mut unmade = 0;
        while self.done.is_none() {
            let expected = self.calls + unmade + 1;
            let said = match self.reader.next_frame() {
                Ok(Some(frame)) => protocol::read(frame, expected).map_err(|e| e.to_string()),
                Ok(None) => {
                    if !self.receive() {
                        return;
                    }
                    continue;
                }
                Err(error) => Err(error.to_string()),
            };
            match said {
                Ok(GuestMessage::Done(done)) => self.done = Some(done),
                Ok(GuestMessage::Call(_) | GuestMessage::BadCall(_)) => unmade += 1,
                Err(reason) => return self.stop(Stop::Killed, reason),
            }
        }
    }

    /// Reads what is there; false when that is nothing.
    pub(super) fn receive(&mut self) -> bool {
        let mut leased = [0];
        let buffer = if self.leased {
            self.reader.spare()
        } else {
            &mut leased
        };
        match recv(&self.child.calls, buffer, RecvFlags::DONTWAIT) {
            Ok((0, _)) => self.hang_up(),
            Ok(_) if !self.leased => {
                self.leased = leased == [LEASED];
                return true;
            }
            Ok((received, _)) => {
                self.reader.filled(received);
                return true;
            }
            Err(Errno::INTR) => return true,
            Err(Errno::AGAIN) => {}
            Err(_) => self.hang_up(),
        }
        false
    }

    /// The child closed its socket: it is ending, or has made itself unable to.
    fn hang_up(&mut self) {
        self.calls_open = false;
        self.outgoing.clear();
        self.end_within(LINGER);
    }

    fn hear(&mut self, said: GuestMessage) {
        match said {
            GuestMessage::Done(done) => {
                self.done = Some(done);
                self.end_within(LINGER);
            }
            // Nobody is left to be answered.
            GuestMessage::Call(_) | GuestMessage::BadCall(_) if self.child.exit.get().is_some() => {
                self.calls_open = false;
            }
            GuestMessage::Call(_) | GuestMessage::BadCall(_) if self.must_end.is_some() => {
                // It was told to end; being told again is all it gets.
                self.calls += 1;
                self.answer(&CodeReply::End(Stop::Finished));
            }
            GuestMessage::Call(_) | GuestMessage::BadCall(_) if self.calls >= self.limits.calls => {
                let reason = format!("more than {} calls", self.limits.calls);
                self.stop(Stop::Calls, reason);
            }
            GuestMessage::BadCall(reason) => {
                self.calls += 1;
                self.answer(&CodeReply::Error(reason));
            }
            GuestMessage::Call(call) => {
                self.calls += 1;
                self.pending = Some(PendingAnswer {
                    answer: (self.host)(call),
                    since: Instant::now(),
                });
                // The first poll is now, whoever rang before.
                self.child.exit.bell.ring();
            }
        }
    }

    pub(super) fn poll_answer(&mut self) {
        let Some(pending) = &mut self.pending else {
            return;
        };
        if !self.child.exit.bell.hush() {
            return;
        }
        let mut context = Context::from_waker(&self.waker);
        match pending.answer.as_mut().poll(&mut context) {
            Poll::Ready(reply) => {
                self.in_host += pending.since.elapsed();
                self.pending = None;
                if self.slot.is_none() && !self.killed {
                    self.slot = Some(self.slots.take());
                }
                self.answer(&reply);
            }
            Poll::Pending => self.slot = None,
        }
    }

    fn answer(&mut self, reply: &CodeReply) {
        if let CodeReply::End(stop) = reply
            && self.verdict.is_none()
        {
            self.verdict = Some(RunVerdict::quiet(*stop));
            self.end_within(UNWIND);
        }
        protocol::write_reply(&mut self.outgoing, reply, !self.slots.may_spin());
        self.answered = true;
    }

    pub(super) fn read_output(&mut self) {
        let mut buffer = [0; 16 << 10];
        while self.output_open {
            match rustix::io::read(&self.child.output, &mut buffer) {
                Ok(0) => self.output_open = false,
                Ok(count) => self.output.push(buffer.get(..count).unwrap_or_default()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.output_open = false,
            }
            if self.output.total > self.limits.output {
                let reason = format!("more than {} bytes of output", self.limits.output);
                self.stop(Stop::Output, reason);
                // What is still in the pipe is of no interest.
                self.output_open = false;
            }
        }
    }
}
