//! [`Witness`]: counts effects in a file, so that a test can tell after a crash what happened
//! before it.

use std::{
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
};

pub struct Witness(PathBuf);

impl Witness {
    /// The same path in another process is the same witness.
    pub fn at(path: &Path) -> Self {
        Witness(path.to_owned())
    }

    /// One line in one write: neither a kill nor another process can split it.
    pub fn saw(&self, effect: &str) {
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).open(&self.0);
        let written = file.and_then(|mut file| file.write_all(format!("{effect}\n").as_bytes()));
        written.expect("the witness can write");
    }

    pub fn times(&self, effect: &str) -> usize {
        let seen = std::fs::read_to_string(&self.0).unwrap_or_default();
        seen.lines().filter(|line| *line == effect).count()
    }
}
