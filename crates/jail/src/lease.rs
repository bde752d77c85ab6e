//! A child's way into its jail. `prepare` runs while the child waits in the pool; `lease` takes the
//! four steps that depend on the session, after which nothing can be undone.

use std::{ffi::CString, sync::Mutex};

use crate::{
    call::CALL_SOCKET,
    landlock::{FILE_READ_WRITE, LIST, READ, READ_WRITE, Ruleset},
    plan::Plan,
    sys::{self, NO_DEV, NO_EXEC, NO_SUID, READ_ONLY, Step, c_string, check, failed, limit, prctl},
    wire::{LEASED, Lease, from_bytes},
};

/// Made by `prepare`, used once by `lease`. A mutex only because statics must be `Sync`: the child
/// has one thread.
static RULES: Mutex<Option<Ruleset>> = Mutex::new(None);

pub fn prepare(plan: Option<&Plan>) -> Step<()> {
    let plan = plan.ok_or(failed("prepare", "called before setup"))?;
    let scratch = c_string(&format!("size={},nr_inodes=4096,mode=0777", plan.scratch))?;
    sys::tmpfs(c"/tmp", &scratch)?;
    sys::tmpfs(c"/app", &scratch)?;
    for folder in [c"/app/shared", c"/app/uploads"] {
        // SAFETY: a live NUL-terminated string.
        let made = unsafe { libc::mkdir(folder.as_ptr(), 0o755) };
        check(made.into(), "mkdir")?;
    }
    // A signal to one's process group crosses pid namespaces, and the zygote's is the host's. Not
    // a session of its own: the scheduler would then let it and the host's thread yield to each
    // other no more.
    // SAFETY: integers only.
    check(unsafe { libc::setpgid(0, 0) }.into(), "setpgid")?;
    let name = b"sandbox";
    // SAFETY: a live buffer and its length.
    let named = unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) };
    check(named.into(), "sethostname")?;
    for capability in 0..64 {
        // Numbers beyond the kernel's last one are refused, which is fine.
        let _ = prctl(libc::PR_CAPBSET_DROP, capability, "bounding set");
    }
    let rules = Ruleset::new(false)?;
    rules.allow(c"/", LIST)?;
    for bind in &plan.binds {
        let access = if std::path::Path::new(&bind.target).is_dir() {
            READ
        } else {
            READ & FILE_READ_WRITE
        };
        rules.allow(&c_string(&bind.target)?, access)?;
    }
    for directory in [c"/etc", c"/dev"] {
        rules.allow(directory, READ)?;
    }
    rules.allow(c"/dev/null", FILE_READ_WRITE)?;
    // Covers the session's folders too: they will be mounted below it, one of them read-only.
    for directory in [c"/tmp", c"/app"] {
        rules.allow(directory, READ_WRITE)?;
    }
    let mut slot = RULES.lock().map_err(|_| failed("prepare", "poisoned"))?;
    *slot = Some(rules);
    Ok(())
}

pub fn lease(plan: Option<&Plan>) -> Step<i32> {
    let plan = plan.ok_or(failed("lease", "called before setup"))?;
    let Some(lease) = read_lease()? else {
        return Ok(0);
    };
    mount_folders(&lease)?;
    set_limits(&lease)?;
    drop_rights(&lease)?;
    let rules = RULES
        .lock()
        .map_err(|_| failed("lease", "poisoned"))?
        .take();
    rules
        .ok_or(failed("lease", "called before prepare"))?
        .enforce()?;
    sys::install_filter(&plan.child_filter)?;
    // Tells the host that what comes next is the code's doing and not a failure of ours.
    // SAFETY: a live buffer and its length.
    let told = unsafe { libc::write(CALL_SOCKET, [LEASED].as_ptr().cast(), 1) };
    check(told as i64, "lease")?;
    Ok(1)
}

fn read_lease() -> Step<Option<Lease>> {
    let mut buffer = [0; size_of::<Lease>()];
    // SAFETY: a live buffer and its length. The host writes the lease in one piece.
    let received = unsafe {
        libc::recv(
            CALL_SOCKET,
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            libc::MSG_WAITALL,
        )
    };
    if check(received as i64, "lease")? == 0 {
        return Ok(None);
    }
    from_bytes(&buffer)
        .map(Some)
        .ok_or(failed("lease", "malformed"))
}

fn mount_folders(lease: &Lease) -> Step<()> {
    let is_uuid = lease
        .folder
        .iter()
        .all(|b| b.is_ascii_hexdigit() || *b == b'-');
    let folder = std::str::from_utf8(&lease.folder).ok().filter(|_| is_uuid);
    let folder = folder.ok_or(failed("lease", "the folder is not a uuid"))?;
    let source = |name: &str| -> Step<CString> { c_string(&format!("/.sessions/{folder}/{name}")) };

    let common = NO_SUID | NO_DEV | NO_EXEC;
    sys::bind(&source("shared")?, c"/app/shared", false)?;
    sys::restrict_mount(c"/app/shared", common, false)?;
    sys::bind(&source("uploads")?, c"/app/uploads", false)?;
    sys::restrict_mount(c"/app/uploads", common | READ_ONLY, false)?;
    sys::detach(c"/.sessions")?;
    // SAFETY: a live NUL-terminated string.
    check(unsafe { libc::chdir(c"/app".as_ptr()) }.into(), "chdir").map(drop)
}

fn set_limits(lease: &Lease) -> Step<()> {
    const DESCRIPTORS: u64 = 256;
    limit(libc::RLIMIT_AS, lease.memory, "memory limit")?;
    limit(libc::RLIMIT_CPU, lease.cpu_seconds, "cpu limit")?;
    limit(libc::RLIMIT_FSIZE, lease.file_size, "file size limit")?;
    limit(libc::RLIMIT_NPROC, lease.threads, "thread limit")?;
    limit(libc::RLIMIT_NOFILE, DESCRIPTORS, "descriptor limit")?;
    // One byte: nobody's core fits, and a program that the kernel pipes cores to is not started
    // either, which a limit of none would not prevent.
    limit(libc::RLIMIT_CORE, 1, "core limit")?;
    limit(libc::RLIMIT_MEMLOCK, 0, "memlock limit")?;
    limit(libc::RLIMIT_MSGQUEUE, 0, "message queue limit")
}

fn drop_rights(lease: &Lease) -> Step<()> {
    if lease.user != 0 {
        sys::set_identity(lease.user, lease.user)?;
    }
    sys::set_capabilities(0)?;
    // The host must see which deleted files a run still holds. Nobody else can look: inside, there
    // is no /proc and no ptrace.
    prctl(libc::PR_SET_DUMPABLE, 1, "dumpable")
}
