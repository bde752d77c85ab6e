//! Starting the zygote's process: descriptors, environment, the plan of the jail, the map of users.
//! The one place that starts the interpreter.

use std::{
    fs::File,
    io::{Read, Seek, Write},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use callgate_contract::{SandboxError, UID_BASE};
use rustix::{
    fs::{MemfdFlags, memfd_create},
    net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair},
};

use crate::{JailOptions, cgroup::Cgroup, filter, packets::receive, probe};

const LIBRARY: &[u8] = include_bytes!(env!("CALLGATE_JAIL"));
const ZYGOTE: &str = include_str!("../../../python/guest/zygote.py");

/// In the order of their imports.
const MODULES: [(&str, &str); 7] = [
    (
        "wire",
        include_str!("../../../python/guest/callgate_guest/wire.py"),
    ),
    (
        "clock",
        include_str!("../../../python/guest/callgate_guest/clock.py"),
    ),
    (
        "chance",
        include_str!("../../../python/guest/callgate_guest/chance.py"),
    ),
    (
        "denied",
        include_str!("../../../python/guest/callgate_guest/denied.py"),
    ),
    (
        "calls",
        include_str!("../../../python/guest/callgate_guest/calls.py"),
    ),
    (
        "judge",
        include_str!("../../../python/guest/callgate_guest/judge.py"),
    ),
    (
        "main",
        include_str!("../../../python/guest/callgate_guest/main.py"),
    ),
];

/// Where the operator's packages are seen from inside.
const PACKAGES: &str = "/opt/packages";

/// How many user ids from `UID_BASE` on are mapped, when we may map a range.
const UID_COUNT: u32 = 65_536;

/// Bytes of each scratch filesystem (`/tmp`, `/app`) of a child.
const SCRATCH: u64 = 64 << 20;

/// A zygote that is warm and waits for requests.
pub(crate) struct WarmZygote {
    pub(crate) control: Arc<OwnedFd>,
    /// It maps a range of users, one for each session.
    pub(crate) many_users: bool,
    process: std::process::Child,
    /// Held for its removal, after the process.
    _cgroup: Option<Cgroup>,
}

impl WarmZygote {
    pub(crate) fn wait(&mut self) {
        let _ = self.process.wait();
    }
}

/// Blocks until the process is warm. To be called from a thread that outlives it.
pub(crate) fn launch(options: &JailOptions) -> Result<WarmZygote, SandboxError> {
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        SandboxError::Failed(format!("{what}: {error}"))
    };
    let many_users = rustix::process::geteuid().is_root();
    let (control, remote) = socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|error| failed("control socket", &error))?;
    let complaints = memory_file("callgate-complaints", b"").map_err(|e| failed("memfd", &e))?;
    let mut process = start_process(options, &remote, &complaints)
        .map_err(|error| unavailable_python(options, &error))?;
    drop(remote);
    // Before it forks: the group is inherited.
    let cgroup = Cgroup::around(process.id());

    let handshake = || -> Result<(), String> {
        let io = |error: rustix::io::Errno| error.to_string();
        send(
            &control,
            plan(options, many_users).as_bytes(),
            SendFlags::NOSIGNAL,
        )
        .map_err(io)?;
        for program in filter::programs().map_err(|error| error.to_string())? {
            send(&control, &program, SendFlags::NOSIGNAL).map_err(io)?;
        }
        expect(&control, "unshared")?;
        map_users(process.id(), many_users).map_err(|error| format!("user map: {error}"))?;
        send(&control, b"mapped", SendFlags::NOSIGNAL).map_err(io)?;
        expect(&control, "ready")
    };
    if let Err(reason) = handshake() {
        let _ = process.kill();
        let _ = process.wait();
        let reason = format!("{reason}{}", read_complaints(complaints));
        let hint = probe::hint(&reason);
        return Err(SandboxError::Unavailable { reason, hint });
    }
    Ok(WarmZygote {
        control: Arc::new(control),
        many_users,
        process,
        _cgroup: cgroup,
    })
}

fn unavailable_python(options: &JailOptions, error: &std::io::Error) -> SandboxError {
    SandboxError::Unavailable {
        reason: format!("{}: {error}", options.python.display()),
        hint: "install Python 3.11 or newer, or set sandbox.python to its path".into(),
    }
}

/// Messages of the new process are short; `!` begins its reason to give up.
fn expect(control: &OwnedFd, word: &str) -> Result<(), String> {
    let mut buffer = [0; 4096];
    let (length, _) = receive(control, &mut buffer).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(buffer.get(..length).unwrap_or_default());
    match text.strip_prefix('!') {
        Some(reason) => Err(reason.to_owned()),
        None if text == word => Ok(()),
        None => Err("the interpreter ended".into()),
    }
}

fn read_complaints(mut complaints: File) -> String {
    let mut text = String::new();
    let _ = complaints.rewind();
    let _ = complaints.take(8192).read_to_string(&mut text);
    if text.is_empty() {
        text
    } else {
        format!("\n{text}")
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "the one place that starts the interpreter"
)]
fn start_process(
    options: &JailOptions,
    control: &OwnedFd,
    complaints: &File,
) -> std::io::Result<std::process::Child> {
    let document = serde_json::json!({
        "modules": MODULES,
        "preload": options.preload,
        "path": options.packages.as_ref().map(|_| PACKAGES).into_iter().collect::<Vec<_>>(),
    });
    let library = memory_file("callgate-jail", LIBRARY)?;
    let document = memory_file("callgate-guest", document.to_string().as_bytes())?;
    let program = memory_file("callgate-zygote", ZYGOTE.as_bytes())?;
    let inherited = inheritable([
        control.as_fd(),
        library.as_fd(),
        document.as_fd(),
        program.as_fd(),
    ])?;
    let numbers = inherited
        .each_ref()
        .map(|descriptor| descriptor.as_raw_fd());

    let mut command = Command::new(&options.python);
    command
        // No site, no user site, no script directory: only the standard library and PACKAGES.
        .args(["-s", "-S", "-P", "-B", "-X", "utf8", "/proc/self/fd/6"])
        .env_clear()
        // Constant, so that sets iterate in the same order when a run is replayed.
        .env("PYTHONHASHSEED", "0")
        // Arenas and BLAS threads would eat the address space that a run is limited to.
        .env("MALLOC_ARENA_MAX", "1")
        .env("OPENBLAS_NUM_THREADS", "1")
        .env("OMP_NUM_THREADS", "1")
        .env("MPLBACKEND", "Agg")
        .env("MPLCONFIGDIR", "/tmp/matplotlib")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(complaints.try_clone()?);
    // SAFETY: between fork and exec only `dup2` is called, which is async-signal-safe; the numbers
    // stay open until `spawn` returns because `inherited` lives that long.
    unsafe {
        command.pre_exec(move || {
            for (target, source) in (3..).zip(numbers) {
                if libc::dup2(source, target) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    command.spawn()
}

/// Copies above the numbers they will be moved to, so that moving one never closes another.
fn inheritable<const N: usize>(from: [BorrowedFd<'_>; N]) -> std::io::Result<[OwnedFd; N]> {
    let copies = from.map(|descriptor| rustix::io::fcntl_dupfd_cloexec(descriptor, 16));
    let mut owned = Vec::with_capacity(N);
    for copy in copies {
        owned.push(copy?);
    }
    owned
        .try_into()
        .map_err(|_| std::io::Error::other("descriptors"))
}

fn memory_file(name: &str, contents: &[u8]) -> std::io::Result<File> {
    let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC)?);
    file.write_all(contents)?;
    file.rewind()?;
    Ok(file)
}

/// What the jail's root shows: shared libraries, the standard library, time zones and fonts.
fn plan(options: &JailOptions, many_users: bool) -> String {
    let mut words = vec![
        "sessions".to_owned(),
        options.sessions.display().to_string(),
    ];
    words.extend(["scratch".to_owned(), SCRATCH.to_string()]);
    if many_users {
        words.push("many-users".to_owned());
    }
    let mut bind = |source: &Path, target: &str| {
        let source = source.display().to_string();
        words.extend(["bind".to_owned(), source, target.to_owned()]);
    };
    for path in probe::root_paths(&options.python) {
        bind(&path, &path.display().to_string());
    }
    if let Some(packages) = &options.packages {
        bind(packages, PACKAGES);
    }
    words.iter().map(|word| format!("{word}\0")).collect()
}

/// Root maps a range, so that each session is a user of its own; anybody else maps themselves.
fn map_users(process: u32, many_users: bool) -> std::io::Result<()> {
    let write = |name: &str, text: String| {
        std::fs::write(PathBuf::from(format!("/proc/{process}/{name}")), text)
    };
    if many_users {
        write("uid_map", format!("0 {UID_BASE} {UID_COUNT}"))?;
        return write("gid_map", format!("0 {UID_BASE} {UID_COUNT}"));
    }
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    write("setgroups", "deny".into())?;
    write("uid_map", format!("1000 {} 1", user.as_raw()))?;
    write("gid_map", format!("1000 {} 1", group.as_raw()))
}
