//! What this machine offers for the jail, and what to do about what it lacks. Asked by `doctor`,
//! and when a start fails.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// One wall of the jail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wall {
    UserNamespaces,
    Seccomp,
    Landlock,
    Cgroups,
    Python,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub wall: Wall,
    pub ok: bool,
    /// The jail does not start without it.
    pub required: bool,
    pub detail: String,
    pub hint: Option<String>,
}

/// The interpreter to use when none is configured: the system's, else the first on the path.
pub fn find_python() -> Option<PathBuf> {
    let system = PathBuf::from("/usr/bin/python3");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("python3"));
    std::iter::once(system)
        .chain(on_path)
        .find(|candidate| candidate.is_file() && stdlib_of(candidate).is_some())
}

/// What the jail's root must show for `python` to work: nothing outside these exists in there.
pub(crate) fn root_paths(python: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = [
        "/usr/lib",
        "/usr/lib64",
        "/lib",
        "/lib64",
        "/usr/share/zoneinfo",
        "/usr/share/fonts",
        "/etc/ld.so.cache",
    ]
    .map(PathBuf::from)
    .into();
    if let Some(stdlib) = stdlib_of(python) {
        paths.extend(stdlib.parent().map(Path::to_path_buf));
    }
    // Some of them are links to others, and an inner one comes with its outer one.
    paths.retain(|path| path.exists());
    paths.sort();
    // Sorted, an outer path comes right before those inside it.
    paths.dedup_by(|inner, outer| inner.starts_with(outer));
    paths
}

/// `prefix/lib/python3.N` of the real installation behind `python`, 3.11 or newer.
fn stdlib_of(python: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(python).ok()?;
    let name = real.file_name()?.to_str()?;
    let minor: u32 = name.strip_prefix("python3.")?.parse().ok()?;
    let stdlib = real.parent()?.parent()?.join("lib").join(name);
    (minor >= 11 && stdlib.join("os.py").is_file()).then_some(stdlib)
}

pub fn probe(python: Option<&Path>) -> Vec<Finding> {
    vec![
        user_namespaces(),
        seccomp(),
        landlock(),
        cgroups(),
        interpreter(python),
    ]
}

fn user_namespaces() -> Finding {
    let off =
        |path: &str, value: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
    let hint = if off("/proc/sys/user/max_user_namespaces", "0") {
        Some("sysctl -w user.max_user_namespaces=15000".to_owned())
    } else if rustix::process::geteuid().is_root() {
        None
    } else if off("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        Some("sysctl -w kernel.unprivileged_userns_clone=1".to_owned())
    } else if off(
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
    ) {
        Some(APPARMOR.to_owned())
    } else {
        None
    };
    Finding {
        wall: Wall::UserNamespaces,
        ok: hint.is_none(),
        required: true,
        detail: match hint {
            None => "allowed".into(),
            Some(_) => "switched off by a kernel setting".into(),
        },
        hint,
    }
}

fn seccomp() -> Finding {
    let actions = fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail");
    let ok = actions.is_ok_and(|actions| actions.contains("errno"));
    Finding {
        wall: Wall::Seccomp,
        ok,
        required: true,
        detail: if ok {
            "filters available"
        } else {
            "not in this kernel; neither code nor plugins run without it"
        }
        .into(),
        hint: (!ok).then(|| NO_SECCOMP.into()),
    }
}

/// One call by hand: the crate `landlock` tells a version only to who restricts itself.
fn landlock() -> Finding {
    const VERSION_FLAG: u64 = 1;
    // SAFETY: asks for the version; no pointer is passed.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0u64, 0u64, VERSION_FLAG) };
    let ok = version >= 1;
    Finding {
        wall: Wall::Landlock,
        ok,
        required: true,
        detail: if ok {
            format!("version {version}")
        } else {
            "not enabled; neither code nor plugins run without it".into()
        },
        hint: (!ok).then(|| "boot Linux 5.13 or newer with lsm=landlock,...".into()),
    }
}

/// A run is bounded without them, being one process under resource limits.
fn cgroups() -> Finding {
    let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"].map(Path::new);
    let writable = roots.iter().any(|root| {
        let mode = rustix::fs::Access::WRITE_OK;
        root.join("cgroup.procs").exists() && rustix::fs::access(*root, mode).is_ok()
    });
    Finding {
        wall: Wall::Cgroups,
        ok: writable,
        required: false,
        detail: if writable {
            "writable: all runs together are bounded too"
        } else {
            "not writable: each run is bounded, all runs together are not"
        }
        .into(),
        hint: (!writable)
            .then(|| "run as root, or delegate a cgroup (systemd: Delegate=yes)".into()),
    }
}

fn interpreter(python: Option<&Path>) -> Finding {
    let found = python.map(Path::to_path_buf).or_else(find_python);
    let stdlib = found.as_deref().and_then(stdlib_of);
    Finding {
        wall: Wall::Python,
        ok: stdlib.is_some(),
        required: true,
        detail: match (&found, &stdlib) {
            (Some(python), Some(_)) => python.display().to_string(),
            (Some(python), None) => format!("{} is not CPython 3.11 or newer", python.display()),
            (None, _) => "no python3 found".into(),
        },
        hint: stdlib
            .is_none()
            .then(|| "install Python 3.11 or newer, or set sandbox.python to its path".into()),
    }
}

const NO_SECCOMP: &str = "use a kernel with CONFIG_SECCOMP_FILTER";

const APPARMOR: &str = "AppArmor restricts user namespaces: add a profile for callgate with \
    `userns,` under /etc/apparmor.d, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";

/// What to do when a jail or a wall was refused for `reason`, by what this machine is.
pub fn hint(reason: &str) -> String {
    let static_hint = probe(None).into_iter().find_map(|finding| {
        (finding.required && !finding.ok)
            .then_some(finding.hint)
            .flatten()
    });
    if let Some(hint) = static_hint {
        return hint;
    }
    match container() {
        Some(Container::Docker) => "in Docker or Podman, start the container with \
            --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
            --security-opt systempaths=unconfined"
            .into(),
        Some(Container::Lxc) => {
            "in LXC, set lxc.include = /usr/share/lxc/config/nesting.conf (security.nesting=true)"
                .into()
        }
        Some(Container::Wsl) => "WSL2: run `wsl --update` and restart with `wsl --shutdown`; \
            WSL1 cannot run the sandbox"
            .into(),
        None if reason.contains("seccomp") => NO_SECCOMP.into(),
        None if reason.contains("user map") => {
            "allow this user to map users, or start callgate as an ordinary user".into()
        }
        None => "run `callgate doctor` to see which wall is missing".into(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Docker,
    Lxc,
    Wsl,
}

fn container() -> Option<Container> {
    let exists = |path: &str| Path::new(path).exists();
    let names = |path: &str, word: &str| {
        fs::read(path).is_ok_and(|text| String::from_utf8_lossy(&text).contains(word))
    };
    if exists("/.dockerenv") || exists("/run/.containerenv") {
        Some(Container::Docker)
    } else if names("/proc/1/environ", "container=lxc") {
        Some(Container::Lxc)
    } else if names("/proc/version", "microsoft") {
        Some(Container::Wsl)
    } else {
        None
    }
}
