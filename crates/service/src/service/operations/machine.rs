//! The machine and this process over HTTP: memory by process, the sandbox's pool, the doctor's word.

use std::{collections::HashMap, fs};

use crate::operations::{Checks, Machine, PluginState, Pool, Process};

use crate::Service;
use crate::doctor::examine;

impl Service {
    pub async fn machine(&self) -> Machine {
        let plugins = self.plugin_views(None).await;
        let failed = plugins.iter().filter(|it| it.state == PluginState::Failed);
        let jail = self.config.jail(self.store.files().sessions_path(), None);
        let workers = self.plugins().workers().into_iter();
        let workers: HashMap<u32, String> = workers
            .filter_map(|worker| Some((worker.pid()?, format!("plugins: {}", worker.name()))))
            .collect();
        let memory = tokio::task::spawn_blocking(move || processes(&workers)).await;
        Machine {
            started_at: self.began,
            database: match self.config.database.url {
                None => "sqlite".to_owned(),
                Some(_) => "postgres".to_owned(),
            },
            sandbox: Pool {
                waiting: self.jail.waiting(),
                pool: jail.pool,
                concurrent: jail.concurrent,
            },
            memory: memory.unwrap_or_default(),
            plugins_failed: failed.count(),
            plugins: plugins.len(),
            models: self
                .agent
                .get()
                .map_or(0, |agent| agent.models().all().len()),
        }
    }

    pub async fn examined(&self) -> Checks {
        Checks {
            checks: examine(&self.data, &self.config).await,
        }
    }
}

/// Bytes that a process has for itself, with its share of what it has in common with others.
pub(super) fn memory_of(pid: u32) -> Option<u64> {
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

/// This process, its workers, and all else below it as the sandbox.
fn processes(workers: &HashMap<u32, String>) -> Vec<Process> {
    let own = std::process::id();
    let parents = parents();
    let mut found = vec![(
        "callgate".to_owned(),
        own,
        memory_of(own).unwrap_or_default(),
    )];
    let mut sandbox: Option<(u32, u64)> = None;
    for pid in parents.keys().copied() {
        let mut above = std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
        // Sixty-four is deeper than anything of ours.
        if pid == own || !above.by_ref().take(64).any(|it| it == own) {
            continue;
        }
        let bytes = memory_of(pid).unwrap_or_default();
        let mut line = std::iter::successors(Some(pid), |pid| parents.get(pid).copied()).take(64);
        match line.find_map(|it| workers.get(&it)) {
            Some(name) => found.push((name.clone(), pid, bytes)),
            None => {
                let (first, sum) = sandbox.unwrap_or((pid, 0));
                sandbox = Some((first.min(pid), sum + bytes));
            }
        }
    }
    found.extend(sandbox.map(|(pid, bytes)| ("sandbox".to_owned(), pid, bytes)));
    found.sort();
    let named = |(process, pid, bytes)| Process {
        process,
        pid,
        bytes,
    };
    found.into_iter().map(named).collect()
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
