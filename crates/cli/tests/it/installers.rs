//! Packages of plugins: by uv where there is one on the path and else by pip, by name only, built
//! only where the operator says so, behind the workers' wall, and at run time only with an approval.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value as Json, json};

use crate::{
    environments::cache,
    packages::wheel,
    scene::{Said, Scene, finish},
    server::Server,
};

/// A uv of our own, kept with what tests install once.
#[allow(clippy::disallowed_methods, reason = "python and pip make the uv")]
fn uv() -> PathBuf {
    let place = cache().join("uv");
    let run = |program: &Path, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).status();
        assert!(status.unwrap().success(), "{program:?} {arguments:?}");
    };
    if !place.join("bin/uv").exists() {
        run(
            Path::new("python3"),
            &["-m", "venv", place.to_str().unwrap()],
        );
        run(&place.join("bin/pip"), &["install", "--quiet", "uv"]);
    }
    // Nothing else of that environment may come before ours.
    let alone = place.join("alone");
    std::fs::create_dir_all(&alone).unwrap();
    let _ = std::os::unix::fs::symlink(place.join("bin/uv"), alone.join("uv"));
    alone
}

/// Where the operator keeps packages: there is no other index.
fn index(scene: &Scene) -> PathBuf {
    let index = scene.home().join("wheels");
    std::fs::create_dir_all(&index).unwrap();
    index
}

fn said(scene: &Scene, before_path: Option<&Path>, arguments: &[&str]) -> Said {
    let index = index(scene);
    let plain = std::env::var("PATH").unwrap();
    let path = before_path.map_or(plain.clone(), |first| {
        format!("{}:{plain}", first.display())
    });
    let mut command = scene.command(arguments);
    command
        .env("PATH", path)
        .env("SECRET_TOKEN", "of the operator");
    finish(with_index(&mut command, &index).spawn().unwrap())
}

fn with_index<'a>(command: &'a mut Command, index: &Path) -> &'a mut Command {
    command
        .env("PIP_NO_INDEX", "1")
        .env("PIP_FIND_LINKS", index)
        .env("UV_NO_INDEX", "1")
        .env("UV_FIND_LINKS", index)
}

/// A native plugin that needs `requirement` and has one method of its own name.
fn plugin(scene: &Scene, name: &str, requirement: &str, body: &str) -> String {
    let folder = scene.home().join(name);
    std::fs::create_dir(&folder).unwrap();
    let code = format!(
        "\"\"\"Tells.\"\"\"\nfrom callgate import method\nfrom callgate_worker import host\n\n\n\
         @method\nasync def {name}(text: str = '') -> object:\n    \"\"\"Tell.\"\"\"\n{body}\n"
    );
    std::fs::write(folder.join("__init__.py"), code).unwrap();
    std::fs::write(folder.join("requirements.txt"), requirement).unwrap();
    folder.to_str().unwrap().to_owned()
}

fn conflict_gives_an_environment_of_its_own(before_path: Option<&Path>, by: &str) {
    let scene = Scene::new();
    for version in ["1.0", "2.0"] {
        wheel(
            &index(&scene),
            "tiny_thing",
            version,
            &format!("answer = '{version}'"),
        );
    }
    let said = |arguments: &[&str]| said(&scene, before_path, arguments).succeeded();
    let body = "    import tiny_thing\n    return tiny_thing.answer";
    let first = plugin(&scene, "first", "tiny_thing==1.0\n", body);
    let second = plugin(&scene, "second", "tiny_thing==2.0\n", body);
    said(&["plugin", "install", &first]);
    let other = said(&["plugin", "install", &second]);
    let words = format!("{}{}", other.stdout, other.stderr);
    assert!(
        words.contains("an environment and a worker of its own"),
        "{words}"
    );
    for (method, version) in [("first", "1.0"), ("second", "2.0")] {
        assert_eq!(said(&["call", method]).stdout.trim(), version);
    }
    let environments = scene.data().join("environments");
    let installers =
        ["native/lib", "native-second/lib"].map(|it| installer(&environments.join(it)));
    assert_eq!(installers, [by, by]);
    // What is there already is not asked for again, and what nobody uses goes.
    std::fs::remove_dir_all(index(&scene)).unwrap();
    said(&["plugin", "install", &first, "--replace"]);
    said(&["plugin", "remove", "second"]);
    assert!(!environments.join("native-second").exists());
}

#[test]
fn uv_installs_where_there_is_one_and_a_conflict_gives_an_environment_of_its_own() {
    conflict_gives_an_environment_of_its_own(Some(&uv()), "uv");
}

#[test]
fn pip_installs_where_there_is_no_uv() {
    conflict_gives_an_environment_of_its_own(None, "pip");
}

#[test]
fn packages_that_come_while_serving_are_found() {
    let scene = Scene::new();
    wheel(&index(&scene), "tiny_thing", "1.0", "answer = 'tiny'");
    wheel(&index(&scene), "other_thing", "1.0", "answer = 'other'");
    let run = |arguments: &[&str]| said(&scene, None, arguments).succeeded();
    let body = |module: &str| format!("    import {module}\n    return {module}.answer");
    let plain = plugin(&scene, "plain", "", "    return 'plain'");
    let first = plugin(&scene, "first", "tiny_thing\n", &body("tiny_thing"));
    let second = plugin(&scene, "second", "other_thing\n", &body("other_thing"));
    // Whoever types it, a server that runs is who installs.
    let mut serve = scene.command(&["serve", "--json", "--listen", "127.0.0.1:0"]);
    let _server = Server::spawn(with_index(&mut serve, &index(&scene)));
    // A worker without packages, then with the first, then with another in the same place.
    let installed = [
        ("plain", plain, "plain"),
        ("first", first, "tiny"),
        ("second", second, "other"),
    ];
    for (method, folder, answer) in installed {
        run(&["plugin", "install", &folder]);
        assert_eq!(run(&["call", method]).stdout.trim(), answer);
    }
}

/// Who installed `tiny_thing` there, by what they left.
fn installer(library: &Path) -> String {
    let python = std::fs::read_dir(library).unwrap().next().unwrap().unwrap();
    let packages = std::fs::read_dir(python.path().join("site-packages")).unwrap();
    let info = packages
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("tiny_thing-"));
    let written = std::fs::read_to_string(info.unwrap().join("INSTALLER"));
    written.unwrap().trim().to_owned()
}

/// Its build tries what nobody's should: the module holds what came of that.
const BACKEND: &str = r#"
import os, socket, zipfile
def attempt(what):
    try:
        return str(what())
    except OSError as error:
        return type(error).__name__
def build_wheel(directory, config_settings=None, metadata_directory=None):
    # Not ours to see, whatever comes of it.
    attempt(lambda: open("@HOME@/trace", "w"))
    seen = {
        "configuration": attempt(lambda: open("@DATA@/callgate.toml").read()),
        "system": attempt(lambda: open("/usr/trace", "w")),
        "socket": attempt(lambda: socket.socket(socket.AF_UNIX)),
        "secrets": [name for name in os.environ if name.startswith("SECRET")],
    }
    info = "built_thing-1.0.dist-info"
    files = {
        "built_thing.py": f"seen = {seen!r}\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: built_thing\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    name = "built_thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)
    return name
"#;

/// A package of the index that is there as source only.
#[allow(clippy::disallowed_methods, reason = "python writes the archive")]
fn source_package(scene: &Scene) {
    const PACK: &str = "import sys, tarfile\n\
        with tarfile.open(sys.argv[2], 'w:gz') as archive:\n    \
        archive.add(sys.argv[1], 'built_thing-1.0')\n";
    let folder = scene.home().join("built_thing");
    std::fs::create_dir(&folder).unwrap();
    let backend = BACKEND
        .replace("@DATA@", scene.data().to_str().unwrap())
        .replace("@HOME@", scene.home().to_str().unwrap());
    let project = "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n\
                   [project]\nname = 'built_thing'\nversion = '1.0'\n";
    let about = "Metadata-Version: 2.1\nName: built_thing\nVersion: 1.0\n";
    for (file, text) in [
        ("backend.py", &*backend),
        ("pyproject.toml", project),
        ("PKG-INFO", about),
    ] {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let archive = index(scene).join("built_thing-1.0.tar.gz");
    let mut python = std::process::Command::new("python3");
    let python = python.args(["-c", PACK]).arg(&folder).arg(archive);
    assert!(python.status().unwrap().success());
}

#[test]
fn a_package_is_built_only_where_the_operator_says_so_and_then_behind_the_wall() {
    for before_path in [None, Some(uv())] {
        let before_path = before_path.as_deref();
        let scene = Scene::configured("[models]\n");
        source_package(&scene);
        let body = "    import built_thing\n    return built_thing.seen";
        let folder = plugin(&scene, "needy", "built_thing\n", body);
        let refused = said(&scene, before_path, &["plugin", "install", &folder]);
        assert_eq!(refused.code, Some(1), "{}", refused.stdout);
        assert!(
            refused.stderr.contains("plugins.source_packages = true"),
            "{}",
            refused.stderr
        );

        let allowed = "[plugins]\nsource_packages = true\n";
        std::fs::write(scene.data().join("callgate.toml"), allowed).unwrap();
        said(&scene, before_path, &["plugin", "install", &folder]).succeeded();
        let seen = said(&scene, before_path, &["call", "needy", "--json"])
            .succeeded()
            .json();
        let expected = json!({
            "configuration": "FileNotFoundError", "system": "OSError", "socket": "PermissionError",
            "secrets": [],
        });
        assert_eq!(seen["value"], expected);
        assert!(!scene.home().join("trace").exists());
    }
}

/// Asks for a package, and says what came of it.
const GET: &str = "    try:
        await host.call('env_install', specs=[text])
    except host.HostError as error:
        return str(error)
    return 'installed'";

#[test]
fn a_plugin_installs_at_run_time_only_what_the_operator_allows_and_nothing_by_its_path() {
    let scene = Scene::configured("[approval]\nwait_seconds = 0\n");
    let made = wheel(&index(&scene), "tiny_thing", "1.0", "");
    let folder = plugin(&scene, "getter", "", GET);
    // Its own package, whose installation would run its code.
    let trace = scene.home().join("trace");
    let setup = format!(
        "open({:?}, 'w')\nfrom setuptools import setup\nsetup(name='own', version='1')\n",
        trace.to_str().unwrap()
    );
    std::fs::write(Path::new(&folder).join("setup.py"), setup).unwrap();
    let run = |arguments: &[&str]| said(&scene, None, arguments);
    run(&["plugin", "install", &folder]).succeeded();
    let get = |spec: &str| -> String {
        let arguments = json!([spec]).to_string();
        let called = run(&["call", "getter", "--args", &arguments, "--json"]).succeeded();
        called.json()["value"].as_str().unwrap().to_owned()
    };
    let asked = get("tiny_thing");
    assert!(
        asked.contains("waits for the operator's approval"),
        "{asked}"
    );
    let packages = scene.data().join("environments/native");
    assert!(!packages.exists(), "nothing was done before the answer");
    let listed = run(&["approval", "list", "--json"]).succeeded().json();
    assert_eq!(listed[0]["method"], "builtin/env_install");
    assert_eq!(listed[0]["arguments"]["specs"], json!(["tiny_thing"]));
    let id = listed[0]["id"].to_string();
    run(&["approval", "allow", &id, "--always"]).succeeded();

    assert_eq!(get("tiny_thing"), "installed");
    assert!(packages.join("callgate.json").is_file());
    let own = scene.data().join("plugins/getter");
    for odd in [
        own.to_str().unwrap(),
        ".",
        &format!("tiny_thing @ file://{made}"),
        &made,
        "--index-url=http://127.0.0.1:9/",
        "git+https://example.invalid/x",
    ] {
        let refused = get(odd);
        assert!(
            refused.contains("by its name and versions"),
            "{odd}: {refused}"
        );
    }
    assert!(
        !trace.exists(),
        "code of the plugin ran outside of its worker"
    );
    let listed: Json = run(&["approval", "list", "--json"]).succeeded().json();
    assert_eq!(listed.as_array().map(Vec::len), Some(0), "{listed}");
}

#[test]
fn requirements_of_a_plugin_are_names_and_the_rest_is_told_of() {
    let scene = Scene::new();
    let made = wheel(&index(&scene), "tiny_thing", "1.0", "");
    wheel(&index(&scene), "other_thing", "1.0", "");
    let needs = format!("tiny_thing @ file://{made}\nother_thing>=1\n");
    let folder = plugin(
        &scene,
        "mixed",
        &needs,
        "    import other_thing\n    return 'well'",
    );
    let checked = said(&scene, None, &["plugin", "check", &folder, "--json"]).succeeded();
    let warnings = checked.json()[0]["warnings"].to_string();
    assert!(
        warnings.contains("asked for by its name and versions"),
        "{warnings}"
    );
    let with = ["plugin", "install", &folder, "--with", &made];
    assert_eq!(said(&scene, None, &with).code, Some(1));
    said(&scene, None, &["plugin", "install", &folder]).succeeded();
    assert_eq!(
        said(&scene, None, &["call", "mixed"])
            .succeeded()
            .stdout
            .trim(),
        "well"
    );
}
