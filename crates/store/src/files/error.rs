//! [`FileError`]: each says which name, what is wrong with it and, where there is a way, what to
//! do instead.

use std::io;

use rustix::io::Errno;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("'{name}' cannot be a file name: {problem}")]
    Name { name: String, problem: &'static str },
    #[error("'{0}' is outside: write /app/shared/NAME or /app/uploads/NAME")]
    Outside(String),
    #[error("no file '{0}'")]
    NotFound(String),
    #[error("'{0}' is or passes through a link; links are not followed")]
    Link(String),
    #[error("'{0}' is not a regular file")]
    NotRegular(String),
    #[error("'{0}' is not a folder")]
    NotFolder(String),
    #[error("'{name}' is larger than {limit} bytes")]
    TooLarge { name: String, limit: u64 },
    #[error("'{name}' is not a JSON object: {reason}")]
    NotJson { name: String, reason: String },
    #[error("'{0}' is being written by another process for too long")]
    Busy(String),
    /// `openat2` came with Linux 5.6; some container filters hide it.
    #[error("this kernel or container refuses openat2, without which paths are not safe")]
    NoOpenat2,
    #[error("'{name}': {source}")]
    Io { name: String, source: io::Error },
}

impl FileError {
    /// The disk's state, which may pass.
    pub fn is_temporary(&self) -> bool {
        use io::ErrorKind as K;
        match self {
            FileError::Busy(_) => true,
            FileError::Io { source, .. } => matches!(
                source.kind(),
                K::StorageFull | K::QuotaExceeded | K::FileTooLarge | K::TimedOut | K::Interrupted
            ),
            _ => false,
        }
    }

    /// This process can open nothing more.
    pub fn is_out_of_descriptors(&self) -> bool {
        let FileError::Io { source, .. } = self else {
            return false;
        };
        let errno = Errno::from_io_error(source);
        matches!(errno, Some(Errno::MFILE | Errno::NFILE))
    }

    pub(super) fn of(name: &str, error: impl Into<io::Error>) -> Self {
        let source = error.into();
        let name = name.to_owned();
        match Errno::from_io_error(&source) {
            Some(Errno::NOENT) => FileError::NotFound(name),
            Some(Errno::LOOP | Errno::XDEV) => FileError::Link(name),
            Some(Errno::NOTDIR) => FileError::NotFolder(name),
            Some(Errno::ISDIR | Errno::NXIO | Errno::NODEV) => FileError::NotRegular(name),
            Some(Errno::NOSYS) => FileError::NoOpenat2,
            _ => FileError::Io { name, source },
        }
    }
}
