//! What is seen behind the wall: a root of our own, in which parts of the machine are shown at their own
//! paths. It is put together in a mount namespace that sees both, and entered in one that sees only it;
//! what is shown there later appears in the other at once.

use std::{
    ffi::{CStr, CString},
    fs,
    io::ErrorKind,
    os::unix::fs::symlink,
    path::Path,
};

use crate::{
    plan::Place,
    sys::{
        self, AT_RECURSIVE, NO_DEV, NO_EXEC, NO_SUID, READ_ONLY, Step, StepError, c_string, check,
        detach, restrict_mount, set_attributes,
    },
};

/// Where the namespace that sees both is put together; any folder that exists everywhere will do.
const BASE: &str = "/tmp";
const MACHINE: &str = "/old";
const ROOT: &str = "/new";

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const STREAMS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
/// Of each place for what need not last, in memory.
const SCRATCH: &str = "size=512m,mode=1777";

pub fn build(places: &[Place]) -> Step<()> {
    let private = libc::MS_REC | libc::MS_PRIVATE;
    sys::mount(c"none", c"/", c"none", private, c"")?;
    sys::tmpfs(&c_string(BASE)?, c"size=1m,mode=0755")?;
    for folder in [MACHINE, ROOT] {
        named(fs::create_dir(format!("{BASE}{folder}")), folder)?;
    }
    named(std::env::set_current_dir(BASE), BASE)?;
    pivot(".", &format!(".{MACHINE}"))?;
    named(std::env::set_current_dir("/"), "/")?;
    sys::tmpfs(&c_string(ROOT)?, c"size=16m,mode=0755")?;

    for folder in ["/proc", "/tmp", "/dev/shm"] {
        make_folder(folder)?;
    }
    for scratch in ["/tmp", "/dev/shm"] {
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        let target = at(ROOT, scratch)?;
        sys::mount(c"tmpfs", &target, c"tmpfs", flags, &c_string(SCRATCH)?)?;
    }
    for (name, leads_to) in STREAMS {
        link(&format!("/dev/{name}"), leads_to)?;
    }
    for name in DEVICES {
        bind(&format!("/dev/{name}"), NO_SUID | NO_EXEC)?;
    }
    for place in places {
        put(place)?;
    }
    let shared = libc::MS_REC | libc::MS_SHARED;
    sys::mount(c"none", &c_string(ROOT)?, c"none", shared, c"")
}

/// Shows something that was not there yet, or something else than before.
pub fn show(place: &Place) -> Step<()> {
    if let Place::Read(path) | Place::Write(path) = place {
        // Nothing is mounted there, or what was there before goes.
        let _ = detach(&at(ROOT, path)?);
    }
    put(place)
}

/// In the namespace that shall see only the root, by the first process of its pid namespace.
pub fn enter(places: &[Place]) -> Step<()> {
    let follows = libc::MS_REC | libc::MS_SLAVE;
    sys::mount(c"none", c"/", c"none", follows, c"")?;
    // While the machine's own is still in sight: the kernel asks for that.
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    let proc = at(ROOT, "/proc")?;
    sys::mount(c"proc", &proc, c"proc", flags, c"")?;
    // SAFETY: no arguments.
    if unsafe { libc::geteuid() } == 0 {
        // The machine's settings are root's to write there, whatever its powers.
        restrict_mount(&proc, READ_ONLY, false)?;
    }
    for place in places {
        if let Place::Cover(path) = place {
            restrict_mount(&at(ROOT, path)?, READ_ONLY, false)?;
        }
    }
    restrict_mount(&c_string(ROOT)?, READ_ONLY, false)?;
    named(std::env::set_current_dir(ROOT), ROOT)?;
    pivot(".", ".")?;
    detach(c".")?;
    named(std::env::set_current_dir("/"), "/")
}

fn put(place: &Place) -> Step<()> {
    match place {
        Place::Link { at, to } => link(at, to),
        Place::Read(path) => bind(path, READ_ONLY | NO_SUID | NO_DEV),
        Place::Write(path) => bind(path, NO_SUID | NO_DEV),
        Place::Cover(path) => {
            make_folder(path)?;
            sys::tmpfs(&at(ROOT, path)?, c"size=16m,mode=0755")
        }
    }
}

/// Restricted before it is attached, and so wherever it then appears.
fn bind(path: &str, restrictions: u64) -> Step<()> {
    let source = format!("{MACHINE}{path}");
    let found = match fs::symlink_metadata(&source) {
        // Gone since it was named.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => named(found, path)?,
    };
    let target = format!("{ROOT}{path}");
    if found.is_dir() {
        make_folder(path)?;
    } else if !Path::new(&target).exists() {
        make_parent(path)?;
        named(fs::write(&target, ""), path)?;
    }
    attach_copy(&c_string(&source)?, &c_string(&target)?, restrictions)
}

/// Shows what lies at `source`, and all that is mounted below it, at `target` too.
fn attach_copy(source: &CStr, target: &CStr, restrictions: u64) -> Step<()> {
    const CLONE: i32 = 1;
    const FROM_DESCRIPTOR: u32 = 4;
    let step = |name: &str| format!("{name} {}", source.to_string_lossy());
    let flags = CLONE | AT_RECURSIVE | libc::AT_SYMLINK_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: a live NUL-terminated string.
    let copy =
        unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, source.as_ptr(), flags) };
    let copy = check(copy, &step("open_tree"))? as i32;
    let flags = AT_RECURSIVE | libc::AT_EMPTY_PATH;
    let attached = set_attributes(copy, c"", flags, restrictions).and_then(|()| {
        // SAFETY: two live NUL-terminated strings.
        let moved = unsafe {
            libc::syscall(
                libc::SYS_move_mount,
                copy,
                c"".as_ptr(),
                libc::AT_FDCWD,
                target.as_ptr(),
                FROM_DESCRIPTOR,
            )
        };
        check(moved, &step("move_mount")).map(drop)
    });
    // SAFETY: the descriptor is ours and not used again.
    unsafe { libc::close(copy) };
    attached
}

fn link(path: &str, leads_to: &str) -> Step<()> {
    make_parent(path)?;
    match symlink(leads_to, format!("{ROOT}{path}")) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => named(made, path),
    }
}

fn make_folder(path: &str) -> Step<()> {
    named(fs::create_dir_all(format!("{ROOT}{path}")), path)
}

fn make_parent(path: &str) -> Step<()> {
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    make_folder(parent)
}

fn pivot(root: &str, old: &str) -> Step<()> {
    let (root, old) = (c_string(root)?, c_string(old)?);
    // SAFETY: two live NUL-terminated strings.
    let result = unsafe { libc::syscall(libc::SYS_pivot_root, root.as_ptr(), old.as_ptr()) };
    check(result, "pivot_root").map(drop)
}

fn at(base: &str, path: &str) -> Step<CString> {
    c_string(&format!("{base}{path}"))
}

fn named<T>(result: std::io::Result<T>, step: &str) -> Step<T> {
    result.map_err(|source| StepError {
        step: step.to_owned(),
        source,
    })
}
