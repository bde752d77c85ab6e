//! [`Wall`]: what stands around workers, installers and the browser: other people's code. Such a program
//! has a root of its own, in which it finds the system's files, what it was given, and nothing else; no
//! process but its own; of system calls and root's powers what plugins need; of near addresses those that
//! are open. Built from outside before the
//! program starts, by `callgate-wall` (`crates/jail/src/wall`), which we carry along; where the kernel
//! refuses, the program does not start. Which parts of the machine are shown is decided here.

mod filter;
mod helper;
mod near;
mod places;
mod system;

use std::{
    io,
    net::SocketAddr,
    os::fd::AsRawFd,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

pub use near::NearAddresses;
use places::Places;
pub(crate) use places::interpreter;

/// The exit code of a program that could not be given its wall; `callgate-wall` has said why.
pub(crate) const NO_WALL: i32 = 78;

#[derive(Clone, Debug, Default)]
pub(crate) struct Wall {
    /// What it may read, and what it may also write, besides the system's files.
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) writable: Vec<PathBuf>,
    /// A folder that no place leads into, unless it is named itself: the data directory.
    pub(crate) hidden: PathBuf,
    pub(crate) folder: PathBuf,
    /// Bytes of address space; 0 sets no limit.
    pub(crate) memory: u64,
    /// Without a network, and so without any socket but its own.
    pub(crate) offline: bool,
    pub(crate) near: NearAddresses,
    /// Places can be added while it runs, by a socket that comes over its standard input.
    pub(crate) control: bool,
    /// The operator has chosen to do without.
    pub(crate) unwalled: bool,
}

/// Can a program be put behind a wall here, with these addresses open? Else why not.
pub fn try_wall(near: NearAddresses) -> Result<(), String> {
    let nothing = tempfile::tempdir().map_err(|error| error.to_string())?;
    let wall = Wall {
        hidden: nothing.path().to_owned(),
        folder: PathBuf::from("/"),
        near,
        ..Wall::default()
    };
    let tried = wall
        .command(Path::new("true"))
        .and_then(|mut command| command.output());
    match tried {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr);
            Err(words.trim().trim_start_matches("error: ").to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

impl Wall {
    /// `program` behind this wall. Arguments and environment are to be added.
    pub(crate) fn command(&self, program: &Path) -> io::Result<Command> {
        let helper = format!("/proc/self/fd/{}", helper::program()?.as_raw_fd());
        #[allow(
            clippy::disallowed_methods,
            reason = "the one place that starts programs behind a wall"
        )]
        let mut command = Command::new(helper);
        command
            .arg0("callgate-wall")
            .args(self.words()?)
            .arg("--")
            .arg(program);
        Ok(command)
    }

    /// The order to show `path` too, as the process of a wall takes it; `None` where a new wall is
    /// needed for that.
    pub(crate) fn order_for(&self, path: &Path) -> Option<Vec<u8>> {
        let real = path.canonicalize().ok()?;
        if self.hidden.starts_with(real) {
            return None;
        }
        let mut places = Places::default();
        places.write(path);
        Some(order(places.words(None)))
    }

    /// The order to let it send to `address` too.
    pub(crate) fn order_to_open(address: SocketAddr) -> Vec<u8> {
        order(near::order(address))
    }

    fn words(&self) -> io::Result<Vec<String>> {
        let mut words = vec!["folder".to_owned(), self.folder.display().to_string()];
        words.extend(["memory".to_owned(), self.memory.to_string()]);
        words.extend(self.control.then(|| "control".to_owned()));
        if self.unwalled {
            words.push("unwalled".to_owned());
            return Ok(words);
        }
        words.extend(self.offline.then(|| "offline".to_owned()));
        let mut places = Places::default();
        for path in system::READ {
            places.read(Path::new(path));
        }
        for path in &self.readable {
            places.read(path);
        }
        for path in &self.writable {
            places.write(path);
        }
        let hidden = self.hidden.canonicalize();
        let hidden = hidden.unwrap_or_else(|_| self.hidden.clone());
        words.extend(places.words(Some(&hidden)));
        for program in filter::programs(self.offline).map_err(io::Error::other)? {
            words.extend(["filter".to_owned(), program]);
        }
        if !self.offline && !self.near.are_all_open() {
            words.extend(["guarded".to_owned(), filter::guard()]);
            words.extend(self.near.words());
        }
        Ok(words)
    }
}

/// As the process of a wall takes it.
fn order(words: impl IntoIterator<Item = String>) -> Vec<u8> {
    let words = words.into_iter();
    let mut order: Vec<u8> = words.flat_map(|word| (word + "\0").into_bytes()).collect();
    order.push(0);
    order
}
