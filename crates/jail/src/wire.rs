//! The messages between the host and the jail: fixed C layouts over sockets that both ends of one
//! binary own. Included by the `sandbox` crate too, so there is one definition.

use core::mem::size_of;

/// Host to zygote: clone one child. Travels with two descriptors, its call socket and its output.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Spawn {
    pub id: u64,
}

pub const STARTED: u32 = 1;
pub const EXITED: u32 = 2;
pub const REFUSED: u32 = 3;

/// Zygote to host. `STARTED` travels with the child's pidfd.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Event {
    pub id: u64,
    pub kind: u32,
    /// The wait status, or an errno for `REFUSED`.
    pub status: i32,
    pub cpu_micros: u64,
    pub memory_peak: u64,
}

/// Host to child, ahead of its first frame: the last steps into the jail.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Lease {
    /// The session's folder: a uuid in its usual 36 characters.
    pub folder: [u8; 36],
    /// User id inside the jail; 0 keeps the one it has.
    pub user: u32,
    pub memory: u64,
    pub cpu_seconds: u64,
    pub file_size: u64,
    pub threads: u64,
}

/// Child to host, one byte: the lease is done, the next byte is the first of a frame.
pub const LEASED: u8 = 0xA5;

/// A message that is only integers: every bit pattern is valid, and padding is never read.
///
/// # Safety
/// Implement only for `repr(C)` types made of integers and integer arrays.
pub unsafe trait Plain: Copy {}

// SAFETY: `repr(C)`, integers only.
unsafe impl Plain for Spawn {}
// SAFETY: `repr(C)`, integers only.
unsafe impl Plain for Event {}
// SAFETY: `repr(C)`, integers and a byte array only.
unsafe impl Plain for Lease {}

pub fn as_bytes<T: Plain>(message: &T) -> &[u8] {
    // SAFETY: `T: Plain` has no uninitialised bytes but padding, of which these layouts have none
    // (each field is at its natural alignment); the slice borrows `message`.
    unsafe { core::slice::from_raw_parts((message as *const T).cast(), size_of::<T>()) }
}

pub fn from_bytes<T: Plain>(bytes: &[u8]) -> Option<T> {
    if bytes.len() != size_of::<T>() {
        return None;
    }
    // SAFETY: the length was checked, `read_unaligned` needs no alignment, and every bit pattern
    // of a `Plain` type is valid.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}
