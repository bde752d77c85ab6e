//! Which data directory a command means that names none: the one in this folder, else that of this user's server,
//! found by what servers write into the user's runtime directory. Nobody is left to guess which it was.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File},
    io,
    os::{
        fd::AsRawFd,
        unix::{
            ffi::{OsStrExt, OsStringExt},
            fs::{DirBuilderExt, MetadataExt},
            net::UnixStream,
        },
    },
    path::{Path, PathBuf},
};

use crate::{failure::Failure, show};

/// Where everything is kept if nobody says otherwise.
const DATA: &str = "./callgate-data";

/// A server of this user can be found while this is held.
pub struct Registration(PathBuf);

impl Drop for Registration {
    fn drop(&mut self) {
        // Only tidiness: one that nobody answers for is not counted.
        let _ = fs::remove_file(&self.0);
    }
}

/// The server of `data`, whose page is at `url`, is found by commands in other folders. Without a runtime
/// directory it is not.
pub fn register(data: &Path, url: &str) -> Option<Registration> {
    let registered = folder().and_then(|folder| {
        let file = folder.join(std::process::id().to_string());
        let entry = [url.as_bytes(), b"\n", data.as_os_str().as_bytes()].concat();
        fs::write(&file, entry)?;
        Ok(Registration(file))
    });
    registered
        .inspect_err(
            |error| tracing::debug!(%error, "commands in other folders do not find this server"),
        )
        .ok()
}

/// Here, whoever else serves elsewhere: for commands that make a data directory their own.
pub fn here() -> PathBuf {
    whole(PathBuf::from(DATA))
}

/// The directory of a command that names none.
pub fn find(quiet: bool) -> Result<PathBuf, Failure> {
    let (here, mut served) = (here(), served_folders());
    let note = |text: String| {
        if !quiet {
            show::note(&text);
        }
    };
    if here.exists() {
        if let Some(other) = served.iter().find(|_| !served.contains(&here)) {
            note(format!(
                "this is about {}; a server of yours runs on {}, which --data {} asks",
                here.display(),
                other.display(),
                other.display()
            ));
        }
        return Ok(here);
    }
    match served.len() {
        0 => {
            note(format!("a new data directory: {}", here.display()));
            Ok(here)
        }
        1 => {
            let found = served.remove(0);
            note(format!("asking your server on {}", found.display()));
            Ok(found)
        }
        _ => {
            let shown: Vec<_> = served.iter().map(|it| it.display().to_string()).collect();
            Err(Failure::new(
                format!("several servers of yours are running: {}", shown.join(", ")),
                "choose one with --data DIR",
            ))
        }
    }
}

/// Whole: the sandbox is started elsewhere and would look from there.
pub fn whole(data: PathBuf) -> PathBuf {
    std::path::absolute(&data).unwrap_or(data)
}

/// Where the page of the server of `data` is.
pub fn page(data: &Path) -> Option<String> {
    let found = served().into_iter().find(|server| server.data == data);
    found.map(|server| server.url)
}

struct Served {
    data: PathBuf,
    url: String,
}

fn served_folders() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = served().into_iter().map(|server| server.data).collect();
    found.sort();
    found.dedup();
    found
}

/// This user's servers that answer.
fn served() -> Vec<Served> {
    let entries = folder().and_then(fs::read_dir).into_iter().flatten();
    let mut found = Vec::new();
    for file in entries.flatten().map(|entry| entry.path()) {
        let Ok(entry) = fs::read(&file) else { continue };
        let Some(end) = entry.iter().position(|byte| *byte == b'\n') else {
            continue;
        };
        let (url, data) = entry.split_at(end);
        let server = Served {
            data: PathBuf::from(OsString::from_vec(data.iter().skip(1).copied().collect())),
            url: String::from_utf8_lossy(url).into_owned(),
        };
        if answers(&server.data) {
            found.push(server);
        } else {
            // Its server was killed.
            let _ = fs::remove_file(&file);
        }
    }
    found
}

/// By a short path: one to a socket has room for a hundred bytes.
fn answers(data: &Path) -> bool {
    File::open(data).is_ok_and(|directory| {
        let socket = format!("/proc/self/fd/{}/control.sock", directory.as_raw_fd());
        UnixStream::connect(socket).is_ok()
    })
}

/// Ours alone, or nothing in it is believed.
fn folder() -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = own.filter(|it| it.is_absolute() && it.is_dir());
    let usual = Some(PathBuf::from(format!("/run/user/{user}"))).filter(|it| it.is_dir());
    let folder = match own.or(usual) {
        Some(runtime) => runtime.join("callgate"),
        None => std::env::temp_dir().join(format!("callgate-{user}")),
    };
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(&folder)?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0 {
        Ok(folder)
    } else {
        let why = format!("{} is open to others", folder.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }
}
