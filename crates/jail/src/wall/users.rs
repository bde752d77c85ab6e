//! New namespaces, and who is who in the one of users: everybody is who they were. Root keeps all users
//! that it knows, whose files it then still may touch; anybody else keeps themselves.

use std::fs;

use crate::{
    process,
    sys::{self, Step, StepError, check, failed},
};

pub fn unshare(offline: bool) -> Step<()> {
    let mut flags =
        libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    if offline {
        flags |= libc::CLONE_NEWNET;
    }
    // SAFETY: integers only.
    let leave = || check(unsafe { libc::unshare(flags) }.into(), "unshare");
    // SAFETY: no arguments.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    if user != 0 {
        leave()?;
        write("/proc/self/setgroups", "deny")?;
        write("/proc/self/uid_map", &format!("{user} {user} 1"))?;
        return write("/proc/self/gid_map", &format!("{group} {group} 1"));
    }
    // A map of many is accepted from outside only.
    let outside = Outside::wait(
        &same(&read("/proc/self/uid_map")?),
        &same(&read("/proc/self/gid_map")?),
    )?;
    leave()?;
    outside.map()
}

/// Of a map of users, what it shows, mapped to itself.
fn same(map: &str) -> String {
    let line = |line: &str| {
        let mut numbers = line.split_whitespace();
        let (first, count) = (numbers.next()?, numbers.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    };
    map.lines().filter_map(line).collect()
}

/// A process that has stayed behind to write our maps.
struct Outside {
    pid: i32,
    begin: i32,
    told: i32,
}

impl Outside {
    fn wait(users: &str, groups: &str) -> Step<Outside> {
        let [begun, begin] = process::pipe()?;
        let [told, tell] = process::pipe()?;
        let ours = std::process::id();
        let pid = process::fork()?;
        if pid == 0 {
            process::close(begin);
            if !process::read(begun).is_empty() {
                let mapped = write(&format!("/proc/{ours}/uid_map"), users)
                    .and_then(|()| write(&format!("/proc/{ours}/gid_map"), groups));
                if let Err(failure) = mapped {
                    process::write(tell, failure.to_string().as_bytes());
                }
            }
            sys::exit(0);
        }
        process::close(begun);
        process::close(tell);
        Ok(Outside { pid, begin, told })
    }

    fn map(self) -> Step<()> {
        process::write(self.begin, b"now");
        let words = process::read(self.told);
        process::ended(self.pid, true);
        process::close(self.begin);
        process::close(self.told);
        if words.is_empty() {
            return Ok(());
        }
        Err(failed("user map", &String::from_utf8_lossy(&words)))
    }
}

fn read(path: &str) -> Step<String> {
    named(fs::read_to_string(path), path)
}

/// In one piece: such files take no second one.
fn write(path: &str, text: &str) -> Step<()> {
    named(fs::write(path, text), path)
}

fn named<T>(result: std::io::Result<T>, step: &str) -> Step<T> {
    result.map_err(|source| StepError {
        step: step.to_owned(),
        source,
    })
}
