//! One call of the code: write, then wait for the answer. A sleeping thread woken from another
//! CPU costs several times the call itself, hence the short spin.

use crate::sys::now_micros;

/// Where a child finds its call socket.
pub const CALL_SOCKET: i32 = 3;

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
    if spin_micros > 0 {
        let until = now_micros() + spin_micros;
        loop {
            let received = receive(socket, buffer, libc::MSG_DONTWAIT);
            if received >= 0 {
                return received;
            }
            if now_micros() >= until {
                break;
            }
            std::hint::spin_loop();
        }
    }
    loop {
        let received = receive(socket, buffer, 0);
        if received >= 0 || !interrupted() {
            return received;
        }
    }
}

fn receive(socket: i32, buffer: &mut [u8], flags: i32) -> isize {
    // SAFETY: a live slice and its length.
    unsafe { libc::recv(socket, buffer.as_mut_ptr().cast(), buffer.len(), flags) }
}

fn interrupted() -> bool {
    std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
}
