//! One call of the code: write, then wait for the answer. A sleeping thread woken from another
//! CPU costs several times the call itself, hence the short spin.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::sys::now_micros;

/// Where a child finds its call socket.
pub const CALL_SOCKET: i32 = 3;

/// An answer that took no longer than this was not worth a sleep, so the next one is waited for
/// awake. More than a wake-up takes: were both sides to give up sooner, each would find the other
/// asleep, call after call.
const SOON: u64 = 200;

/// Microseconds that the last answer took. An atomic only because statics must be `Sync`: calls are
/// made one at a time.
static LAST_WAIT: AtomicU64 = AtomicU64::new(0);

/// Writes `request`, then reads one frame, or as much of it as `buffer` holds. With `spin_micros`
/// the wait begins with a spin of at least that long.
pub fn exchange(socket: i32, mut request: &[u8], buffer: &mut [u8], spin_micros: u64) -> isize {
    while !request.is_empty() {
        // SAFETY: a live slice and its length.
        let written = unsafe { libc::write(socket, request.as_ptr().cast(), request.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => request = request.get(written..).unwrap_or_default(),
            _ if interrupted() => {}
            _ => return -1,
        }
    }
    let began = now_micros();
    let mut received = 0;
    while !is_whole(buffer, received) {
        let rest = buffer.get_mut(received..).unwrap_or_default();
        let more = match received {
            0 if spin_micros > 0 => spin(socket, rest, began, spin_micros),
            _ => receive(socket, rest, 0),
        };
        match usize::try_from(more) {
            Ok(more) if more > 0 => received += more,
            Err(_) if interrupted() => {}
            _ => return -1,
        }
    }
    LAST_WAIT.store(now_micros() - began, Ordering::Relaxed);
    received as isize
}

/// Looks for the first bytes again and again for a while, then sleeps until they come.
fn spin(socket: i32, buffer: &mut [u8], began: u64, spin_micros: u64) -> isize {
    let soon = LAST_WAIT.load(Ordering::Relaxed) <= SOON;
    let until = began
        + if soon {
            spin_micros.max(SOON)
        } else {
            spin_micros
        };
    loop {
        let received = receive(socket, buffer, libc::MSG_DONTWAIT);
        if received >= 0 {
            return received;
        }
        if now_micros() >= until {
            return receive(socket, buffer, 0);
        }
        // Where both sides are on one core, the answer can only come if this one makes room.
        // SAFETY: no arguments.
        unsafe { libc::sched_yield() };
    }
}

/// A frame begins with the length of what follows, in four bytes.
fn is_whole(buffer: &[u8], received: usize) -> bool {
    let bytes = buffer.get(..received).unwrap_or_default();
    match bytes.split_first_chunk::<4>() {
        Some((length, rest)) => {
            received == buffer.len() || rest.len() >= u32::from_le_bytes(*length) as usize
        }
        None => false,
    }
}

fn receive(socket: i32, buffer: &mut [u8], flags: i32) -> isize {
    // SAFETY: a live slice and its length.
    unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), flags) }
}

fn interrupted() -> bool {
    std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
}
