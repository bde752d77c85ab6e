//! System calls with their errors named. Nothing here decides anything.

use std::{
    ffi::{CStr, CString},
    fmt, io, ptr,
};

/// A failed step: what was tried, and the errno.
#[derive(Debug)]
pub struct StepError {
    pub step: String,
    pub source: io::Error,
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, self.source)
    }
}

pub type Step<T> = Result<T, StepError>;

/// Gives a raw return value its error, naming the step.
pub fn check(result: i64, step: &str) -> Step<i64> {
    if result < 0 {
        return Err(StepError {
            step: step.to_owned(),
            source: io::Error::last_os_error(),
        });
    }
    Ok(result)
}

pub fn failed(step: &str, why: &str) -> StepError {
    StepError {
        step: step.to_owned(),
        source: io::Error::other(why.to_owned()),
    }
}

pub fn c_string(text: &str) -> Step<CString> {
    CString::new(text).map_err(|_| failed("path", "contains a NUL"))
}

/// The host reads the reason from the control socket: `!` and the text.
pub fn or_die<T>(control: i32, result: Step<T>) -> T {
    match result {
        Ok(value) => value,
        Err(failure) => {
            let _ = send(control, format!("!{failure}").as_bytes(), None);
            exit(113)
        }
    }
}

/// A child has no way to report but its exit status and its output.
pub fn or_exit<T>(result: Step<T>) -> T {
    match result {
        Ok(value) => value,
        Err(failure) => {
            let text = format!("callgate jail: {failure}\n");
            // SAFETY: writes a live buffer to a descriptor number; a closed one is just an error.
            unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
            exit(113)
        }
    }
}

pub fn exit(status: i32) -> ! {
    // SAFETY: `_exit` runs no handlers, which is the point: this may be a half-made child.
    unsafe { libc::_exit(status) }
}

pub fn mount(source: &CStr, target: &CStr, kind: &CStr, flags: u64, data: &CStr) -> Step<()> {
    // SAFETY: all pointers are to live NUL-terminated strings.
    let result = unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            kind.as_ptr(),
            flags,
            data.as_ptr().cast(),
        )
    };
    check(
        result.into(),
        &format!("mount {}", target.to_string_lossy()),
    )
    .map(drop)
}

pub fn tmpfs(target: &CStr, options: &CStr) -> Step<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    mount(c"tmpfs", target, c"tmpfs", flags, options)
}

pub fn bind(source: &CStr, target: &CStr, recursive: bool) -> Step<()> {
    let flags = libc::MS_BIND | if recursive { libc::MS_REC } else { 0 };
    mount(source, target, c"none", flags, c"")
}

pub fn detach(target: &CStr) -> Step<()> {
    // SAFETY: a live NUL-terminated string.
    let result = unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) };
    check(
        result.into(),
        &format!("unmount {}", target.to_string_lossy()),
    )
    .map(drop)
}

#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

pub const AT_RECURSIVE: i32 = 0x8000;

pub const READ_ONLY: u64 = 1;
pub const NO_SUID: u64 = 2;
pub const NO_DEV: u64 = 4;
pub const NO_EXEC: u64 = 8;

/// Restricts a mount, and with `recursive` everything mounted below it.
pub fn restrict_mount(target: &CStr, set: u64, recursive: bool) -> Step<()> {
    let flags = if recursive { AT_RECURSIVE } else { 0 };
    set_attributes(libc::AT_FDCWD, target, flags, set)
}

/// The same for a path below an open folder.
pub fn set_attributes(folder: i32, path: &CStr, flags: i32, set: u64) -> Step<()> {
    let attributes = MountAttr {
        set,
        clear: 0,
        propagation: 0,
        userns: 0,
    };
    // SAFETY: the path is NUL-terminated and the struct has the size given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder,
            path.as_ptr(),
            flags,
            &attributes,
            size_of::<MountAttr>(),
        )
    };
    check(result, &format!("mount_setattr {}", path.to_string_lossy())).map(drop)
}

pub fn prctl(option: i32, argument: u64, step: &str) -> Step<()> {
    // SAFETY: only options that take plain integers are passed here.
    let result = unsafe { libc::prctl(option, argument, 0u64, 0u64, 0u64) };
    check(result.into(), step).map(drop)
}

pub fn limit(resource: libc::__rlimit_resource_t, value: u64, step: &str) -> Step<()> {
    let limit = libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: a live struct of the right type.
    check(unsafe { libc::setrlimit(resource, &limit) }.into(), step).map(drop)
}

/// Replaces all three capability sets, given as bits of the first word.
pub fn set_capabilities(bits: u32) -> Step<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header: [u32; 2] = [VERSION_3, 0];
    let data: [u32; 6] = [bits, bits, bits, 0, 0, 0];
    // SAFETY: header and data have the layout of version 3.
    let result = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr()) };
    check(result, "capset").map(drop)
}

/// Raw calls, since libc's wrappers signal other threads, which do not exist here.
pub fn set_identity(user: u32, group: u32) -> Step<()> {
    // SAFETY: plain integers.
    let result = unsafe { libc::syscall(libc::SYS_setresgid, group, group, group) };
    check(result, "setresgid")?;
    // SAFETY: plain integers.
    let result = unsafe { libc::syscall(libc::SYS_setresuid, user, user, user) };
    check(result, "setresuid").map(drop)
}

/// Installs a seccomp filter, given as the bytes of its instructions.
pub fn install_filter(program: &[u8]) -> Step<()> {
    install_filter_with(program, 0).map(drop)
}

/// The same with flags of the kernel's, some of which have it return a descriptor.
pub fn install_filter_with(program: &[u8], flags: u64) -> Step<i64> {
    const SET_MODE_FILTER: u64 = 1;
    let instructions = libc::sock_fprog {
        len: (program.len() / size_of::<libc::sock_filter>()) as u16,
        filter: program.as_ptr().cast_mut().cast(),
    };
    // SAFETY: `filter` points at `len` instructions that outlive the call; the kernel only reads
    // them, and copies by bytes, so their alignment does not matter.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, flags, &instructions) };
    check(result, "seccomp")
}

/// Sends one packet, with a descriptor if given.
pub fn send(socket: i32, bytes: &[u8], descriptor: Option<i32>) -> Step<()> {
    let mut vector = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: an all-zero msghdr is valid and empty.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut vector;
    message.msg_iovlen = 1;
    let mut control = [0u64; 8];
    if let Some(descriptor) = descriptor {
        message.msg_control = control.as_mut_ptr().cast();
        // SAFETY: pure arithmetic.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(4) } as _;
        // SAFETY: the control buffer is aligned and larger than one header with one descriptor.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(4) as _;
            libc::CMSG_DATA(header)
                .cast::<i32>()
                .write_unaligned(descriptor);
        }
    }
    // SAFETY: every pointer in `message` is live.
    let sent = unsafe { libc::sendmsg(socket, &message, libc::MSG_NOSIGNAL) };
    check(sent as i64, "send").map(drop)
}

/// Receives one packet and up to two descriptors. `None` when the other end is gone.
pub fn receive(socket: i32, buffer: &mut [u8]) -> Step<Option<(usize, [i32; 2])>> {
    let mut vector = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let mut control = [0u64; 8];
    // SAFETY: an all-zero msghdr is valid and empty.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut vector;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: every pointer in `message` is live and sized.
    let received = unsafe { libc::recvmsg(socket, &mut message, libc::MSG_CMSG_CLOEXEC) };
    let received = check(received as i64, "receive")? as usize;
    if received == 0 {
        return Ok(None);
    }
    let mut descriptors = [-1; 2];
    // SAFETY: the kernel wrote the control buffer; a header of n descriptors is followed by them.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&message);
        if !header.is_null() {
            let count = ((*header).cmsg_len - libc::CMSG_LEN(0) as usize) / 4;
            ptr::copy_nonoverlapping(
                libc::CMSG_DATA(header),
                descriptors.as_mut_ptr().cast::<u8>(),
                count.min(2) * 4,
            );
        }
    }
    Ok(Some((received, descriptors)))
}

pub fn now_micros() -> u64 {
    // SAFETY: an all-zero timespec is valid, and is written by the call.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: a live struct.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000
}
