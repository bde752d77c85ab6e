//! The wall around plugins, through the real binary: what their code cannot reach, as root and as an
//! ordinary user, and that nothing of theirs runs where the kernel has no wall.

use std::{os::unix::net::UnixListener, path::Path, process::Command};

use serde_json::{Value as Json, json};

use crate::{
    sandbox_methods::{with_packages, written},
    scene::{Said, Scene, finish, wait_until},
    server::Server,
};

/// Its import leaves a trace; its methods try what a plugin must not.
const PLUGIN: &str = r#""""Tries."""
import pathlib, socket, subprocess, sys
from callgate import method

pathlib.Path(__file__).with_name("ran").touch()
ASK = b'{"NewKey": {}}\n'

@method
def reach(path: str) -> str:
    """Speak to a socket."""
    try:
        with socket.socket(socket.AF_UNIX) as it:
            it.settimeout(5)
            it.connect(path)
            it.sendall(ASK)
            return f"reached: {it.recv(4096)}"
    except OSError as error:
        return type(error).__name__

@method
def reach_by_child(path: str) -> str:
    """The same by another process."""
    code = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    return (done.stderr.strip() or "reached").splitlines()[-1].split(":")[0]

@method
def look(path: str) -> str:
    """Read a file."""
    try:
        return pathlib.Path(path).read_text()
    except OSError as error:
        return type(error).__name__
"#;

fn plugin(scene: &Scene) -> String {
    let folder = scene.home().join("tries");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("__init__.py"), PLUGIN).unwrap();
    folder.to_str().unwrap().to_owned()
}

fn called(scene: &Scene, method: &str, argument: &str) -> Json {
    let arguments = json!([argument]).to_string();
    let said = scene.callgate(&["call", method, "--args", &arguments, "--json"]);
    said.succeeded().json()["value"].clone()
}

fn nothing_is_reached(scene: &Scene) {
    let folder = plugin(scene);
    scene.let_the_user_in();
    let _server = Server::start(scene);
    scene.callgate(&["plugin", "install", &folder]).succeeded();
    let bait = scene.home().join("bait");
    let _bait = UnixListener::bind(&bait).unwrap();
    scene.let_the_user_in();
    assert!(called(scene, "look", "/etc/hostname").is_string());
    let mut sockets = vec![scene.data().join("control.sock"), bait];
    let web = std::fs::read_dir(scene.data().join("run/web")).unwrap();
    sockets.extend(web.map(|entry| entry.unwrap().path()));
    assert_eq!(sockets.len(), 3);
    for socket in sockets {
        assert!(socket.exists());
        let socket = socket.to_str().unwrap();
        for method in ["reach", "reach_by_child"] {
            assert_eq!(called(scene, method, socket), "PermissionError", "{socket}");
        }
    }
    for secret in ["control.key", "callgate.db", "lock"] {
        let secret = scene.data().join(secret);
        assert!(secret.exists(), "{}", secret.display());
        let seen = called(scene, "look", secret.to_str().unwrap());
        assert_eq!(seen, "FileNotFoundError", "{}", secret.display());
    }
    // The operator's own commands go through the same socket.
    scene.callgate(&["key", "new"]).succeeded();
}

#[test]
fn a_plugin_reaches_neither_the_control_socket_nor_any_other() {
    nothing_is_reached(&Scene::new());
}

#[test]
fn nor_does_it_where_an_ordinary_user_runs_callgate() {
    nothing_is_reached(&Scene::of_ordinary_user());
}

/// Becomes the program that follows, on a kernel that seems to lack the system call of the first
/// argument, or only its use with the second as its first argument.
const LACKING: &str = r#"
import ctypes, os, struct, sys
number, option = int(sys.argv[1]), int(sys.argv[2])
allow, refuse = (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050000 | 38)
steps = [(0x20, 0, 0, 0), (0x15, 0, 3, number), (0x20, 0, 0, 16), (0x15, 0, 1, option), refuse, allow]
if option < 0:
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), refuse, allow]
code = b"".join(struct.pack("HBBI", *step) for step in steps)
program = struct.pack("HP", len(steps), ctypes.addressof(keep := ctypes.create_string_buffer(code)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0, ctypes.get_errno()
os.execv(sys.argv[3], sys.argv[3:])
"#;

fn on_lacking_kernel(scene: &Scene, lacking: (i64, i64), arguments: &[&str]) -> Said {
    let plain = scene.command(arguments);
    #[allow(
        clippy::disallowed_methods,
        reason = "the binary under test, on another kernel"
    )]
    let mut command = Command::new("/usr/bin/python3");
    command
        .args([
            "-c",
            LACKING,
            &lacking.0.to_string(),
            &lacking.1.to_string(),
        ])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(scene.home())
        .env("CALLGATE_LOG", "off")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    finish(command.spawn().unwrap())
}

const LANDLOCK: (i64, i64) = (libc::SYS_landlock_create_ruleset, -1);
/// `seccomp(SECCOMP_SET_MODE_FILTER)`.
const SECCOMP: (i64, i64) = (libc::SYS_seccomp, 1);
const NAMESPACES: (i64, i64) = (libc::SYS_unshare, -1);

#[test]
fn without_a_wall_no_plugin_runs_and_everybody_is_told_why() {
    let walls = [
        (LANDLOCK, "Landlock"),
        (SECCOMP, "seccomp"),
        (NAMESPACES, "unshare"),
    ];
    for (lacking, missing) in walls {
        let scene = Scene::new();
        let folder = plugin(&scene);
        let checked = on_lacking_kernel(&scene, lacking, &["plugin", "check", &folder, "--json"]);
        assert_eq!(checked.code, Some(1), "{missing}: {}", checked.stdout);
        let error = checked.json()[0]["error"].as_str().unwrap().to_owned();
        assert!(error.contains(missing), "{error}");
        assert!(error.contains("behind a wall or not at all"), "{error}");
        assert!(error.contains("--unwalled-plugins"), "{error}");

        scene.callgate(&["plugin", "install", &folder]).succeeded();
        let call = ["call", "look", "--args", "[\"/etc/hostname\"]"];
        let said = on_lacking_kernel(&scene, lacking, &call);
        assert_ne!(said.code, Some(0), "{missing}");
        let traces = [
            &folder,
            scene.data().join("plugins/tries").to_str().unwrap(),
        ]
        .map(|folder| Path::new(folder).join("ran").exists());
        assert_eq!(traces, [false, false], "nothing of it was run");
    }
}

#[test]
fn what_the_kernel_lacks_is_told_by_doctor_and_list() {
    let scene = Scene::new();
    let folder = plugin(&scene);
    scene.callgate(&["plugin", "install", &folder]).succeeded();
    let here = scene.callgate(&["plugin", "list", "--json"]).succeeded();
    assert_eq!(here.json()[0]["error"], Json::Null);
    let listed = on_lacking_kernel(&scene, LANDLOCK, &["plugin", "list", "--json"]).succeeded();
    let error = listed.json()[0]["error"].as_str().unwrap().to_owned();
    assert!(error.contains("lsm=landlock"), "{error}");
    let listed = on_lacking_kernel(&scene, LANDLOCK, &["plugin", "list"]).succeeded();
    assert!(listed.stdout.contains("failed"), "{}", listed.stdout);
    let doctor = on_lacking_kernel(&scene, LANDLOCK, &["doctor"]);
    assert_eq!(doctor.code, Some(1));
    let told = doctor
        .stdout
        .contains("neither code nor plugins run without it");
    assert!(told, "{}", doctor.stdout);
}

#[test]
fn the_operator_can_do_without_a_wall_and_is_told_what_that_means() {
    let scene = Scene::configured("[plugins]\nunwalled = true\n");
    let folder = plugin(&scene);
    let secret = scene.file("letter", "dear reader");
    scene.callgate(&["plugin", "install", &folder]).succeeded();
    let arguments = json!([secret]).to_string();
    let call = ["call", "look", "--args", &arguments, "--json"];
    let said = on_lacking_kernel(&scene, NAMESPACES, &call).succeeded();
    assert_eq!(said.json()["value"], "dear reader");
    let mut logged = scene.command(&call);
    let logged = finish(logged.env("CALLGATE_LOG", "warn").spawn().unwrap()).succeeded();
    assert!(
        logged.stderr.contains("without a wall"),
        "{}",
        logged.stderr
    );

    let doctor = scene.callgate(&["doctor", "--json"]).succeeded().json();
    let checks = doctor["checks"].as_array().unwrap().iter();
    let wall = |name: &Json| name == "plugin wall";
    let told = checks.clone().find(|check| wall(&check["name"])).unwrap();
    assert_eq!(told["status"], "warn");
    let doctor = on_lacking_kernel(&scene, NAMESPACES, &["doctor"]);
    assert!(doctor.stdout.contains("unshare"), "{}", doctor.stdout);
}

#[test]
fn without_a_wall_is_a_choice_of_one_start_too() {
    let scene = Scene::new();
    let folder = plugin(&scene);
    let secret = scene.file("letter", "dear reader");
    scene.callgate(&["plugin", "install", &folder]).succeeded();
    assert_eq!(called(&scene, "look", &secret), "FileNotFoundError");
    let _server = Server::start_with(&scene, &["--unwalled-plugins"]);
    assert_eq!(called(&scene, "look", &secret), "dear reader");
}

/// Killed, a server tells nobody; what its plugins run in ends all the same.
#[test]
fn workers_end_with_a_server_that_is_killed() {
    let scene = Scene::new();
    let folder = plugin(&scene);
    scene.callgate(&["plugin", "install", &folder]).succeeded();
    let mut server = Server::start(&scene);
    assert!(called(&scene, "look", "/etc/hostname").is_string());
    let home = scene.data().join("workers/native");
    let of_workers = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let variables = processes.filter_map(|it| std::fs::read(it.path().join("environ")).ok());
        let own = format!("HOME={}", home.display()).into_bytes();
        let has = |it: &Vec<u8>| it.split(|byte| *byte == 0).any(|variable| variable == own);
        variables.filter(has).count()
    };
    assert!(of_workers() >= 3, "the worker and what keeps its wall");
    let mut child = server.child.take().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until(|| of_workers() == 0);
}

/// What is known to need more of a machine than most: psutil, a package that was built from source, and
/// a program of the machine that reads and writes files.
const MACHINE: &str = r#"
@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "machine")
async def machine(_ctx: AgentCtx) -> dict:
    """Looks at the machine."""
    import shutil, subprocess
    import lunar_python, psutil
    own = psutil.Process()
    names = {process.info["name"] for process in psutil.process_iter(["name"])}
    made = "there is none"
    if shutil.which("ffmpeg"):
        command = ["ffmpeg", "-y", "-f", "lavfi", "-i", "sine=duration=0.1", "tone.wav"]
        subprocess.run(command, check=True, capture_output=True)
        made = open("tone.wav", "rb").read(4).decode()
    return {
        "memory": psutil.virtual_memory().total > 0 and own.memory_info().rss > 0,
        "processors": psutil.cpu_count() > 0 and psutil.cpu_percent(0.01) >= 0,
        "disk": psutil.disk_usage(".").total > 0,
        "own": own.pid in psutil.pids(),
        "others": sorted(name for name in names if "callgate" not in name and "python" not in name),
        "built": lunar_python.Solar.fromYmd(2024, 2, 10).getLunar().getDay() == 1,
        "tone": made,
    }
"#;

#[test]
fn plugins_find_what_they_need_of_the_machine() {
    let scene = with_packages();
    let folder = written(&scene, "looking", MACHINE);
    let said = scene.run("print(machine())", &["--json", "--plugin", &folder]);
    let said = said.succeeded().json();
    let seen = &said["calls"][0]["value"];
    let expected = json!({
        "memory": true, "processors": true, "disk": true, "own": true, "others": [], "built": true,
        "tone": seen["tone"],
    });
    assert_eq!(*seen, expected, "{said}");
    let tone = seen["tone"].as_str().unwrap();
    assert!(tone == "RIFF" || tone == "there is none", "{tone}");
}

#[test]
fn a_scenario_passes_where_an_ordinary_user_runs_it() {
    let scene = Scene::of_ordinary_user();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/plugins/native_examples");
    // Where the tree lies need not be open to everybody.
    let folder = scene.home().join("native_examples");
    std::fs::create_dir(&folder).unwrap();
    for file in ["__init__.py", "shelves.py", "scenario.json"] {
        std::fs::copy(example.join(file), folder.join(file)).unwrap();
    }
    scene.let_the_user_in();
    let (plugin, scenario) = ("native_examples", "native_examples/scenario.json");
    let tested = scene
        .bare(&["plugin", "test", plugin, scenario, "--json"])
        .spawn();
    let report = finish(tested.unwrap()).succeeded().json();
    assert_eq!(report["failed"], 0, "{report}");
    assert_eq!(report["passed"], 18);
}
