//! What a worker cannot reach: our database, keys and configuration, other workers, sockets of this
//! machine, our environment.

use std::os::{linux::net::SocketAddrExt, unix::net::SocketAddr, unix::net::UnixListener};

use callgate_contract::Value;
use callgate_plugins::Source;

use crate::scene::Scene;

const CODE: &str = "\
import os, pathlib, tempfile
async def read(path):
    return pathlib.Path(path).read_bytes()
async def write(path):
    pathlib.Path(path).write_text('x')
    return True
async def listed(path):
    return sorted(os.listdir(path))
async def holds(inode):
    def there(descriptor):
        try:
            return os.fstat(descriptor).st_ino == inode
        except OSError:
            return False
    return any(there(descriptor) for descriptor in range(1024))
async def environment():
    return sorted(os.environ)
async def temporary():
    with tempfile.NamedTemporaryFile() as file:
        file.write(b'x')
    return file.name
async def threads():
    import threading, subprocess
    return subprocess.run(['echo', 'x'], capture_output=True, text=True).stdout
async def outside():
    import subprocess
    return subprocess.run(['cat', '/proc/1/environ'], capture_output=True, text=True).returncode
async def stop(pid):
    import os, signal
    os.kill(pid, signal.SIGTERM)
";

/// What lies outside of the wall does not exist, and what else is refused is.
fn is_out_of_reach(error: &str) -> bool {
    ["FileNotFoundError", "PermissionError"]
        .iter()
        .any(|kind| error.contains(kind))
}

#[tokio::test]
async fn a_worker_reaches_its_own_files_and_no_others() {
    let scene = Scene::new().await;
    let loaded = scene.load("files", CODE).await.unwrap();
    assert!(!loaded.methods.is_empty());
    let data = scene.folder.path().join("data");
    std::fs::create_dir_all(data.join("workers/other")).unwrap();
    std::fs::write(data.join("callgate.toml"), "secret").unwrap();
    std::fs::write(data.join("workers/other/notes"), "secret").unwrap();
    let database = std::fs::read_dir(&data).unwrap().flatten();
    let database = database
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "db"))
        .expect("the database is a file");
    let shadow = "/etc/shadow".into();
    let secrets = [
        database,
        data.join("callgate.toml"),
        data.join("workers/other/notes"),
        shadow,
    ];
    for secret in secrets {
        let error = scene
            .call("read", vec![secret.display().to_string().into()])
            .await
            .unwrap_err();
        let error = error.to_string();
        assert!(is_out_of_reach(&error), "{}: {error}", secret.display());
    }
    for own in ["plugin_data/files/note", "workers/probe/note"] {
        let path = data.join(own).display().to_string();
        assert_eq!(
            scene.value("write", vec![path.into()]).await,
            Value::Bool(true)
        );
    }
    let library = scene.plugins.library().join("callgate_worker/host.py");
    let error = scene
        .call("write", vec![library.display().to_string().into()])
        .await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("Read-only file system"), "{error}");
    let temporary = scene.value("temporary", Vec::new()).await;
    assert!(temporary.as_str().unwrap().contains("workers/probe/tmp"));
    assert_eq!(scene.value("threads", Vec::new()).await, Value::from("x\n"));
    assert_ne!(scene.value("outside", Vec::new()).await, Value::Int(0));
}

const SOCKETS: &str = "\
import asyncio, ctypes, os, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
async def connect(path):
    with socket.socket(socket.AF_UNIX) as it:
        it.connect(path)
    return True
async def connect_in_a_child(path):
    code = 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])'
    return subprocess.run([sys.executable, '-c', code, path], capture_output=True, text=True).stderr
async def system_call(number, one, two, three):
    return ctypes.get_errno() if libc.syscall(ctypes.c_long(number), one, two, three) < 0 else 0
async def device():
    os.mknod('disk', 0o60600, os.makedev(8, 0))
async def capabilities():
    return next(line for line in open('/proc/self/status') if line.startswith('CapEff'))
async def usual():
    one, other = socket.socketpair()
    one.sendall(b'pair ')
    said = other.recv(9).decode()
    server = await asyncio.start_server(lambda r, w: (w.write(b'network '), w.close()), '127.0.0.1', 0)
    port = server.sockets[0].getsockname()[1]
    address = (await asyncio.get_running_loop().getaddrinfo('localhost', port, family=socket.AF_INET))[0][4]
    reader, _ = await asyncio.open_connection(*address)
    said += (await reader.read()).decode()
    child = await asyncio.create_subprocess_exec('echo', '-n', 'child', stdout=subprocess.PIPE)
    return said + (await child.communicate())[0].decode()
";

#[tokio::test]
async fn a_worker_reaches_no_socket_of_this_machine() {
    let scene = Scene::new().await;
    let sibling = Source {
        worker: "sibling".to_owned(),
        ..scene.source("sibling", "async def quiet():\n    return 1\n")
    };
    let [(_, loaded)] = scene.plugins.load(vec![sibling]).await.try_into().unwrap();
    loaded.unwrap();
    scene.load("sockets", SOCKETS).await.unwrap();

    let bait = scene.folder.path().join("bait");
    let _bait = UnixListener::bind(&bait).unwrap();
    let unnamed = format!("callgate-bait-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&unnamed).unwrap();
    let _unnamed = UnixListener::bind_addr(&address).unwrap();
    let mut targets = vec![bait.display().to_string(), format!("\0{unnamed}")];
    let web = scene.folder.path().join("data/run/web");
    let web = std::fs::read_dir(web).unwrap().map(|it| it.unwrap().path());
    targets.extend(web.map(|path| path.display().to_string()));
    assert_eq!(targets.len(), 4, "both workers have a socket of their own");
    for target in targets {
        let error = scene.call("connect", vec![target.as_str().into()]).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("PermissionError"), "{target:?}: {error}");
        if !target.starts_with('\0') {
            let said = scene.value("connect_in_a_child", vec![target.into()]).await;
            assert!(
                said.as_str().unwrap().contains("PermissionError"),
                "{said:?}"
            );
        }
    }
    assert_eq!(
        scene.value("usual", Vec::new()).await,
        Value::from("pair network child")
    );
}

/// The same by other ways in: old numbers, requests that no filter sees, sockets made in pairs.
#[tokio::test]
async fn no_other_system_call_makes_a_socket_or_reaches_the_machine() {
    let scene = Scene::new().await;
    scene.load("sockets", SOCKETS).await.unwrap();
    const SECOND_NUMBERS: i64 = 0x4000_0000;
    let [unix, datagram] = [libc::AF_UNIX, libc::SOCK_DGRAM].map(i64::from);
    let attempts = [
        (
            libc::SYS_socket,
            [unix, libc::SOCK_STREAM.into(), 0],
            libc::EPERM,
        ),
        (libc::SYS_socket, [unix, datagram, 0], libc::EPERM),
        (libc::SYS_socket, [libc::AF_VSOCK.into(), 1, 0], libc::EPERM),
        (
            libc::SYS_socket,
            [libc::AF_PACKET.into(), 3, 0],
            libc::EPERM,
        ),
        (libc::SYS_socketpair, [unix, datagram, 0], libc::EPERM),
        (
            libc::SYS_socketpair,
            [unix, i64::from(libc::SOCK_CLOEXEC) | datagram, 0],
            libc::EPERM,
        ),
        // The kernel makes a datagram socket of it.
        (
            libc::SYS_socketpair,
            [unix, libc::SOCK_RAW.into(), 0],
            libc::EPERM,
        ),
        (libc::SYS_io_uring_setup, [8, 0, 0], libc::EPERM),
        (libc::SYS_io_uring_enter, [0, 0, 0], libc::EPERM),
        (libc::SYS_open_by_handle_at, [0, 0, 0], libc::EPERM),
        (libc::SYS_bpf, [0, 0, 0], libc::EPERM),
        (libc::SYS_keyctl, [0, 0, 0], libc::EPERM),
        (
            libc::SYS_socket | SECOND_NUMBERS,
            [unix, 1, 0],
            libc::ENOSYS,
        ),
        (
            libc::SYS_io_uring_setup | SECOND_NUMBERS,
            [8, 0, 0],
            libc::ENOSYS,
        ),
    ];
    for (number, [one, two, three], error) in attempts {
        let arguments = [number, one, two, three].map(Value::Int).to_vec();
        let errno = scene.value("system_call", arguments).await;
        assert_eq!(
            errno,
            Value::Int(error.into()),
            "{number} ({one}, {two}, {three})"
        );
    }
    let made = scene
        .call("device", Vec::new())
        .await
        .unwrap_err()
        .to_string();
    assert!(made.contains("PermissionError"), "{made}");
    // Of root's powers, those over files and low ports; an ordinary user has none.
    let powers = scene.value("capabilities", Vec::new()).await;
    let powers = powers
        .as_str()
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .to_owned();
    let kept = u64::from_str_radix(&powers, 16).unwrap();
    assert_eq!(kept & !0x41b, 0, "{powers}");
}

/// A plugin's own folder may hold the data directory; that opens nothing of it.
#[tokio::test]
async fn a_plugin_around_the_data_directory_does_not_see_it() {
    let scene = Scene::new().await;
    let around = scene.folder.path();
    std::fs::write(around.join("data/callgate.toml"), "secret").unwrap();
    std::fs::write(around.join("beside.txt"), "beside").unwrap();
    std::fs::write(around.join("__init__.py"), CODE).unwrap();
    let source = Source {
        path: around.canonicalize().unwrap(),
        ..scene.source("unused", "")
    };
    for _again in 0..2 {
        let [(_, loaded)] = scene
            .plugins
            .load(vec![source.clone()])
            .await
            .try_into()
            .unwrap();
        loaded.unwrap();
        let read = async |path: &str| {
            let path = around.join(path).display().to_string();
            scene.call("read", vec![path.into()]).await
        };
        let beside = read("beside.txt").await.unwrap().value;
        assert_eq!(beside, Value::Bytes(b"beside".to_vec()));
        for secret in ["data/callgate.toml", "data/callgate.db"] {
            let error = read(secret).await.unwrap_err().to_string();
            assert!(is_out_of_reach(&error), "{secret}: {error}");
        }
    }
}

#[tokio::test]
async fn a_plugin_whose_folder_was_replaced_is_loaded_from_the_new_one() {
    let scene = Scene::new().await;
    let folder = scene.folder.path().join("dice");
    let place = |answer: u8| {
        let staged = scene.folder.path().join("staged");
        std::fs::create_dir(&staged).unwrap();
        let code = "from . import sides\nasync def roll():\n    return sides.count\n";
        std::fs::write(staged.join("__init__.py"), code).unwrap();
        std::fs::write(staged.join("sides.py"), format!("count = {answer}\n")).unwrap();
        if folder.exists() {
            std::fs::rename(&folder, scene.folder.path().join(format!("old{answer}"))).unwrap();
        }
        std::fs::rename(&staged, &folder).unwrap();
    };
    place(6);
    let source = Source {
        path: folder.clone(),
        ..scene.source("unused", "")
    };
    let [(_, loaded)] = scene.plugins.load(vec![source]).await.try_into().unwrap();
    let id = loaded.unwrap().id;
    assert_eq!(scene.value("roll", Vec::new()).await, Value::Int(6));
    let worker = || scene.plugins.worker("probe").unwrap();
    let process = worker().pid().unwrap();
    for answer in [8, 20] {
        place(answer);
        scene.plugins.reload(&id).await.unwrap().unwrap();
        assert_eq!(
            scene.value("roll", Vec::new()).await,
            Value::Int(answer.into())
        );
    }
    // Nor is another one needed for a plugin that was not there when it started.
    scene.load("files", CODE).await.unwrap();
    let own = scene.folder.path().join("data/plugin_data/files/note");
    let own = Value::from(own.to_str().unwrap());
    assert_eq!(scene.value("write", vec![own]).await, Value::Bool(true));
    let staged = scene.folder.path().join("dice/note");
    let staged = Value::from(staged.to_str().unwrap());
    assert_eq!(scene.value("write", vec![staged]).await, Value::Bool(true));
    assert_eq!(worker().pid(), Some(process), "the process is the same");
}

#[tokio::test]
async fn a_folder_that_the_operator_names_can_be_used_and_one_beside_it_cannot() {
    let outside = tempfile::tempdir().unwrap();
    let [given, other] = ["given", "other"].map(|name| outside.path().join(name));
    for folder in [&given, &other] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("song"), "la").unwrap();
    }
    let scene = Scene::with(|options| options.folders.push(given.clone())).await;
    scene.load("files", CODE).await.unwrap();
    let argument = |path: &std::path::Path| vec![Value::from(path.to_str().unwrap())];
    let song = scene.value("read", argument(&given.join("song"))).await;
    assert_eq!(song, Value::Bytes(b"la".to_vec()));
    scene.value("write", argument(&given.join("more"))).await;
    assert!(given.join("more").exists());
    let refused = scene.call("read", argument(&other.join("song"))).await;
    assert!(is_out_of_reach(&refused.unwrap_err().to_string()));
}

#[tokio::test]
async fn what_a_worker_started_ends_with_it() {
    let scene = Scene::new().await;
    let code = "\
import subprocess
async def leave(seconds):
    subprocess.Popen(['setsid', 'sleep', seconds])
";
    scene.load("leaving", code).await.unwrap();
    // Nobody else sleeps for so long.
    let seconds = format!("600.{}", std::process::id());
    let argument = Value::from(seconds.as_str());
    scene.value("leave", vec![argument]).await;
    let sleeping = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
        let sought = format!("sleep\0{seconds}\0").into_bytes();
        lines.filter(|line| *line == sought).count()
    };
    let becomes = async |count: usize| {
        for _ in 0..500 {
            if sleeping() == count {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("there are {} processes, not {count}", sleeping());
    };
    becomes(1).await;
    scene.plugins.shutdown().await;
    becomes(0).await;
}

#[tokio::test]
async fn a_worker_inherits_no_open_file() {
    use std::os::unix::fs::MetadataExt;
    // As if whoever started us had left it open.
    let bait = tempfile::tempfile().unwrap();
    rustix::io::fcntl_setfd(&bait, rustix::io::FdFlags::empty()).unwrap();
    let inode = i64::try_from(bait.metadata().unwrap().ino()).unwrap();
    let scene = Scene::new().await;
    scene.load("files", CODE).await.unwrap();
    let held = scene.value("holds", vec![Value::Int(inode)]).await;
    assert_eq!(held, Value::Bool(false));
}

#[tokio::test]
async fn a_worker_does_not_see_our_environment() {
    let scene = Scene::new().await;
    scene.load("files", CODE).await.unwrap();
    let Value::List(names) = scene.value("environment", Vec::new()).await else {
        panic!("a list")
    };
    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    assert!(names.contains(&"PATH"));
    // Set by cargo for us.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(
        !names.iter().any(|name| name.starts_with("CARGO")),
        "{names:?}"
    );
}
