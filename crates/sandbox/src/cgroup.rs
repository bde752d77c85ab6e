//! [`Cgroup`]: one bound on the memory and processes of all runs together, where this process may
//! make control groups. A single run is bounded without it, being one process under resource
//! limits; this keeps many of them from starving the machine.
//! A server that was killed leaves its empty group, which the next one removes.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Of the machine's memory, for all runs together.
const MEMORY_SHARE: (u64, u64) = (3, 4);
const PROCESSES: u64 = 8_192;

const PREFIX: &str = "callgate-";

/// The directories of one group, one per hierarchy. Removed on drop, when its processes are gone.
pub(crate) struct Cgroup(Vec<PathBuf>);

/// A hierarchy with the files that set its limits.
struct Hierarchy {
    root: &'static str,
    limits: &'static [(&'static str, Limit)],
}

#[derive(Clone, Copy)]
enum Limit {
    Memory,
    Processes,
}

/// Version 2 has one hierarchy, version 1 one for each resource.
const HIERARCHIES: [Hierarchy; 3] = [
    Hierarchy {
        root: "/sys/fs/cgroup",
        limits: &[
            ("memory.max", Limit::Memory),
            ("pids.max", Limit::Processes),
        ],
    },
    Hierarchy {
        root: "/sys/fs/cgroup/memory",
        limits: &[("memory.limit_in_bytes", Limit::Memory)],
    },
    Hierarchy {
        root: "/sys/fs/cgroup/pids",
        limits: &[("pids.max", Limit::Processes)],
    },
];

impl Cgroup {
    /// Puts `process`, and so all it will start, into a new group. `None` where that is not
    /// possible.
    pub(crate) fn around(process: u32) -> Option<Cgroup> {
        let made = HIERARCHIES.iter().filter_map(|hierarchy| {
            remove_stale(Path::new(hierarchy.root));
            hierarchy.enter(process).ok()
        });
        let made: Vec<PathBuf> = made.collect();
        (!made.is_empty()).then_some(Cgroup(made))
    }
}

impl Hierarchy {
    fn enter(&self, process: u32) -> io::Result<PathBuf> {
        let folder = Path::new(self.root).join(format!("{PREFIX}{process}"));
        if !Path::new(self.root).join("cgroup.procs").exists() {
            return Err(io::ErrorKind::NotFound.into());
        }
        fs::create_dir(&folder)?;
        let enter = || -> io::Result<()> {
            for (file, limit) in self.limits {
                let file = folder.join(file);
                // Creating it would only hide that the kernel does not offer it.
                fs::metadata(&file)?;
                fs::write(file, limit.value()?.to_string())?;
            }
            fs::write(folder.join("cgroup.procs"), process.to_string())
        };
        enter().inspect_err(|_| drop(fs::remove_dir(&folder)))?;
        Ok(folder)
    }
}

impl Limit {
    fn value(self) -> io::Result<u64> {
        match self {
            Limit::Processes => Ok(PROCESSES),
            Limit::Memory => {
                let (share, whole) = MEMORY_SHARE;
                Ok(machine_memory()? / whole * share)
            }
        }
    }
}

fn machine_memory() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = total.and_then(|rest| rest.trim().strip_suffix("kB"));
    let kilobytes: Option<u64> = kilobytes.and_then(|number| number.trim().parse().ok());
    kilobytes
        .map(|kilobytes| kilobytes * 1024)
        .ok_or_else(|| io::Error::other("no MemTotal"))
}

/// A killed server leaves its groups behind; the kernel lets go only of empty ones.
fn remove_stale(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for folder in &self.0 {
            let _ = fs::remove_dir(folder);
        }
    }
}
