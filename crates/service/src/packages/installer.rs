//! The program that fetches and unpacks wheels: uv where there is one, else a pip that can work
//! for the sandbox's interpreter.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use parking_lot::Mutex;

use super::command;
use crate::{ProgressFn, ServiceError};

/// Lines of an installer's last words that are worth repeating.
const LAST_WORDS: usize = 6;

/// Puts `packages` into `target`. Blocks, as long as the network takes.
pub fn run(
    python: &Path,
    target: &Path,
    packages: &[String],
    say: &ProgressFn,
) -> Result<(), ServiceError> {
    let mut command = find(python)?;
    command
        .args(["--upgrade", "--only-binary", ":all:", "--target"])
        .arg(target)
        .arg("--")
        .args(packages)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let program = command.get_program().to_string_lossy().into_owned();
    let broken = |error: std::io::Error| {
        ServiceError::refused(format!("cannot run {program}: {error}"), MISSING)
    };
    let mut child = command.spawn().map_err(broken)?;
    let words = Words::default();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // A thread, so that neither of two full pipes can stop the installer.
    std::thread::scope(|scope| {
        scope.spawn(|| stderr.into_iter().for_each(|it| words.hear(it, say)));
        stdout.into_iter().for_each(|it| words.hear(it, say));
    });
    match child.wait().map_err(broken)? {
        status if status.success() => Ok(()),
        _ => Err(failed(packages, &words.last())),
    }
}

const MISSING: &str = "install uv (https://docs.astral.sh/uv/) or pip (Debian: apt install \
                       python3-pip)";

fn find(python: &Path) -> Result<Command, ServiceError> {
    if let Some(uv) = in_path("uv") {
        let mut uv = command(&uv);
        // Compiled, because the sandbox cannot write; copied, because the files' modes change.
        uv.args([
            "pip",
            "install",
            "--compile-bytecode",
            "--link-mode",
            "copy",
        ])
        .arg("--python")
        .arg(python);
        return Ok(uv);
    }
    let mut own = command(python);
    own.args(["-m", "pip"]);
    let mut other = command(
        &in_path("pip3")
            .or_else(|| in_path("pip"))
            .unwrap_or_default(),
    );
    other.arg("--python").arg(python);
    for mut pip in [own, other] {
        let asked = pip.arg("--version").stdin(Stdio::null()).output();
        if asked.is_ok_and(|output| output.status.success()) {
            let arguments: Vec<_> = pip.get_args().map(ToOwned::to_owned).collect();
            let mut found = command(Path::new(pip.get_program()));
            found
                .args(
                    arguments
                        .split_last()
                        .map_or(&[][..], |(_version, rest)| rest),
                )
                .args(["install", "--disable-pip-version-check", "--no-input"])
                // About the operator's other packages, which the sandbox does not see.
                .env("PIP_ROOT_USER_ACTION", "ignore");
            return Ok(found);
        }
    }
    Err(ServiceError::refused(
        "no installer for Python packages was found",
        MISSING,
    ))
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.find(|place| place.is_file())
}

fn failed(packages: &[String], words: &str) -> ServiceError {
    let no_wheel = ["No matching distribution", "no usable wheels", "no wheels"];
    let hint = if no_wheel.iter().any(|sign| words.contains(sign)) {
        "check the names; only ready-made wheels are installed, since building a package would \
         run its code outside the sandbox"
    } else {
        "check the names and the network; what was installed before is unchanged"
    };
    let packages = packages.join(" ");
    ServiceError::refused(format!("{packages} could not be installed: {words}"), hint)
}

/// The last lines of both streams. A mutex, since each stream has a thread.
#[derive(Default)]
struct Words(Mutex<VecDeque<String>>);

impl Words {
    fn hear(&self, stream: impl Read, say: &ProgressFn) {
        for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).trim().to_owned();
            if line.is_empty() || line.starts_with("[notice]") {
                continue;
            }
            say(&line);
            let mut words = self.0.lock();
            words.push_back(line);
            if words.len() > LAST_WORDS {
                words.pop_front();
            }
        }
    }

    /// What the installer calls an error, or else the end of what it said.
    fn last(&self) -> String {
        let words = self.0.lock();
        let is_error = |line: &&String| line.starts_with("ERROR") || line.starts_with("error");
        let errors: Vec<&str> = words.iter().filter(is_error).map(String::as_str).collect();
        match errors.as_slice() {
            [] => words
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" "),
            errors => errors.join(" "),
        }
    }
}
