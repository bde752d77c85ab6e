//! Where things lie: `DIR/sessions/<uuid>/{shared,uploads,data}` and `DIR/remote`, who owns them,
//! and how a path that code wrote names one of them.

use std::{
    fs::File,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate_contract::UID_BASE;
use rustix::{
    fs::{Gid, Mode, OFlags, Uid},
    io::Errno,
};

use super::{FileError, Folder, documents::Locks};
use crate::{Durability, Session, StoreError};

/// The user id of a session's code, where we may give it one.
pub fn jail_uid(number: u32) -> u32 {
    UID_BASE + number
}

/// Clones share the descriptor and the locks.
#[derive(Clone)]
pub struct Files(pub(super) Arc<Root>);

pub(super) struct Root {
    /// The data directory.
    pub(super) directory: File,
    pub(super) sessions: OwnedFd,
    remote: Folder,
    path: PathBuf,
    remote_path: PathBuf,
    durability: Durability,
    /// As root, sessions get user ids; an ordinary user can give files to nobody.
    root: bool,
    pub(super) locks: Locks,
}

/// The three folders of a session. Code sees `shared` (read-write) and `uploads` (read-only);
/// `data` is the host's alone.
#[derive(Clone, Debug)]
pub struct SessionFolders {
    pub shared: Folder,
    pub uploads: Folder,
    pub data: Folder,
}

impl Files {
    pub(crate) fn open(data: &Path, durability: Durability) -> Result<Self, StoreError> {
        let failed = |source: std::io::Error| StoreError::Directory {
            path: data.to_owned(),
            source,
        };
        let directory = open_data(data).map_err(failed)?;
        let root = rustix::process::geteuid().is_root();
        let sessions =
            make_directory(&directory, "sessions", passage(root), None).map_err(failed)?;
        let remote = make_directory(&directory, "remote", Mode::RWXU, None).map_err(failed)?;
        Ok(Files(Arc::new(Root {
            directory,
            sessions,
            remote: Folder {
                fd: remote.into(),
                owner: None,
                // Clients keep their settings here and have no journal to repeat them from.
                durability: Durability::Power,
            },
            path: data.join("sessions"),
            remote_path: data.join("remote"),
            durability,
            root,
            locks: Locks::default(),
        })))
    }

    /// Where session folders lie, for the sandbox backend, which binds them by uuid.
    pub fn sessions_path(&self) -> &Path {
        &self.0.path
    }

    /// What remote clients keep: their data, and nothing that we act on.
    pub fn remote(&self) -> &Folder {
        &self.0.remote
    }

    /// Where that lies, for clients that write whole paths.
    pub fn remote_path(&self) -> &Path {
        &self.0.remote_path
    }

    /// The session's folders, made if missing.
    pub fn session(&self, session: &Session) -> Result<SessionFolders, FileError> {
        let id = session.id.to_string();
        self.make(&id, session.number)
            .map_err(|error| FileError::of(&id, error))
    }

    fn make(&self, id: &str, number: u32) -> std::io::Result<SessionFolders> {
        let root = &*self.0;
        let owner = root.root.then(|| jail_uid(number));
        let home = make_directory(&root.sessions, id, passage(root.root), None)?;
        let folder = |name: &str, owner: Option<u32>| -> std::io::Result<Folder> {
            Ok(Folder {
                fd: make_directory(&home, name, Mode::RWXU, owner)?.into(),
                owner,
                durability: root.durability,
            })
        };
        Ok(SessionFolders {
            shared: folder("shared", owner)?,
            uploads: folder("uploads", owner)?,
            data: folder("data", None)?,
        })
    }
}

impl SessionFolders {
    /// The folder and relative name behind `/app/shared/...`, `/app/uploads/...`, or the same
    /// without `/app/`, as code and models write them.
    pub fn resolve<'a>(&self, path: &'a str) -> Result<(&Folder, &'a str), FileError> {
        let relative = path.strip_prefix("/app/").unwrap_or(path);
        match relative.split_once('/') {
            Some(("shared", name)) => Ok((&self.shared, name)),
            Some(("uploads", name)) => Ok((&self.uploads, name)),
            _ => Err(FileError::Outside(path.to_owned())),
        }
    }
}

/// The data directory, made if missing, closed to others.
pub(crate) fn open_data(data: &Path) -> std::io::Result<File> {
    std::fs::create_dir_all(data)?;
    let directory = File::open(data)?;
    rustix::fs::fchmod(&directory, Mode::RWXU)?;
    Ok(directory)
}

/// A jailed child under its session's user id must pass through, and need not look around.
fn passage(root: bool) -> Mode {
    if root {
        Mode::RWXU | Mode::XGRP | Mode::XOTH
    } else {
        Mode::RWXU
    }
}

fn make_directory(
    parent: impl AsFd,
    name: &str,
    mode: Mode,
    owner: Option<u32>,
) -> std::io::Result<OwnedFd> {
    match rustix::fs::mkdirat(&parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    // Every time: a crash may have come between making it and these.
    rustix::fs::fchmod(&fd, mode)?;
    if let Some(owner) = owner {
        rustix::fs::fchown(&fd, Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner)))?;
    }
    Ok(fd)
}
