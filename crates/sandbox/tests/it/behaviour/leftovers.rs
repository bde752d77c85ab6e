//! Nothing remains: no process, mount, descriptor or file, however a run or its owner ended. What
//! belongs to a process can only be counted in one that does nothing else, so these tests start
//! this binary again with a part to play.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use callgate_contract::{RunSpec, Sandbox, Stop};

use crate::{
    harness::{Host, TestJail, runtime, stubs},
    processes::{descendants, eventually},
};

/// Names the folder of the started process, and by being set tells it that it is one.
const FOLDER: &str = "CALLGATE_TEST_FOLDER";

fn play(part: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            &format!("behaviour::leftovers::{part}"),
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .env("TMPDIR", folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn own_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

#[test]
fn nothing_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let output = play("part_many_runs", folder.path()).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&text)
    );
}

/// A part, not a test of its own.
#[test]
fn part_many_runs() {
    let Some(folder) = own_folder() else { return };
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let descriptors = || {
        let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
        // Gone are those that vanish while one looks, the look itself among them.
        let mut open: Vec<_> = links
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .collect();
        open.sort();
        open
    };
    // The runtime opens its own on first use.
    runtime().block_on(async {});
    let (mounts_before, descriptors_before) = (mounts(), descriptors());

    let jail = TestJail::new(&folder.join("sessions"));
    let session = jail.session();
    let endings = [
        ("print(1)", Stop::Finished),
        ("1 / 0", Stop::Error),
        ("stop_agent('x')", Stop::Agent),
        ("while True: pass", Stop::Timeout),
        ("while True: print('x' * 1000)", Stop::Output),
        (
            "import os; os.close(3); os.read(0, 1); import time; time.sleep(60)",
            Stop::Killed,
        ),
        ("import ctypes; ctypes.string_at(0)", Stop::Killed),
        (
            "import threading\nfor _ in range(9): threading.Thread(target=slow, args=(60.0,)).start()",
            Stop::Cancelled,
        ),
    ];
    for (code, stop) in endings {
        let mut spec = RunSpec::new(code, session.folders);
        spec.stubs = stubs();
        if stop == Stop::Timeout {
            spec.limits.wall = Duration::from_millis(300);
        }
        let cancel = spec.cancel.clone();
        let run = jail.jail.run(spec, Host::default().answer());
        let report = runtime().block_on(async {
            let cancelled = async {
                if stop == Stop::Cancelled {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    cancel.cancel();
                }
                std::future::pending().await
            };
            tokio::select! { report = run => report.unwrap(), () = cancelled => unreachable!() }
        });
        assert_eq!(report.stop, stop, "{report:?}");
    }
    let pool = std::thread::available_parallelism().map_or(2, usize::from) * 2;
    let most = pool + 2; // The zygote is two processes.
    assert!(
        eventually(|| descendants(std::process::id()).len() <= most),
        "children of ended runs"
    );

    let groups = control_groups();
    drop(jail);
    assert!(
        eventually(|| descendants(std::process::id()).is_empty()),
        "processes are left"
    );
    eventually(|| descriptors().len() == descriptors_before.len());
    assert_eq!(descriptors(), descriptors_before);
    assert_eq!(mounts(), mounts_before);
    assert!(
        eventually(|| !groups.iter().any(|group| group.exists())),
        "control groups are left: {groups:?}"
    );
    let names = |path: &Path| -> Vec<_> {
        fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect()
    };
    assert_eq!(names(&folder), ["sessions"]);
    assert_eq!(
        names(&session.shared()).len() + names(&session.uploads()).len(),
        0
    );
}

/// The control groups that hold processes below this one; none where none can be made.
fn control_groups() -> Vec<PathBuf> {
    let roots = [
        "/sys/fs/cgroup",
        "/sys/fs/cgroup/memory",
        "/sys/fs/cgroup/pids",
    ];
    let processes = descendants(std::process::id());
    let names = processes
        .iter()
        .map(|process| format!("callgate-{}", process.pid()));
    let groups = names.flat_map(|name| roots.map(|root| Path::new(root).join(&name)));
    groups.filter(|group| group.exists()).collect()
}

#[test]
fn killing_the_owner_kills_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut owner = play("part_long_runs", folder.path()).spawn().unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("all are running")));
    let processes = descendants(owner.id());
    assert!(
        processes.len() >= 6,
        "the zygote's two, four runs: {processes:?}"
    );
    owner.kill().unwrap();
    owner.wait().unwrap();
    let left = || {
        processes
            .iter()
            .filter(|process| process.is_alive())
            .count()
    };
    assert!(eventually(|| left() == 0), "{} are left", left());
}

/// A part, not a test of its own: it is killed long before these runs end.
#[test]
fn part_long_runs() {
    let Some(folder) = own_folder() else { return };
    let jail = TestJail::new(&folder.join("sessions"));
    let (tell, told) = std::sync::mpsc::channel();
    let ways = [
        "while True: pass",
        "import time\ntime.sleep(600)",
        "slow(600.0)",
        "import signal, time\n[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]\ntime.sleep(600)",
    ];
    let runs = ways.map(|code| {
        let mut spec = RunSpec::new(format!("print('on')\n{code}"), jail.session().folders);
        spec.stubs = stubs();
        let tell = tell.clone();
        spec.output = Some(Box::new(move |_| tell.send(()).unwrap()));
        jail.jail.run(spec, Host::default().answer())
    });
    runtime().block_on(async {
        let [a, b, c, d] = runs;
        let announce = tokio::task::spawn_blocking(move || {
            for _ in ways {
                told.recv().unwrap();
            }
            #[allow(
                clippy::print_stdout,
                reason = "read by the test that plays the other part"
            )]
            {
                println!("all are running");
            }
        });
        let _ = tokio::join!(a, b, c, d, announce);
    });
}
