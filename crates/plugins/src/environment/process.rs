//! Starting other programs for plugins: Python for our scripts and for environments, installers,
//! git. What they say is heard line by line and the end of it repeated where they fail.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, Stdio},
    thread,
};

use parking_lot::Mutex;

use super::InstallError;

/// Told what happens at the moment, a line at a time.
pub type ProgressFn<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Lines of a program's last words that are worth repeating.
const LAST_WORDS: usize = 12;

#[allow(
    clippy::disallowed_methods,
    reason = "the one place of the plugin tools that starts processes"
)]
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub(crate) fn run(command: Command, say: ProgressFn<'_>) -> Result<(), InstallError> {
    let program = name(&command);
    match heard(command, say)? {
        Ok(()) => Ok(()),
        Err(words) => Err(InstallError::Failed { program, words }),
    }
}

/// Runs it to its end and gives what it wrote.
pub(crate) fn output(mut command: Command) -> Result<String, InstallError> {
    let program = name(&command);
    let output = command.output().map_err(|source| InstallError::Start {
        program: program.clone(),
        source,
    })?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(InstallError::Failed {
            program,
            words: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }
}

/// Runs it to its end; its last words if it fails.
pub(crate) fn heard(
    mut command: Command,
    say: ProgressFn<'_>,
) -> Result<Result<(), String>, InstallError> {
    let broken = |program: String| move |source| InstallError::Start { program, source };
    let program = name(&command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(broken(program.clone()))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // A mutex, since each stream has a thread: neither of two full pipes can stop the program.
    let words = Mutex::new(VecDeque::new());
    thread::scope(|scope| {
        scope.spawn(|| listen(stderr, &words, say));
        listen(stdout, &words, say);
    });
    let status = child.wait().map_err(broken(program))?;
    let words = words.into_inner();
    Ok(if status.success() {
        Ok(())
    } else {
        Err(last(&words))
    })
}

fn listen(stream: Option<impl Read>, words: &Mutex<VecDeque<String>>, say: ProgressFn<'_>) {
    let Some(stream) = stream else { return };
    for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if line.is_empty() || line.starts_with("[notice]") {
            continue;
        }
        say(&line);
        let mut words = words.lock();
        words.push_back(line);
        if words.len() > LAST_WORDS {
            words.pop_front();
        }
    }
}

/// What the program calls an error and all it says from then on, or else the end of what it said.
fn last(words: &VecDeque<String>) -> String {
    let is_error = |line: &String| {
        let line = line.to_lowercase();
        line.starts_with("error") || line.starts_with("fatal")
    };
    let first = words.iter().position(is_error).unwrap_or_default();
    let told: Vec<&str> = words.iter().skip(first).map(String::as_str).collect();
    told.join(" ")
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}
