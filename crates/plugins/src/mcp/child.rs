//! [`Process`]: a server that we start and end. What it writes to its standard error goes to our
//! log; its last words explain why it ended.

use std::{collections::BTreeMap, io, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader},
    process::{Child, ChildStdin, ChildStdout},
    task::JoinHandle,
    time::timeout,
};

use crate::spawn::beside;

/// How long it may take to end by itself, and then by request.
const PATIENCE: Duration = Duration::from_secs(2);
/// For its last words to be read.
const READ: Duration = Duration::from_millis(200);
/// Bytes of a line of its log.
const LINE: u64 = 16 << 10;

pub(super) struct Process {
    child: Child,
    /// Its group, which is ended with it.
    group: Option<Pid>,
    /// Reads its last words; whatever it started may keep the pipe open for longer.
    following: JoinHandle<()>,
    /// Mutex, held for a copy.
    last_words: Arc<Mutex<String>>,
}

impl Process {
    pub(super) fn start(
        server: &str,
        program: &str,
        arguments: &[String],
        environment: &BTreeMap<String, String>,
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut child = beside(program, arguments, environment)?;
        let unheard = || io::Error::other("it has no standard streams");
        let read = child.stdout.take().ok_or_else(unheard)?;
        let write = child.stdin.take().ok_or_else(unheard)?;
        let errors = child.stderr.take().ok_or_else(unheard)?;
        let last_words = Arc::new(Mutex::default());
        // Ends with the pipe.
        let following = tokio::spawn(follow(server.to_owned(), errors, last_words.clone()));
        let group = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let process = Process {
            child,
            group,
            following,
            last_words,
        };
        Ok((process, read, write))
    }

    /// Waits for its end, and says how it ended.
    pub(super) async fn ended(&mut self) -> String {
        let status = match self.child.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        if !self.following.is_finished() {
            // Written is not yet read.
            let _ = timeout(READ, &mut self.following).await;
        }
        let words = self.last_words.lock().clone();
        if words.is_empty() {
            format!("its process ended ({status})")
        } else {
            format!("its process ended ({status}): {words}")
        }
    }

    /// Its standard input is closed by now, which tells it to end; then it is made to. Returns how
    /// it ended by itself.
    pub(super) async fn end(&mut self) -> Option<String> {
        if let Ok(said) = timeout(PATIENCE, self.ended()).await {
            self.signal(Signal::KILL);
            return Some(said);
        }
        self.signal(Signal::TERM);
        if timeout(PATIENCE, self.child.wait()).await.is_err() {
            tracing::warn!("an mcp server does not end and is killed");
        }
        self.signal(Signal::KILL);
        // Killed, it ends.
        let _ = self.child.wait().await;
        None
    }

    /// The whole group: whatever it started is of no use without it.
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Nobody is left in it: all the better.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Ended, nobody is left in the group; given up on the way, all of it is.
        if self.child.id().is_some() {
            self.signal(Signal::KILL);
        }
    }
}

async fn follow(server: String, errors: impl AsyncRead + Unpin, last_words: Arc<Mutex<String>>) {
    let mut errors = BufReader::new(errors);
    loop {
        let mut line = Vec::new();
        let reading = (&mut errors).take(LINE).read_until(b'\n', &mut line).await;
        if !matches!(reading, Ok(1..)) {
            return;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if !line.is_empty() {
            tracing::info!(target: "mcp", server, "{line}");
            *last_words.lock() = line.to_owned();
        }
    }
}
