//! Packages of plugins by uv, where there is one on the path.

use std::path::{Path, PathBuf};

use crate::{
    packages::wheel,
    scene::{Scene, finish},
};

/// A uv of our own, kept with what tests install once.
#[allow(clippy::disallowed_methods, reason = "python and pip make the uv")]
fn uv() -> PathBuf {
    let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|_| Path::new(&std::env::var("HOME").unwrap()).join(".cache"));
    let place = cache.join("callgate/uv");
    let run = |program: &Path, arguments: &[&str]| {
        let status = std::process::Command::new(program).args(arguments).status();
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

/// A native plugin whose method tells the version of `tiny_thing` that it was given.
fn plugin(scene: &Scene, name: &str, version: &str) -> String {
    let made = wheel(
        scene.home(),
        "tiny_thing",
        version,
        &format!("answer = '{version}'"),
    );
    let folder = scene.home().join(name);
    std::fs::create_dir(&folder).unwrap();
    let code = format!(
        "\"\"\"Tells.\"\"\"\nimport tiny_thing\nfrom callgate import method\n\n\n@method\n\
         def {name}() -> str:\n    \"\"\"Tell the version.\"\"\"\n    return tiny_thing.answer\n"
    );
    std::fs::write(folder.join("__init__.py"), code).unwrap();
    let needs = format!("tiny_thing @ file://{made}\n");
    std::fs::write(folder.join("requirements.txt"), needs).unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn uv_installs_where_there_is_one_and_a_conflict_gives_an_environment_of_its_own() {
    let scene = Scene::new();
    let path = format!("{}:{}", uv().display(), std::env::var("PATH").unwrap());
    let said = |arguments: &[&str]| {
        let mut command = scene.command(arguments);
        finish(command.env("PATH", &path).spawn().unwrap()).succeeded()
    };
    let (first, second) = (
        plugin(&scene, "first", "1.0"),
        plugin(&scene, "second", "2.0"),
    );
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
    assert_eq!(installers, ["uv", "uv"]);
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
