//! Reading plugins, environments, and installing from a folder, an archive and a repository.

use std::{fs, path::Path, process::Command, sync::Mutex};

use callgate_plugins::{
    environment::{Environments, InstallError},
    install::{InstallOptions, Library},
    survey::survey,
};
use tempfile::TempDir;

struct Shop {
    folder: TempDir,
    library: Library,
    said: Mutex<Vec<String>>,
}

impl Shop {
    fn new() -> Shop {
        let folder = TempDir::with_prefix("callgate-shop-").unwrap();
        let data = folder.path().join("data");
        let sources = callgate_plugins::library(&data).unwrap();
        let python = "python3".into();
        let environments = Environments::new(data.join("environments"), python, sources);
        Shop {
            library: Library::new(&data, environments),
            folder,
            said: Mutex::default(),
        }
    }

    fn plugin(&self, name: &str, files: &[(&str, &str)]) -> String {
        let folder = self.folder.path().join(name);
        for (file, text) in files {
            let file = folder.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        folder.to_str().unwrap().to_owned()
    }

    fn install(&self, source: &str, replace: bool) -> Result<String, InstallError> {
        let options = InstallOptions {
            replace,
            ..InstallOptions::default()
        };
        let say = |line: &str| self.said.lock().unwrap().push(line.to_owned());
        let placed = self.library.install(source, &options, &say)?;
        Ok(placed.installed.name)
    }
}

const PLUGIN: &str = "from callgate import method\n\n@method\ndef one() -> int:\n    return 1\n";

#[test]
fn a_plugin_is_known_without_being_run() {
    let shop = Shop::new();
    let nekro = "from nekro_agent.api.plugin import NekroPlugin, dynamic_import_pkg\n\
                 from nonebot.adapters.onebot.v11 import Bot\n\
                 yaml = dynamic_import_pkg('pyyaml>=6', 'yaml')\n\
                 raise SystemExit('never run')\n";
    let dice = shop.plugin(
        "dice",
        &[
            ("__init__.py", nekro),
            (
                "requirements.txt",
                "# ours\njson5>=0.9 # why\n-i http://x\nnekro-agent\n",
            ),
            (
                "pyproject.toml",
                "[project]\nname = 'd'\nversion = '1.2'\ndependencies = ['httpx']\n",
            ),
        ],
    );
    let star = shop.plugin(
        "star",
        &[
            ("main.py", "x = 1\n"),
            (
                "metadata.yaml",
                "name: 'a star'\nversion: v2\ndesc: Shines\n",
            ),
        ],
    );
    let other = shop.plugin("other", &[("main.py", "import os\n")]);
    let paths = [Path::new(&dice), Path::new(&star), Path::new(&other)];
    let found = survey(shop.library.environments(), &paths).unwrap();
    assert_eq!(found[0].flavour.as_deref(), Some("nekro"));
    assert_eq!(
        (found[0].name.as_str(), found[0].version.as_str()),
        ("d", "1.2")
    );
    assert_eq!(found[0].packages(), ["httpx", "json5>=0.9", "pyyaml>=6"]);
    assert_eq!(found[0].needs[0].what, "OneBot");
    assert_eq!(found[0].needs[0].place, "__init__.py:2");
    assert_eq!(
        found[0].warnings,
        ["requirements.txt:3: '-i http://x' is left out: an option of pip"]
    );
    assert_eq!(found[1].flavour.as_deref(), Some("astrbot"));
    assert_eq!(
        (found[1].name.as_str(), found[1].description.as_str()),
        ("a star", "Shines")
    );
    assert_eq!(found[2].flavour, None);
}

#[test]
fn from_a_folder_and_gone_again() {
    let shop = Shop::new();
    let source = shop.plugin(
        "weather",
        &[("__init__.py", PLUGIN), (".git/hooks/x", "no")],
    );
    std::os::unix::fs::symlink("/etc/passwd", shop.folder.path().join("weather/link.py")).unwrap();
    assert_eq!(shop.install(&source, false).unwrap(), "weather");
    let code = shop.library.code("weather");
    assert!(code.join("__init__.py").is_file());
    assert!(!code.join(".git").exists() && !code.join("link.py").exists());
    let again = shop.install(&source, false).unwrap_err();
    assert_eq!(again.to_string(), "there is already a plugin 'weather'");
    fs::write(format!("{source}/new.py"), "").unwrap();
    shop.install(&source, true).unwrap();
    assert!(code.join("new.py").is_file());
    let known = shop.library.get("weather").unwrap();
    assert_eq!(
        (known.flavour.as_str(), known.worker.as_str()),
        ("native", "native")
    );
    assert!(!shop.library.enable("weather", false).unwrap().enabled);
    shop.library.remove("weather").unwrap();
    assert!(!code.exists() && shop.library.list().is_empty());
    assert!(shop.library.get("../weather").is_err());
}

#[test]
fn what_is_no_plugin_leaves_nothing() {
    let shop = Shop::new();
    let source = shop.plugin("other", &[("main.py", "import os\n")]);
    let refused = shop.install(&source, false).unwrap_err().to_string();
    assert!(refused.contains("imports none of"), "{refused}");
    let left: Vec<_> = fs::read_dir(shop.folder.path().join("data/plugins"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_archive_stays_in_its_folder() {
    let shop = Shop::new();
    let pack = |name: &str, entries: &str| {
        let path = shop.folder.path().join(name);
        let script =
            format!("import zipfile, sys\nwith zipfile.ZipFile(sys.argv[1], 'w') as z:\n{entries}");
        python(&["-c", &script, path.to_str().unwrap()]);
        path.to_str().unwrap().to_owned()
    };
    let write = |file: &str| format!("    z.writestr({file:?}, {PLUGIN:?})\n");
    let good = pack("weather-main.zip", &write("weather-main/__init__.py"));
    assert_eq!(shop.install(&good, false).unwrap(), "weather");
    assert!(shop.library.code("weather").join("__init__.py").is_file());
    for file in [
        "../evil.py",
        "/tmp/callgate-evil.py",
        "a/../../evil.py",
        "C:/evil.py",
        "a\\..\\evil.py",
    ] {
        let bad = pack("bad.zip", &(write("__init__.py") + &write(file)));
        let refused = shop.install(&bad, false).unwrap_err().to_string();
        assert!(refused.contains("leads elsewhere"), "{file}: {refused}");
    }
    let link = "    i = zipfile.ZipInfo('link')\n    i.external_attr = 0o120777 << 16\n    \
                z.writestr(i, '/etc/passwd')\n";
    let bad = pack("bad.zip", &(write("__init__.py") + link));
    let refused = shop.install(&bad, false).unwrap_err().to_string();
    assert!(refused.contains("neither a file nor a folder"), "{refused}");
    assert!(!shop.folder.path().join("evil.py").exists());
}

#[test]
fn from_a_repository_at_a_commit_and_without_its_hooks() {
    let shop = Shop::new();
    let source = shop.plugin("weather", &[("__init__.py", PLUGIN)]);
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
        let mut command = command("git");
        let output = command
            .arg("-C")
            .arg(&source)
            .args(identity)
            .args(arguments)
            .output();
        let output = output.unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "one"]);
    let first = git(&["rev-parse", "HEAD"]);
    fs::write(format!("{source}/second.py"), "").unwrap();
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "two"]);
    let url = format!("file://{source}");
    shop.install(&url, false).unwrap();
    let code = shop.library.code("weather");
    assert!(code.join("second.py").is_file() && !code.join(".git").exists());
    let short = first.get(..10).unwrap();
    shop.install(&format!("{url}@{short}"), true).unwrap();
    assert!(!code.join("second.py").exists());
    assert_eq!(shop.library.get("weather").unwrap().commit, Some(first));
}

#[allow(clippy::disallowed_methods, reason = "tools of the tests")]
fn command(program: &str) -> Command {
    Command::new(program)
}

fn python(arguments: &[&str]) {
    let output = command("python3").args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
