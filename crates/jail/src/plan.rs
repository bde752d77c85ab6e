//! [`Plan`]: what the host wants the jail to look like. A list of NUL-terminated words, made and
//! read by the two halves of one binary.

use crate::sys::{Step, failed};

/// A host path shown read-only at a path of the jail.
pub struct Bind {
    pub source: String,
    pub target: String,
}

#[derive(Default)]
pub struct Plan {
    /// The host maps a range of users: each session gets its own.
    pub many_users: bool,
    pub sessions: String,
    pub binds: Vec<Bind>,
    /// Seccomp programs, as bytes: the zygote's two, and what a child gives up on top.
    pub base_filters: [Vec<u8>; 2],
    pub child_filter: Vec<u8>,
    /// Bytes of each of the child's two scratch filesystems.
    pub scratch: u64,
}

impl Plan {
    pub fn parse(bytes: &[u8]) -> Step<Plan> {
        let text = std::str::from_utf8(bytes).map_err(|_| failed("plan", "not text"))?;
        let mut words = text.split_terminator('\0');
        let mut plan = Plan::default();
        while let Some(word) = words.next() {
            let mut next = || {
                words
                    .next()
                    .map(str::to_owned)
                    .ok_or(failed("plan", "cut off"))
            };
            match word {
                "many-users" => plan.many_users = true,
                "sessions" => plan.sessions = next()?,
                "bind" => plan.binds.push(Bind {
                    source: next()?,
                    target: next()?,
                }),
                "scratch" => {
                    plan.scratch = next()?.parse().map_err(|_| failed("plan", "scratch"))?;
                }
                _ => return Err(failed("plan", word)),
            }
        }
        Ok(plan)
    }
}
