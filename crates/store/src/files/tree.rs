//! Copying parts of the data directory while it is in use. Like everything here it goes by descriptors and
//! follows no link: code in the sandbox may change its folders under our hands. What is read is hashed as
//! it is written, so that the copy is what its hash says even where the original changes meanwhile.

use std::{
    ffi::CStr,
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Files, folder::TEMPORARY};
use crate::row;

/// Folders deeper than this are not entered: each level holds a descriptor open.
const MAX_LEVELS: usize = 64;
const PIECE: usize = 64 << 10;

/// Something that was copied. A folder comes before what lies in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeEntry {
    /// Beneath the data directory.
    pub path: String,
    /// Permission bits.
    pub mode: u32,
    #[serde(flatten)]
    pub content: TreeContent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TreeContent {
    Folder,
    File { bytes: u64, sha256: String },
    Link { target: String },
}

/// What could not be copied, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    pub path: String,
    pub reason: String,
}

#[derive(Debug, Default)]
pub(crate) struct CopiedTree {
    pub(crate) entries: Vec<TreeEntry>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl Files {
    /// Copies `names` of the data directory into the folder `into`; those that are not there are none.
    pub(crate) fn copy_into(&self, names: &[&CStr], into: &Path) -> io::Result<CopiedTree> {
        let mut copying = Copying {
            into: into.to_owned(),
            copied: CopiedTree::default(),
        };
        for name in names {
            copying.copy(self.0.directory.as_fd(), name, "", 0)?;
        }
        Ok(copying.copied)
    }
}

/// Of the folder in which plugins of one worker are at home: what they can make again.
fn is_passing(path: &str) -> bool {
    let mut names = path.split('/');
    let is_worker = names.next() == Some("workers");
    let name = names.nth(1);
    is_worker && matches!(name, Some("tmp" | ".cache")) && names.next().is_none()
}

struct Copying {
    into: PathBuf,
    copied: CopiedTree,
}

impl Copying {
    fn copy(
        &mut self,
        at: BorrowedFd<'_>,
        name: &CStr,
        above: &str,
        level: usize,
    ) -> io::Result<()> {
        let path = |name: &str| match above {
            "" => name.to_owned(),
            above => format!("{above}/{name}"),
        };
        let Ok(text) = name.to_str() else {
            self.leave_out(path(&name.to_string_lossy()), "its name is not UTF-8");
            return Ok(());
        };
        let path = path(text);
        if text.starts_with(TEMPORARY) || is_passing(&path) {
            return Ok(());
        }
        let copied = match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => self.copy_found(at, name, &path, &stat, level),
            Err(error) => Err(error.into()),
        };
        copied.or_else(|error| match Errno::from_io_error(&error) {
            // Removed or replaced while we look.
            Some(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => Ok(()),
            Some(Errno::ACCESS | Errno::PERM) => {
                self.leave_out(path, "it is closed to the user of this process");
                Ok(())
            }
            _ => Err(io::Error::new(error.kind(), format!("{path}: {error}"))),
        })
    }

    fn copy_found(
        &mut self,
        at: BorrowedFd<'_>,
        name: &CStr,
        path: &str,
        stat: &Stat,
        level: usize,
    ) -> io::Result<()> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if level == MAX_LEVELS => {
                self.leave_out(path.to_owned(), "it lies too deep");
            }
            FileType::Directory => {
                let folder = open(at, name, OFlags::DIRECTORY)?;
                let content = TreeContent::Folder;
                DirBuilder::new().mode(0o700).create(self.into.join(path))?;
                self.note(path, rustix::fs::fstat(&folder)?.st_mode, content);
                for listed in Dir::read_from(&folder)? {
                    let listed = listed?;
                    let name = listed.file_name();
                    if name != c"." && name != c".." {
                        self.copy(folder.as_fd(), name, path, level + 1)?;
                    }
                }
            }
            FileType::RegularFile => {
                // Without waiting: it may be a pipe by now.
                let file = open(at, name, OFlags::NONBLOCK)?;
                let mode = rustix::fs::fstat(&file)?.st_mode;
                if FileType::from_raw_mode(mode) == FileType::RegularFile {
                    let content = copy_file(File::from(file), &self.into.join(path))?;
                    self.note(path, mode, content);
                }
            }
            FileType::Symlink => {
                match rustix::fs::readlinkat(at, name, Vec::new())?.into_string() {
                    Ok(target) => self.note(path, stat.st_mode, TreeContent::Link { target }),
                    Err(_) => self.leave_out(path.to_owned(), "the link's target is not UTF-8"),
                }
            }
            _ => self.leave_out(path.to_owned(), "it is neither file, folder nor link"),
        }
        Ok(())
    }

    fn note(&mut self, path: &str, mode: u32, content: TreeContent) {
        self.copied.entries.push(TreeEntry {
            path: path.to_owned(),
            // Not set-user-id: whose file it will be is another question.
            mode: mode & 0o777,
            content,
        });
    }

    fn leave_out(&mut self, path: String, reason: &str) {
        self.copied.left_out.push(LeftOut {
            path,
            reason: reason.to_owned(),
        });
    }
}

fn open(at: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

/// Into a file that is not there yet and is its owner's alone.
fn copy_file(from: File, to: &Path) -> io::Result<TreeContent> {
    let mut options = OpenOptions::new();
    let to = options.write(true).create_new(true).mode(0o600).open(to)?;
    let (bytes, sha256) = copy_hashed(from, to)?;
    Ok(TreeContent::File { bytes, sha256 })
}

/// Length and hash of a file that nobody else writes to.
pub(crate) fn hash_file(path: &Path) -> io::Result<(u64, String)> {
    copy_hashed(File::open(path)?, io::sink())
}

fn copy_hashed(mut from: impl Read, mut to: impl Write) -> io::Result<(u64, String)> {
    let (mut hash, mut bytes, mut piece) = (Sha256::new(), 0, vec![0; PIECE]);
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => return Ok((bytes, row::hex(&hash.finalize()))),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = piece.get(..read).unwrap_or_default();
        hash.update(piece);
        to.write_all(piece)?;
        bytes += read as u64;
    }
}
