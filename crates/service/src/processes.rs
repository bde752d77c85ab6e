//! Memory of this process and of those it has started.

use std::{collections::HashMap, fs};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ProcessMemory {
    pub process: String,
    pub pid: u32,
    /// Its share of what is resident, shared pages divided among those who share them.
    pub bytes: u64,
}

/// Bytes that a process has for itself, with its share of what it has in common with others.
pub(crate) fn memory_of(pid: u32) -> Option<u64> {
    let share = || {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes << 10)
    };
    // Of a process that is closed to us, all that is resident.
    let resident = || {
        let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    };
    share().or_else(resident)
}

/// This process, its workers by their process ids, and all else below it as the sandbox.
pub(crate) fn memory_by_process(workers: &HashMap<u32, String>) -> Vec<ProcessMemory> {
    let own = std::process::id();
    let parents = parents();
    // Sixty-four is deeper than anything of ours.
    let ancestors =
        |pid: u32| std::iter::successors(Some(pid), |pid| parents.get(pid).copied()).take(64);
    let mut found = vec![ProcessMemory {
        process: "callgate".to_owned(),
        pid: own,
        bytes: memory_of(own).unwrap_or_default(),
    }];
    let mut sandbox: Option<ProcessMemory> = None;
    for pid in parents.keys().copied() {
        if pid == own || !ancestors(pid).any(|it| it == own) {
            continue;
        }
        let worker = ancestors(pid).find_map(|it| workers.get(&it));
        let memory = ProcessMemory {
            process: worker.map_or("sandbox", String::as_str).to_owned(),
            pid,
            bytes: memory_of(pid).unwrap_or_default(),
        };
        match (worker, &mut sandbox) {
            (Some(_), _) => found.push(memory),
            (None, None) => sandbox = Some(memory),
            (None, Some(sandbox)) => {
                sandbox.pid = sandbox.pid.min(pid);
                sandbox.bytes += memory.bytes;
            }
        }
    }
    found.extend(sandbox);
    found.sort();
    found
}

/// Every process and the one that started it.
fn parents() -> HashMap<u32, u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Behind the name, which may hold anything: state, then parent.
        let (_, rest) = stat.rsplit_once(')')?;
        let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
        Some((pid, parent))
    };
    pids.filter_map(parent).collect()
}
