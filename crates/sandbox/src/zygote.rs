//! [`Zygote`]: the warm interpreter as the host talks to it: children asked for, children that
//! ended. A thread of its own hears from it; that thread also started the process, which dies with
//! the thread that started it (PR_SET_PDEATHSIG).

use std::{
    collections::HashMap,
    os::fd::{AsFd, OwnedFd},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use callgate_contract::SandboxError;
use parking_lot::Mutex;
use rustix::{
    fs::{OFlags, fcntl_setfl},
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
    pipe::{PipeFlags, pipe_with},
};

use crate::{
    JailOptions,
    child::{Child, Exit},
    launch::{WarmZygote, launch},
    packets::{receive, send_with},
    wire::{EXITED, Event, REFUSED, STARTED, Spawn, as_bytes, from_bytes},
};

pub(crate) struct Zygote {
    /// Shared with the listening thread, which may outlive this handle by a moment.
    control: Arc<OwnedFd>,
    pub(crate) many_users: bool,
    next_id: AtomicU64,
    base_memory: AtomicU64,
    dead: AtomicBool,
    /// Children asked for or running, by id. A mutex because spawning threads add and the
    /// listening thread removes; held for a map operation only.
    children: Mutex<HashMap<u64, ZygoteJob>>,
    /// Joined when the last handle goes, so that nothing of the zygote is left then. A mutex
    /// because it is known only after the thread has made the zygote.
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What a child that was asked for will be made of, and what it is once it runs.
enum ZygoteJob {
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
            Ok(mut launched) => {
                let zygote = Arc::new(Zygote::new(&launched));
                let listening = Arc::downgrade(&zygote);
                let control = zygote.control.clone();
                let _ = tell.send(Ok(zygote));
                listen_to(&control, &listening);
                launched.wait();
            }
            Err(error) => {
                let _ = tell.send(Err(error));
            }
        };
        let thread = std::thread::Builder::new()
            .name("zygote".into())
            .spawn(listen)
            .map_err(|error| SandboxError::Failed(error.to_string()))?;
        let started = told
            .recv()
            .unwrap_or_else(|_| Err(SandboxError::Failed("the zygote's thread died".into())));
        if let Ok(zygote) = &started {
            *zygote.thread.lock() = Some(thread);
        }
        started
    }

    fn new(launched: &WarmZygote) -> Zygote {
        Zygote {
            control: launched.control.clone(),
            many_users: launched.many_users,
            next_id: AtomicU64::new(1),
            base_memory: AtomicU64::new(0),
            dead: AtomicBool::new(false),
            children: Mutex::default(),
            thread: Mutex::default(),
        }
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
        let waiting = ZygoteJob::Start {
            calls,
            output,
            ready: Box::new(ready),
        };
        self.children.lock().insert(id, waiting);
        let descriptors = [child_calls.as_fd(), child_output.as_fd()];
        send_with(&self.control, as_bytes(&Spawn { id }), &descriptors).map_err(|error| {
            self.children.lock().remove(&id);
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

    fn hear(self: &Arc<Self>, event: Event, pidfd: Option<OwnedFd>) {
        let waiting = self.children.lock().remove(&event.id);
        match (event.kind, waiting, pidfd) {
            (
                STARTED,
                Some(ZygoteJob::Start {
                    calls,
                    output,
                    ready,
                }),
                Some(pidfd),
            ) => {
                let Ok(exit) = Exit::new().map(Arc::new) else {
                    return;
                };
                self.children
                    .lock()
                    .insert(event.id, ZygoteJob::End(exit.clone()));
                ready(Child::new((calls, output, pidfd), exit, self.clone()));
            }
            (EXITED, Some(ZygoteJob::End(exit)), _) => exit.set(event),
            (REFUSED, _, _) => {
                tracing::warn!(errno = event.status, "zygote could not clone a child")
            }
            _ => tracing::warn!(kind = event.kind, "unexpected event from the zygote"),
        }
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        // The process sees the end of its control socket and goes, with all its children.
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Both);
        let thread = self.thread.get_mut();
        // The listening thread itself may hold the last handle; it ends without being waited for.
        if let Some(thread) = thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
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
                let children = std::mem::take(&mut *zygote.children.lock());
                for (id, waiting) in children {
                    if let ZygoteJob::End(exit) = waiting {
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
