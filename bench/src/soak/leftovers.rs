//! What a process may leave behind, looked at from `/proc`: children, descriptors, mounts, files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Context;

/// How long the last processes may take to go once nobody wants them.
const PATIENCE: Duration = Duration::from_secs(10);

/// The machine as it was before the first run.
pub(crate) struct Before {
    descriptors: usize,
    mounts: BTreeSet<String>,
    temporary: BTreeSet<String>,
}

impl Before {
    pub(crate) fn look() -> anyhow::Result<Before> {
        Ok(Before {
            descriptors: descriptors()?,
            mounts: mounts()?,
            temporary: temporary()?,
        })
    }

    /// In words, everything that is there now and was not there before. `processes` are those to be
    /// gone.
    pub(crate) fn what_is_left(&self, processes: &[u32]) -> anyhow::Result<Vec<String>> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && (any_alive(processes) || descriptors()? > self.descriptors)
        {
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut left = Vec::new();
        for process in processes.iter().filter(|process| is_alive(**process)) {
            left.push(format!("process {process} is left"));
        }
        let now = descriptors()?;
        if now > self.descriptors {
            left.push(format!("{now} descriptors, {} before", self.descriptors));
        }
        for mount in mounts()?.difference(&self.mounts) {
            left.push(format!("a mount is left: {mount}"));
        }
        for file in temporary()?.difference(&self.temporary) {
            left.push(format!("a temporary file is left: {file}"));
        }
        Ok(left)
    }
}

fn descriptors() -> anyhow::Result<usize> {
    Ok(fs::read_dir("/proc/self/fd")?.count())
}

fn mounts() -> anyhow::Result<BTreeSet<String>> {
    let text = fs::read_to_string("/proc/self/mountinfo")?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Everything there, since the folder is this process's alone.
fn temporary() -> anyhow::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(std::env::temp_dir())? {
        names.insert(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

/// The runs removed all they wrote in their sessions' folders, so these must be empty.
pub(crate) fn files(sessions: &Path) -> anyhow::Result<Vec<String>> {
    let mut left = Vec::new();
    for session in fs::read_dir(sessions)? {
        let session = session?.path();
        for folder in ["shared", "uploads"] {
            for file in fs::read_dir(session.join(folder))? {
                left.push(format!("a file is left: {}", file?.path().display()));
            }
        }
    }
    Ok(left)
}

/// Bytes of our memory that are in use.
pub(crate) fn memory() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    Ok(kilobytes.context("no VmRSS")?.parse::<u64>()? << 10)
}

/// All processes below ours, however deep.
pub(crate) fn descendants() -> anyhow::Result<Vec<u32>> {
    let mut parents = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        if let Some(process) = name.to_str().and_then(|name| name.parse::<u32>().ok())
            && let Some(parent) = parent_of(process)
        {
            parents.insert(process, parent);
        }
    }
    let ours = std::process::id();
    let is_below = |process: &u32| {
        let mut at = *process;
        while let Some(parent) = parents.get(&at) {
            if *parent == ours {
                return true;
            }
            at = *parent;
        }
        false
    };
    Ok(parents.keys().copied().filter(is_below).collect())
}

fn any_alive(processes: &[u32]) -> bool {
    processes.iter().any(|process| is_alive(*process))
}

fn is_alive(process: u32) -> bool {
    parent_of(process).is_some()
}

/// From `/proc/PID/stat`; the name, in parentheses, may hold anything.
fn parent_of(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}
