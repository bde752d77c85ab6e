//! From an ordinary process to the root of a jail: namespaces, users, a read-only root of our own.
//! Order matters: bind sources are opened after the mount namespace is ours (else EINVAL) and
//! before the user changes (else EACCES on private directories).

use std::{
    ffi::{CStr, CString},
    fs,
    os::{fd::IntoRawFd, unix::fs::OpenOptionsExt},
    path::Path,
    sync::OnceLock,
};

use crate::{
    plan::Plan,
    sys::{
        self, NO_DEV, NO_EXEC, NO_SUID, READ_ONLY, Step, StepError, c_string, check, failed, prctl,
        receive, restrict_mount, send,
    },
};

/// The longest plan or filter the host sends.
const MESSAGE: usize = 128 << 10;

/// Where the new root is put together; any directory that exists everywhere will do.
const NEW_ROOT: &str = "/tmp";

const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

pub fn enter(control: i32, slot: &OnceLock<Plan>) -> Step<()> {
    let mut plan = Plan::parse(&packet(control)?)?;
    plan.base_filters = [packet(control)?, packet(control)?];
    plan.child_filter = packet(control)?;

    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64, "pdeathsig")?;
    unshare()?;
    let sources = Sources::open(&plan)?;
    send(control, b"unshared", None)?;
    if packet(control)? != b"mapped" {
        return Err(failed("user map", "the host did not answer"));
    }
    if plan.many_users {
        // SAFETY: an empty list of groups.
        let dropped = unsafe { libc::syscall(libc::SYS_setgroups, 0usize, 0usize) };
        check(dropped, "setgroups")?;
        sys::set_identity(0, 0)?;
    }
    become_init(control)?;
    sources.build_root(&plan)?;
    pivot()?;
    keep_capabilities()?;
    slot.set(plan).map_err(|_| failed("setup", "called twice"))
}

/// After imports: nothing of the root may change any more.
pub fn seal() -> Step<()> {
    restrict_mount(c"/", READ_ONLY | NO_SUID | NO_DEV, false)
}

fn packet(control: i32) -> Step<Vec<u8>> {
    let mut buffer = vec![0; MESSAGE];
    let (length, _) = receive(control, &mut buffer)?.ok_or(failed("setup", "host hung up"))?;
    buffer.truncate(length);
    Ok(buffer)
}

fn unshare() -> Step<()> {
    let flags = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    // SAFETY: integers only.
    check(unsafe { libc::unshare(flags) }.into(), "unshare").map(drop)
}

/// The next child is process 1 of the new pid namespace. The parent stays only to carry the
/// host's death signal, and to die with its child.
fn become_init(control: i32) -> Step<()> {
    // SAFETY: the process has one thread.
    let child = check(unsafe { libc::fork() }.into(), "fork")? as i32;
    if child > 0 {
        // SAFETY: from here on this process only waits.
        unsafe {
            libc::close(control);
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
        }
        sys::exit(0);
    }
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as u64, "pdeathsig")
}

/// Descriptors of everything the jail's root is made of.
struct Sources {
    binds: Vec<(i32, bool)>,
    sessions: i32,
    devices: Vec<i32>,
}

impl Sources {
    fn open(plan: &Plan) -> Step<Sources> {
        let mut binds = Vec::new();
        for bind in &plan.binds {
            let directory = Path::new(&bind.source).is_dir();
            binds.push((open_path(&bind.source)?, directory));
        }
        let devices: Step<Vec<i32>> = DEVICES
            .iter()
            .map(|name| open_path(&format!("/dev/{name}")))
            .collect();
        Ok(Sources {
            binds,
            sessions: open_path(&plan.sessions)?,
            devices: devices?,
        })
    }

    fn build_root(&self, plan: &Plan) -> Step<()> {
        let private = libc::MS_REC | libc::MS_PRIVATE;
        sys::mount(c"none", c"/", c"none", private, c"")?;
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        let new_root = c_string(NEW_ROOT)?;
        sys::mount(c"tmpfs", &new_root, c"tmpfs", flags, c"size=1m,mode=0755")?;

        for directory in ["/etc", "/dev", "/tmp", "/app", "/.sessions"] {
            make_directory(directory)?;
        }
        write_file("/etc/passwd", "sandbox:x:1000:1000::/app:/bin/false\n")?;
        write_file("/etc/group", "sandbox:x:1000:\n")?;
        write_file("/etc/hosts", "127.0.0.1 localhost\n")?;

        for (bind, (source, directory)) in plan.binds.iter().zip(&self.binds) {
            let target = if *directory {
                make_directory(&bind.target)?
            } else {
                write_file(&bind.target, "")?
            };
            bind_descriptor(*source, &target, *directory)?;
            restrict_mount(&target, READ_ONLY | NO_SUID | NO_DEV, *directory)?;
        }
        // Device nodes stay usable, so they are the one mount without NO_DEV.
        for (name, source) in DEVICES.iter().zip(&self.devices) {
            let target = write_file(&format!("/dev/{name}"), "")?;
            bind_descriptor(*source, &target, false)?;
        }
        let sessions = c_string(&format!("{NEW_ROOT}/.sessions"))?;
        bind_descriptor(self.sessions, &sessions, true)?;
        restrict_mount(&sessions, NO_SUID | NO_DEV | NO_EXEC, true)?;
        // For caches written while modules are imported; each child covers it with its own.
        sys::tmpfs(
            &c_string(&format!("{NEW_ROOT}/tmp"))?,
            c"size=16m,mode=0777",
        )
    }
}

fn open_path(path: &str) -> Step<i32> {
    let open = fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_CLOEXEC)
        .open(path);
    open.map(IntoRawFd::into_raw_fd)
        .map_err(|source| StepError {
            step: format!("open {path}"),
            source,
        })
}

fn bind_descriptor(source: i32, target: &CStr, recursive: bool) -> Step<()> {
    sys::bind(
        &c_string(&format!("/proc/self/fd/{source}"))?,
        target,
        recursive,
    )
}

fn make_directory(path: &str) -> Step<CString> {
    let full = format!("{NEW_ROOT}{path}");
    named(fs::create_dir_all(&full), &full)?;
    c_string(&full)
}

fn write_file(path: &str, text: &str) -> Step<CString> {
    let full = format!("{NEW_ROOT}{path}");
    if let Some(parent) = Path::new(&full).parent() {
        named(fs::create_dir_all(parent), &full)?;
    }
    named(fs::write(&full, text), &full)?;
    c_string(&full)
}

fn named<T>(result: std::io::Result<T>, step: &str) -> Step<T> {
    result.map_err(|source| StepError {
        step: step.to_owned(),
        source,
    })
}

fn pivot() -> Step<()> {
    named(std::env::set_current_dir(NEW_ROOT), NEW_ROOT)?;
    // SAFETY: two live NUL-terminated strings.
    let result = unsafe { libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) };
    check(result, "pivot_root")?;
    sys::detach(c".")?;
    named(std::env::set_current_dir("/"), "/")
}

/// What it takes to build children, and nothing else.
fn keep_capabilities() -> Step<()> {
    const SETGID: u32 = 1 << 6;
    const SETUID: u32 = 1 << 7;
    const SETPCAP: u32 = 1 << 8;
    const SYS_ADMIN: u32 = 1 << 21;
    sys::set_capabilities(SETGID | SETUID | SETPCAP | SYS_ADMIN)
}
