//! Starting other programs for plugins: Python for our scripts and for environments, installers,
//! git. What they say is heard line by line and the end of it repeated where they fail.

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use callgate_contract::Cancel;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};

use super::InstallError;

/// Told what happens at the moment, a line at a time.
pub type ProgressFn<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Between two looks at whether a program has ended, or is to.
const LOOK: Duration = Duration::from_millis(50);

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

/// Runs it to its end, or until somebody does not want it any more.
pub(crate) fn run(
    command: Command,
    say: ProgressFn<'_>,
    cancel: Option<&Cancel>,
) -> Result<(), InstallError> {
    let program = name(&command);
    match heard(command, say, cancel)? {
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

/// Runs it to its end, or until somebody does not want it any more; its last words if it fails.
pub(crate) fn heard(
    mut command: Command,
    say: ProgressFn<'_>,
    cancel: Option<&Cancel>,
) -> Result<Result<(), String>, InstallError> {
    let broken = |program: String| move |source| InstallError::Start { program, source };
    let program = name(&command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if cancel.is_some() {
        // It ends with all that it has started.
        command.process_group(0);
    }
    let mut child = command.spawn().map_err(broken(program.clone()))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // A mutex, since each stream has a thread: neither of two full pipes can stop the program.
    let words = Mutex::new(VecDeque::new());
    let status = thread::scope(|scope| {
        scope.spawn(|| listen(stderr, &words, say));
        scope.spawn(|| listen(stdout, &words, say));
        ended(&mut child, cancel)
    });
    let status = status.map_err(broken(program))?;
    if cancel.is_some_and(Cancel::is_cancelled) {
        return Err(InstallError::Cancelled);
    }
    let words = words.into_inner();
    Ok(if status.success() {
        Ok(())
    } else {
        Err(last(&words))
    })
}

/// How it ended, by itself or since it is to.
fn ended(child: &mut Child, cancel: Option<&Cancel>) -> io::Result<ExitStatus> {
    let Some(cancel) = cancel else {
        return child.wait();
    };
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if cancel.is_cancelled() {
            let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            // One that has just ended cannot be told, nor need it.
            let _ = group.map(|group| kill_process_group(group, Signal::KILL));
            return child.wait();
        }
        thread::sleep(LOOK);
    }
}

fn listen(stream: Option<impl Read>, words: &Mutex<VecDeque<String>>, say: ProgressFn<'_>) {
    let Some(stream) = stream else { return };
    let mut stream = BufReader::new(stream);
    while let Some(line) = next_line(&mut stream) {
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

/// Up to the end of a line, or to where a program begins to paint over it.
fn next_line(stream: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let found = stream.fill_buf().ok()?;
        if found.is_empty() {
            return (!line.is_empty()).then_some(line);
        }
        let end = found.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let taken = end.unwrap_or(found.len());
        line.extend(found.iter().take(taken));
        let used = taken + usize::from(end.is_some());
        stream.consume(used);
        if end.is_some() {
            return Some(line);
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
