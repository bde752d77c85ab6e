//! `callgate sandbox`: packages go in, and code finds them.

use std::path::Path;

use serde_json::json;

use crate::scene::{Said, Scene, finish};

#[allow(clippy::disallowed_methods, reason = "python writes the wheel")]
pub fn wheel(folder: &Path, name: &str, version: &str, code: &str) -> String {
    const WRITE: &str = "
import sys, zipfile
path, name, version, code = sys.argv[1:]
info = f'{name}-{version}.dist-info'
files = {
    f'{name}/__init__.py': code,
    f'{info}/METADATA': f'Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n',
    f'{info}/WHEEL': 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
}
files[f'{info}/RECORD'] = ''.join(f'{f},,\\n' for f in [*files, f'{info}/RECORD'])
with zipfile.ZipFile(path, 'w') as archive:
    for file, text in files.items():
        archive.writestr(file, text)
";
    let path = folder.join(format!("{name}-{version}-py3-none-any.whl"));
    let mut python = std::process::Command::new("python3");
    let python = python.args(["-c", WRITE]).arg(&path);
    assert!(
        python
            .args([name, version, code])
            .status()
            .unwrap()
            .success()
    );
    path.to_str().unwrap().to_owned()
}

/// Without network: only what is given is there.
fn install(scene: &Scene, packages: &[&str], options: &[&str]) -> Said {
    let arguments = [&["sandbox", "install"], packages, options].concat();
    let mut command = scene.command(&arguments);
    let command = command.env("PIP_NO_INDEX", "1").env("UV_OFFLINE", "1");
    finish(command.spawn().unwrap())
}

#[test]
fn an_installed_package_can_be_imported_and_upgraded() {
    let scene = Scene::new();
    let old = wheel(scene.home(), "tiny_thing", "1.0", "answer = 41");
    let other = wheel(scene.home(), "other", "0.1", "");
    let new = wheel(scene.home(), "tiny_thing", "1.1", "answer = 42");
    let said = install(&scene, &[&old, &other], &["--json"]).succeeded();
    let tiny = |version: &str| json!({"name": "tiny-thing", "version": version});
    let beside = json!({"name": "other", "version": "0.1"});
    assert_eq!(said.json()["packages"], json!([beside, tiny("1.0")]));
    let import = "import tiny_thing; print(tiny_thing.answer)";
    assert_eq!(scene.run(import, &[]).succeeded().stdout, "41\n");

    install(&scene, &[&new], &[]).succeeded();
    let list = scene
        .callgate(&["sandbox", "list", "--json"])
        .succeeded()
        .json();
    assert_eq!(list["packages"], json!([beside, tiny("1.1")]));
    assert!(
        list["python"]["version"]
            .as_str()
            .unwrap()
            .starts_with("Python 3.")
    );
    assert_eq!(scene.run(import, &[]).succeeded().stdout, "42\n");

    let write = "import tiny_thing; open(tiny_thing.__file__, 'w')";
    let said = scene.run(write, &["--json"]);
    assert_eq!(said.json()["stop"], "error", "read-only: {}", said.stdout);
}

#[test]
fn a_failed_installation_changes_nothing() {
    let scene = Scene::new();
    let good = wheel(scene.home(), "tiny_thing", "1.0", "answer = 41");
    install(&scene, &[&good], &[]).succeeded();
    let failed = install(&scene, &["no-such-package-here"], &["--json"]);
    assert_eq!(failed.code, Some(1));
    let failed = failed.json();
    assert!(
        failed["error"]
            .as_str()
            .unwrap()
            .contains("no-such-package-here"),
        "{failed}"
    );
    assert!(failed["hint"].is_string());
    let said = scene.run("import tiny_thing; print(tiny_thing.answer)", &[]);
    assert_eq!(said.succeeded().stdout, "41\n");
    let names = std::fs::read_dir(scene.data())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        names
            .into_iter()
            .all(|name| name != "packages.next" && name != "packages.previous")
    );
}

#[test]
fn options_are_not_packages() {
    let scene = Scene::new();
    let said = install(&scene, &["--", "--index-url=http://127.0.0.1:1/"], &[]);
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("is not a package"), "{}", said.stderr);
}
