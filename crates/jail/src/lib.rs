//! The native half of the sandbox, loaded into a warm CPython (the zygote). It turns the zygote
//! into the root of a jail, clones children from it, and shuts the last doors of a child before
//! the first untrusted byte. It takes orders from the host only and never reads untrusted data.
//!
//! Called from Python in this order: [`callgate_setup`], then (after imports) [`callgate_serve`],
//! which returns in each child; there [`callgate_prepare`], [`callgate_lease`], and
//! [`callgate_call`] for every call the code makes.

mod call;
mod landlock;
mod lease;
mod plan;
mod serve;
mod setup;
mod sys;
pub mod wire;

use std::sync::OnceLock;

use plan::Plan;

/// Written once by `callgate_setup`, read by every child: a child is a copy of the zygote.
static PLAN: OnceLock<Plan> = OnceLock::new();

/// Takes the plan from the control socket and moves this process into the jail. Returns 0 in the
/// process that is the zygote from now on; any failure is reported on the socket and ends it.
///
/// # Safety
/// Called once, by a single-threaded process that owns the descriptor `control`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn callgate_setup(control: i32) -> i32 {
    sys::or_die(control, setup::enter(control, &PLAN));
    0
}

/// Clones a child for each request. Returns 1 in a child, 0 in the zygote when the host hung up.
///
/// # Safety
/// Called with the GIL held, after `callgate_setup`, from the only thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn callgate_serve(control: i32) -> i32 {
    sys::or_die(control, serve::serve(control, PLAN.get()))
}

/// In a child: everything of its jail that does not depend on the session.
///
/// # Safety
/// Called once in a child, before any thread exists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn callgate_prepare() {
    sys::or_exit(lease::prepare(PLAN.get()));
}

/// In a child: waits for the session it is leased to and shuts the last doors. Returns 1 when
/// untrusted code may be read, 0 when the host hung up.
///
/// # Safety
/// Called once in a child, after `callgate_prepare`, before any thread exists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn callgate_lease() -> i32 {
    sys::or_exit(lease::lease(PLAN.get()))
}

/// One exchange on a call socket: writes `request`, then reads the frame that answers into `buffer`,
/// or its first `capacity` bytes, spinning before it sleeps unless `spin_micros` is 0. Returns the
/// bytes read; 0 or less means that the host hung up.
///
/// # Safety
/// `request` must be readable for `length` bytes and `buffer` writable for `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn callgate_call(
    socket: i32,
    request: *const u8,
    length: usize,
    buffer: *mut u8,
    capacity: usize,
    spin_micros: u64,
) -> isize {
    // SAFETY: the caller's contract is exactly that of the two slices.
    let (request, buffer) = unsafe {
        (
            core::slice::from_raw_parts(request, length),
            core::slice::from_raw_parts_mut(buffer, capacity),
        )
    };
    call::exchange(socket, request, buffer, spin_micros)
}
