//! Why a run stopped. What the host saw outranks what the code said, and what it printed counts
//! for nothing.

use callgate_contract::{Limits, Stop};

use crate::{protocol::GuestResult, wire::Event};

pub(crate) struct RunVerdict {
    pub(crate) stop: Stop,
    pub(crate) error: Option<String>,
}

impl RunVerdict {
    pub(crate) fn quiet(stop: Stop) -> Self {
        RunVerdict { stop, error: None }
    }

    pub(crate) fn because(stop: Stop, reason: String) -> Self {
        RunVerdict {
            stop,
            error: Some(reason),
        }
    }
}

pub(crate) fn judge(
    host: Option<RunVerdict>,
    done: &GuestResult,
    exit: Option<Event>,
    limits: &Limits,
) -> RunVerdict {
    if let Some(verdict) = host {
        return verdict;
    }
    if let Some(stop) = done.stop {
        return RunVerdict {
            stop,
            error: done.error.clone(),
        };
    }
    match exit {
        Some(exit) => by_status(exit, limits),
        None => RunVerdict::because(Stop::Killed, "the process could not be ended".into()),
    }
}

/// The code ended its process without saying how the run went.
fn by_status(exit: Event, limits: &Limits) -> RunVerdict {
    let signal = exit.status & 0x7f;
    let cpu_seconds = exit.cpu_micros / 1_000_000;
    match signal {
        0 => match exit.status >> 8 & 0xff {
            0 => RunVerdict::quiet(Stop::Finished),
            9 => RunVerdict::quiet(Stop::Inspect),
            status => RunVerdict::because(Stop::Error, format!("exited with status {status}")),
        },
        libc::SIGKILL | libc::SIGXCPU if cpu_seconds + 1 >= limits.cpu.as_secs() => {
            let limit = limits.cpu.as_secs();
            RunVerdict::because(Stop::Timeout, format!("used {limit} s of CPU time"))
        }
        libc::SIGSYS => RunVerdict::because(Stop::Killed, "made a forbidden system call".into()),
        signal => RunVerdict::because(Stop::Killed, format!("killed by signal {signal}")),
    }
}
