//! Processes as /proc shows them: who descends from whom, and who is still there.

use std::{
    collections::HashMap,
    fs,
    time::{Duration, Instant},
};

/// A pid alone may be used again; together with its start time it may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pid: u32,
    started: u64,
}

impl Process {
    pub fn pid(self) -> u32 {
        self.pid
    }

    pub fn is_alive(self) -> bool {
        read(self.pid).is_some_and(|(process, _)| process == self)
    }
}

/// Every living process below `ancestor`.
pub fn descendants(ancestor: u32) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<Process>> = HashMap::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some((process, parent)) = pid.and_then(read) {
            children.entry(parent).or_default().push(process);
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for process in children.remove(&parent).unwrap_or_default() {
            parents.push(process.pid);
            found.push(process);
        }
    }
    found
}

/// The process and its parent, unless it is gone or a mere entry to be reaped.
fn read(pid: u32) -> Option<(Process, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything: what follows its end is regular.
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let (state, parent, started) = (fields.first()?, fields.get(1)?, fields.get(19)?);
    let process = Process {
        pid,
        started: started.parse().ok()?,
    };
    (*state != "Z").then_some((process, parent.parse().ok()?))
}

/// Waits until `holds`; false when it does not within a time no sound machine needs.
pub fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
