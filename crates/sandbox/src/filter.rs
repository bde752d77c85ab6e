//! Which system calls exist for the sandbox. An allow-list for the zygote and all its children,
//! and a small deny-list each child adds at its lease: installing the long list per child would
//! cost half a millisecond, installing the short one costs a sixth of that.
//! The policy is compiled here and sent to the jail as bytes, so that it is readable Rust and the jail
//! stays small.

use std::collections::BTreeMap;

use libc::*;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Is,
    SeccompCondition as Condition, SeccompFilter, SeccompRule, TargetArch,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// What Python code may use, on every architecture.
const COMMON: &[i64] = &[
    // data
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_preadv,
    SYS_pwritev,
    SYS_lseek,
    SYS_sendfile,
    SYS_copy_file_range,
    SYS_fsync,
    SYS_fdatasync,
    SYS_ftruncate,
    SYS_truncate,
    SYS_fadvise64,
    SYS_recvfrom,
    SYS_shutdown,
    // descriptors
    SYS_close,
    SYS_close_range,
    SYS_dup,
    SYS_dup3,
    SYS_fcntl,
    SYS_flock,
    SYS_pipe2,
    SYS_eventfd2,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_ppoll,
    SYS_pselect6,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_getsockopt,
    SYS_getsockname,
    SYS_getpeername,
    // names
    SYS_openat,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_statfs,
    SYS_fstatfs,
    SYS_faccessat,
    SYS_getdents64,
    SYS_getcwd,
    SYS_chdir,
    SYS_fchdir,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_readlinkat,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_umask,
    SYS_utimensat,
    // memory
    SYS_mmap,
    SYS_mprotect,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_membarrier,
    // time
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_times,
    SYS_getitimer,
    SYS_setitimer,
    // signals, to itself: it is alone in its pid namespace
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_rt_sigsuspend,
    SYS_rt_sigpending,
    SYS_sigaltstack,
    SYS_kill,
    SYS_tgkill,
    SYS_restart_syscall,
    // itself
    SYS_getuid,
    SYS_getgid,
    SYS_geteuid,
    SYS_getegid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getgroups,
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getpgid,
    SYS_getsid,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrusage,
    SYS_getrlimit,
    SYS_getcpu,
    SYS_getrandom,
    SYS_exit,
    SYS_exit_group,
    SYS_wait4,
    SYS_waitid,
    // threads
    SYS_futex,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_set_tid_address,
    SYS_rseq,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
];

/// Older spellings that only x86-64 has.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: &[i64] = &[
    SYS_open,
    SYS_creat,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_mkdir,
    SYS_rmdir,
    SYS_unlink,
    SYS_rename,
    SYS_chmod,
    SYS_pipe,
    SYS_dup2,
    SYS_select,
    SYS_poll,
    SYS_epoll_create,
    SYS_epoll_wait,
    SYS_time,
    SYS_alarm,
    SYS_getpgrp,
    SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const ARCHITECTURE: &[i64] = &[];

/// Answered with ENOSYS, so that libc and Python fall back to what is allowed.
const ABSENT: &[i64] = &[
    SYS_clone3,
    SYS_openat2,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_faccessat2,
];

/// What building a child takes. Each child gives all of it up at its lease.
const BUILDING: &[i64] = &[
    SYS_mount,
    SYS_umount2,
    SYS_mount_setattr,
    SYS_sethostname,
    SYS_setrlimit,
    SYS_setgroups,
    SYS_setresgid,
    SYS_setresuid,
    SYS_capset,
    SYS_seccomp,
    SYS_landlock_create_ruleset,
    SYS_landlock_add_rule,
    SYS_landlock_restrict_self,
    SYS_setpgid,
    SYS_recvmsg,
    SYS_sendmsg,
];

/// Terminal size and mode, bytes waiting, blocking mode, close-on-exec: FIONCLEX, FIOCLEX.
const IOCTLS: [u64; 6] = [0x5401, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451];

/// Three programs, as bytes: two for the zygote, and the child's addition.
pub(crate) fn programs() -> Result<[Vec<u8>; 3], BackendError> {
    Ok([bytes(absent()?), bytes(base()?), bytes(child()?)])
}

fn base() -> Result<BpfProgram, BackendError> {
    let mut rules = Rules::new();
    // What is absent passes here, so that the other filter's ENOSYS is the only answer.
    let limited_later: &[i64] = &[SYS_clone, SYS_prctl, SYS_prlimit64];
    let unconditional = [COMMON, ARCHITECTURE, ABSENT, BUILDING, limited_later];
    for number in unconditional.concat() {
        rules.insert(number, Vec::new());
    }
    rules.insert(SYS_socketpair, vec![rule([equal(0, AF_UNIX as u64)?])?]);
    // Along a socket it has, never to an address: a datagram needs no connection to arrive.
    let nowhere = Condition::new(4, Width::Qword, Is::Eq, 0)?;
    rules.insert(SYS_sendto, vec![rule([nowhere])?]);
    let ioctls: Result<_, _> = IOCTLS.iter().map(|code| rule([equal(1, *code)?])).collect();
    rules.insert(SYS_ioctl, ioctls?);
    let denied = SeccompAction::Errno(EPERM as u32);
    SeccompFilter::new(rules, denied, SeccompAction::Allow, architecture()?)?.try_into()
}

fn child() -> Result<BpfProgram, BackendError> {
    let mut rules: Rules = BUILDING
        .iter()
        .map(|number| (*number, Vec::new()))
        .collect();
    // Threads, nothing else: a clone without CLONE_THREAD is a fork, one with a CLONE_NEW* flag is
    // a namespace.
    let namespaces = [
        CLONE_NEWNS,
        CLONE_NEWUSER,
        CLONE_NEWPID,
        CLONE_NEWNET,
        CLONE_NEWIPC,
        CLONE_NEWUTS,
        CLONE_NEWCGROUP,
    ];
    let mut clones = vec![rule([masked(0, CLONE_THREAD as u64, 0)?])?];
    // A table of descriptors of its own would not be seen under the process's name in /proc.
    clones.push(rule([masked(0, CLONE_FILES as u64, 0)?])?);
    rules.insert(
        SYS_close_range,
        vec![rule([masked(
            2,
            CLOSE_RANGE_UNSHARE.into(),
            CLOSE_RANGE_UNSHARE.into(),
        )?])?],
    );
    for flag in namespaces {
        let flag = flag as u32 as u64;
        clones.push(rule([masked(0, flag, flag)?])?);
    }
    rules.insert(SYS_clone, clones);
    // A file without a name would lie in no folder, where nobody counts it.
    const UNNAMED: u64 = 0o20_000_000;
    rules.insert(SYS_openat, vec![rule([masked(2, UNNAMED, UNNAMED)?])?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(SYS_open, vec![rule([masked(1, UNNAMED, UNNAMED)?])?]);
    // Its own limits may be read, not set.
    rules.insert(
        SYS_prlimit64,
        vec![
            rule([differs(0, Width::Dword, 0)?])?,
            rule([differs(2, Width::Qword, 0)?])?,
        ],
    );
    // Names of threads and of mappings may be set.
    let named = [PR_SET_NAME, PR_GET_NAME, 0x5356_4d41].map(|option| option as u64);
    let unnamed: Result<Vec<_>, _> = named
        .iter()
        .map(|option| differs(0, Width::Dword, *option))
        .collect();
    rules.insert(SYS_prctl, vec![SeccompRule::new(unnamed?)?]);
    let denied = SeccompAction::Errno(EPERM as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture()?)?.try_into()
}

/// A filter of its own: one filter has one errno.
fn absent() -> Result<BpfProgram, BackendError> {
    let rules = ABSENT.iter().map(|number| (*number, Vec::new())).collect();
    let missing = SeccompAction::Errno(ENOSYS as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, missing, architecture()?)?.try_into()
}

fn architecture() -> Result<TargetArch, BackendError> {
    std::env::consts::ARCH.try_into()
}

fn rule<const N: usize>(conditions: [Condition; N]) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.to_vec())
}

fn equal(argument: u8, value: u64) -> Result<Condition, BackendError> {
    Condition::new(argument, Width::Dword, Is::Eq, value)
}

fn differs(argument: u8, width: Width, value: u64) -> Result<Condition, BackendError> {
    Condition::new(argument, width, Is::Ne, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<Condition, BackendError> {
    Condition::new(argument, Width::Qword, Is::MaskedEq(mask), value)
}

fn bytes(program: BpfProgram) -> Vec<u8> {
    let instruction = |i: seccompiler::sock_filter| {
        let mut bytes = i.code.to_ne_bytes().to_vec();
        bytes.extend([i.jt, i.jf]);
        bytes.extend(i.k.to_ne_bytes());
        bytes
    };
    program.into_iter().flat_map(instruction).collect()
}
