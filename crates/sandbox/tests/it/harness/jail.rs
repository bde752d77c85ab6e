//! [`TestJail`]: a jail over a temporary sessions folder, and the sessions in it. The process that
//! starts the shared one first plants bait for its children to find, if they could.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use callgate_contract::{RunFolders, UID_BASE};
use callgate_sandbox::{Jail, JailOptions, find_python};
use uuid::Uuid;

/// An environment variable of this process that no run may see.
pub const BAIT_VARIABLE: (&str, &str) = ("CALLGATE_BAIT", "the-secret-of-the-environment");
/// What an open file of this process says, left inheritable.
pub const BAIT_DESCRIPTOR: &str = "the-secret-of-the-descriptor";

pub struct TestJail {
    pub jail: Jail,
    sessions: PathBuf,
}

#[derive(Clone, Debug)]
pub struct Session {
    pub folders: RunFolders,
    path: PathBuf,
}

impl Session {
    pub fn shared(&self) -> PathBuf {
        self.path.join("shared")
    }

    pub fn uploads(&self) -> PathBuf {
        self.path.join("uploads")
    }
}

impl TestJail {
    pub fn shared() -> &'static TestJail {
        static SHARED: OnceLock<TestJail> = OnceLock::new();
        SHARED.get_or_init(|| {
            let root = root_until_exit();
            plant_bait(root);
            TestJail::new(&root.join("sessions"))
        })
    }

    pub fn new(sessions: &Path) -> Self {
        make_folder(sessions, 0o711);
        let python = find_python().expect("python3, 3.11 or newer");
        TestJail {
            jail: Jail::new(JailOptions::new(python, sessions)),
            sessions: sessions.to_owned(),
        }
    }

    /// A new session, with its folders as the store makes them.
    pub fn session(&self) -> Session {
        // Of the process, so that no two sessions share a user.
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let folders = RunFolders {
            id: Uuid::now_v7(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        };
        let path = self.sessions.join(folders.id.to_string());
        let session = Session { folders, path };
        make_folder(&session.path, 0o711);
        make_folder(&session.shared(), 0o755);
        make_folder(&session.uploads(), 0o755);
        if rustix::process::geteuid().is_root() {
            let user = Some(UID_BASE + folders.number);
            chown(session.shared(), user, user).unwrap();
        }
        session
    }
}

fn make_folder(path: &Path, mode: u32) {
    fs::create_dir_all(path).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A folder that lives as long as the process: statics are not dropped, exit handlers are run.
fn root_until_exit() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    extern "C" fn remove() {
        if let Some(root) = ROOT.get() {
            let _ = fs::remove_dir_all(root);
        }
    }
    let root = ROOT.get_or_init(|| tempfile::tempdir().unwrap().keep());
    // SAFETY: the handler is a plain function that stays loaded.
    unsafe { libc::atexit(remove) };
    root
}

fn plant_bait(root: &Path) {
    fs::create_dir_all(root).unwrap();
    // SAFETY: nothing in this process reads the environment but std, which locks it.
    unsafe { std::env::set_var(BAIT_VARIABLE.0, BAIT_VARIABLE.1) };
    let path = root.join("bait");
    fs::write(&path, BAIT_DESCRIPTOR).unwrap();
    let file = fs::File::open(path).unwrap();
    // A copy without close-on-exec, open until the process ends.
    // SAFETY: an open descriptor.
    let copy = unsafe { libc::dup(std::os::fd::AsRawFd::as_raw_fd(&file)) };
    assert!(copy >= 0);
}
