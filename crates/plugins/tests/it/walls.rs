//! What a worker cannot reach: our database, keys and configuration, other workers, our environment.

use callgate_contract::Value;

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
        assert!(
            error.to_string().contains("PermissionError"),
            "{}: {error}",
            secret.display()
        );
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
    assert!(error.unwrap_err().to_string().contains("PermissionError"));
    let temporary = scene.value("temporary", Vec::new()).await;
    assert!(temporary.as_str().unwrap().contains("workers/probe/tmp"));
    assert_eq!(scene.value("threads", Vec::new()).await, Value::from("x\n"));
    assert_ne!(scene.value("outside", Vec::new()).await, Value::Int(0));
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
