//! Landlock by its three system calls: which paths a process may read and write, whether it has TCP, no
//! signals or abstract sockets out of its own domain.

use std::ffi::CStr;

use crate::sys::{Step, check};

const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;

pub const LIST: u64 = READ_DIR;
pub const READ: u64 = READ_FILE | READ_DIR;
pub const READ_WRITE: u64 =
    READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE;
/// What a rule on a single file may grant.
pub const FILE_READ_WRITE: u64 = READ_FILE | WRITE_FILE | TRUNCATE;

#[repr(C)]
struct RulesetAttr {
    handled_fs: u64,
    handled_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

/// A ruleset that denies everything the running kernel can deny, until rules are added; TCP too,
/// unless that is allowed from the start.
pub struct Ruleset {
    descriptor: i32,
    handled: u64,
}

impl Ruleset {
    pub fn new(tcp: bool) -> Step<Ruleset> {
        const VERSION_FLAG: u64 = 1;
        // SAFETY: asks for the version; no pointer is passed.
        let version =
            unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0u64, 0u64, VERSION_FLAG) };
        let version = check(version, "landlock")?;
        let filesystem_bits = match version {
            1 => 13,
            2 => 14,
            3 | 4 => 15,
            _ => 16,
        };
        let attributes = RulesetAttr {
            handled_fs: (1 << filesystem_bits) - 1,
            handled_net: if version >= 4 && !tcp { 0b11 } else { 0 },
            scoped: if version >= 6 { 0b11 } else { 0 },
        };
        let size = match version {
            1..=3 => 8usize,
            4 | 5 => 16,
            _ => 24,
        };
        // SAFETY: the struct is at least `size` long.
        let descriptor =
            unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &attributes, size, 0u64) };
        Ok(Ruleset {
            descriptor: check(descriptor, "landlock ruleset")? as i32,
            handled: attributes.handled_fs,
        })
    }

    /// Grants `access` below `path`; a path that does not exist needs no rule.
    pub fn allow(&self, path: &CStr, access: u64) -> Step<()> {
        // SAFETY: a live NUL-terminated string.
        let parent = unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        if parent < 0 {
            return Ok(());
        }
        let rule = PathBeneath {
            allowed: access & self.handled,
            parent,
        };
        const PATH_BENEATH: u64 = 1;
        // SAFETY: the struct is live and of the type the rule kind names.
        let result = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.descriptor,
                PATH_BENEATH,
                &rule,
                0u64,
            )
        };
        let result = check(result, &format!("landlock {}", path.to_string_lossy()));
        // SAFETY: `parent` is ours and not used again.
        unsafe { libc::close(parent) };
        result.map(drop)
    }

    pub fn enforce(&self) -> Step<()> {
        // SAFETY: integers only.
        let result =
            unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.descriptor, 0u64) };
        check(result, "landlock restrict")?;
        // SAFETY: the descriptor is ours and not used again.
        unsafe { libc::close(self.descriptor) };
        Ok(())
    }
}
