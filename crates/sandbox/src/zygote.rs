//! [`Zygote`]: the warm interpreter's process, its start, and the thread that hears from it. The
//! process is started by that thread because it dies with the thread that started it
//! (PR_SET_PDEATHSIG), and so must the thread be the last to go.

use std::{
    collections::HashMap,
    fs::File,
    io::{IoSlice, IoSliceMut, Read, Seek, Write},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
};

use callgate_contract::{SandboxError, UID_BASE};
use rustix::{
    fs::{MemfdFlags, OFlags, fcntl_setfl, memfd_create},
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
        SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg,
        send, sendmsg, socketpair,
    },
    pipe::{PipeFlags, pipe_with},
};

use crate::{
    JailOptions,
    child::{Child, Exit},
    filter, probe,
    wire::{EXITED, Event, REFUSED, STARTED, Spawn, as_bytes, from_bytes},
};

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

pub(crate) struct Zygote {
    control: OwnedFd,
    pub(crate) many_users: bool,
    next_id: AtomicU64,
    base_memory: AtomicU64,
    dead: AtomicBool,
    /// Children asked for or running, by id. A mutex because spawning threads add and the
    /// listening thread removes; held for a map operation only.
    children: Mutex<HashMap<u64, Waiting>>,
}

/// What a child that was asked for will be made of, and what it is once it runs.
enum Waiting {
    Start {
        calls: OwnedFd,
        output: OwnedFd,
        ready: Box<dyn FnOnce(Child) + Send>,
    },
    End(Arc<Exit>),
}

impl Zygote {
    /// Starts the process and waits until it is warm. Blocking.
    pub(crate) fn start(options: &JailOptions) -> Result<Arc<Zygote>, SandboxError> {
        let (tell, told) = mpsc::channel();
        let options = options.clone();
        let listen = move || match launch(&options) {
            Ok((zygote, mut process)) => {
                let listening = Arc::downgrade(&zygote);
                let control = zygote.control.try_clone();
                let _ = tell.send(Ok(zygote));
                if let Ok(control) = control {
                    listen_to(&control, &listening);
                }
                let _ = process.wait();
            }
            Err(error) => {
                let _ = tell.send(Err(error));
            }
        };
        std::thread::Builder::new()
            .name("zygote".into())
            .spawn(listen)
            .map_err(|error| SandboxError::Failed(error.to_string()))?;
        told.recv()
            .unwrap_or_else(|_| Err(SandboxError::Failed("the zygote's thread died".into())))
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Asks for a child; `ready` gets it from the listening thread and must be quick.
    pub(crate) fn spawn(
        &self,
        ready: impl FnOnce(Child) + Send + 'static,
    ) -> Result<(), SandboxError> {
        let failed = |error: rustix::io::Errno| SandboxError::Failed(format!("spawn: {error}"));
        let (calls, child_calls) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(failed)?;
        // Only the host's end: the code expects an ordinary blocking socket.
        fcntl_setfl(&calls, OFlags::NONBLOCK).map_err(failed)?;
        let (output, child_output) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
        fcntl_setfl(&output, OFlags::NONBLOCK).map_err(failed)?;

        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting::Start {
            calls,
            output,
            ready: Box::new(ready),
        };
        self.children().insert(id, waiting);
        let descriptors = [child_calls.as_fd(), child_output.as_fd()];
        send_with(&self.control, as_bytes(&Spawn { id }), &descriptors).map_err(|error| {
            self.children().remove(&id);
            failed(error)
        })
    }

    /// The address space of a fresh child, measured once.
    pub(crate) fn base_memory(&self, measure: impl FnOnce() -> Option<u64>) -> u64 {
        let known = self.base_memory.load(Ordering::Relaxed);
        if known > 0 {
            return known;
        }
        let measured = measure().unwrap_or(0);
        self.base_memory.store(measured, Ordering::Relaxed);
        measured
    }

    fn children(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Waiting>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(self: &Arc<Self>, event: Event, pidfd: Option<OwnedFd>) {
        let waiting = self.children().remove(&event.id);
        match (event.kind, waiting, pidfd) {
            (
                STARTED,
                Some(Waiting::Start {
                    calls,
                    output,
                    ready,
                }),
                Some(pidfd),
            ) => {
                let Ok(exit) = Exit::new().map(Arc::new) else {
                    return;
                };
                self.children().insert(event.id, Waiting::End(exit.clone()));
                ready(Child::new((calls, output, pidfd), exit, self.clone()));
            }
            (EXITED, Some(Waiting::End(exit)), _) => exit.set(event),
            (REFUSED, _, _) => tracing::warn!(errno = event.status, "could not clone a child"),
            _ => tracing::warn!(
                kind = event.kind,
                "an event of the zygote that fits nothing"
            ),
        }
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        // The process sees the end of its control socket and goes, with all its children.
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Both);
    }
}

/// Hears events until the process is gone. Holds the zygote only while it handles one, so that
/// dropping the last other handle ends it.
fn listen_to(control: &OwnedFd, zygote: &Weak<Zygote>) {
    loop {
        let mut buffer = [0; size_of::<Event>()];
        let received = receive(control, &mut buffer);
        let Some(zygote) = zygote.upgrade() else {
            return;
        };
        match received {
            Ok((length, pidfd)) if length > 0 => {
                if let Some(event) = buffer.get(..length).and_then(from_bytes) {
                    zygote.hear(event, pidfd);
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            _ => {
                zygote.dead.store(true, Ordering::Relaxed);
                // Whoever waits for a child of this zygote must not wait for ever.
                let children = std::mem::take(&mut *zygote.children());
                for (id, waiting) in children {
                    if let Waiting::End(exit) = waiting {
                        exit.set(Event {
                            id,
                            kind: EXITED,
                            status: libc::SIGKILL,
                            cpu_micros: 0,
                            memory_peak: 0,
                        });
                    }
                }
                return;
            }
        }
    }
}

fn launch(options: &JailOptions) -> Result<(Arc<Zygote>, std::process::Child), SandboxError> {
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
    let zygote = Zygote {
        control,
        many_users,
        next_id: AtomicU64::new(1),
        base_memory: AtomicU64::new(0),
        dead: AtomicBool::new(false),
        children: Mutex::default(),
    };
    Ok((Arc::new(zygote), process))
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

fn send_with(
    socket: &OwnedFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> rustix::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    sendmsg(
        socket,
        &[IoSlice::new(bytes)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> rustix::io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut vector = [IoSliceMut::new(buffer)];
    let message = recvmsg(socket, &mut vector, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    if message.flags.contains(ReturnFlags::TRUNC) {
        return Err(rustix::io::Errno::MSGSIZE);
    }
    let descriptor = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok((message.bytes, descriptor))
}
