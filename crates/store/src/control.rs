//! The control socket: JSON lines between the owner of a data directory and other commands of the
//! same user. A peer's first line is the key; then each request is answered by any number of events
//! and one answer. It refuses other users, peers without the key, long lines and peers that stall; it
//! knows no command.

mod key;

use std::{
    fs::File,
    io,
    os::fd::{AsFd, AsRawFd},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustix::{
    fs::{AtFlags, Mode},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{UnixListener, UnixStream},
    sync::{Semaphore, mpsc},
    task::JoinSet,
    time::timeout,
};

use self::key::ControlKey;
use crate::owner::{Handler, OwnerError, SOCKET};

/// Bytes of one request or answer.
const MAX_LINE: u64 = 16 << 20;
/// Bytes of a peer's first line, before it has shown that it may speak.
const MAX_KEY_LINE: u64 = 256;
/// How long a peer may take to send its next line, or to accept an answer.
const STALL: Duration = Duration::from_secs(10);
/// Connections served at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("no callgate is running on {}", .0.display())]
    NotRunning(PathBuf),
    #[error("the running callgate did not answer: {0}")]
    Broken(#[from] io::Error),
    #[error("the running callgate gave an answer that is not JSON: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// What the owner writes.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Event(Json),
    Answer(Json),
}

/// Where a handler tells what happens before its answer. Unbounded, since whoever tells cannot
/// wait; it is emptied as fast as the peer reads, and thrown away with a peer that does not.
#[derive(Clone, Debug)]
pub struct Events(mpsc::UnboundedSender<Json>);

impl Events {
    /// False if the peer has left.
    pub fn tell(&self, event: Json) -> bool {
        self.0.send(event).is_ok()
    }

    /// Returns when the peer has left.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

/// Sends one request to the owner of `data` and waits for its answer, however long the work
/// takes; the owner's death ends the wait. `heard` is told what happens meanwhile.
pub async fn request(
    data: &Path,
    request: &Json,
    mut heard: impl FnMut(Json),
) -> Result<Json, ControlError> {
    let not_running = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            ControlError::NotRunning(data.to_owned())
        }
        _ => ControlError::Broken(error),
    };
    let directory = File::open(data).map_err(not_running)?;
    let connecting = UnixStream::connect(short_path(&directory)).await;
    let mut stream = BufReader::new(connecting.map_err(not_running)?);
    let key = ControlKey::read(&directory).map_err(not_running)?;
    write_line(&mut stream, key.as_str()).await?;
    write_line(&mut stream, &request.to_string()).await?;
    loop {
        let Some(line) = read_line(&mut stream, MAX_LINE).await? else {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        };
        match serde_json::from_slice(&line)? {
            Line::Event(event) => heard(event),
            Line::Answer(answer) => return Ok(answer),
        }
    }
}

/// Where an owner is asked, by those who have its key.
pub(crate) struct Listening {
    listener: UnixListener,
    key: ControlKey,
}

pub(crate) fn listen(directory: &File) -> io::Result<Listening> {
    let key = ControlKey::make(directory)?;
    match rustix::fs::unlinkat(directory, SOCKET, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let listener = UnixListener::bind(short_path(directory))?;
    // Until this line the directory's own mode keeps others out.
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::chmodat(directory, SOCKET, mode, AtFlags::empty())?;
    Ok(Listening { listener, key })
}

/// A socket's address holds 107 bytes; through the descriptor any directory fits.
fn short_path(directory: &File) -> PathBuf {
    let fd = directory.as_fd().as_raw_fd();
    PathBuf::from(format!("/proc/self/fd/{fd}/{SOCKET}"))
}

/// One task per connection, so that a slow command delays nobody; dropping the set ends them with
/// the owner. The semaphore bounds how many there are.
pub(crate) async fn answer(listening: Listening, handler: Handler) -> Result<(), OwnerError> {
    let Listening { listener, key } = listening;
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        // Never closed, so a place always comes.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return Ok(());
        };
        while connections.try_join_next().is_some() {}
        let stream = match listener.accept().await {
            Ok((stream, _)) if same_user(&stream) => stream,
            Ok(_) => continue,
            Err(error) => {
                tracing::warn!(%error, "control connection failed");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let (handler, key) = (Arc::clone(&handler), key.clone());
        connections.spawn(async move {
            if let Err(error) = converse(stream, &key, handler).await {
                tracing::debug!(%error, "a control connection broke");
            }
            drop(place);
        });
    }
}

fn same_user(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let peer = stream.peer_cred().map(|credentials| credentials.uid());
    peer.is_ok_and(|peer| peer == own || peer == 0)
}

async fn converse(stream: UnixStream, key: &ControlKey, handler: Handler) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let first = stalled(read_line(&mut stream, MAX_KEY_LINE)).await?;
    if !first.is_some_and(|line| key.is(line.trim_ascii_end())) {
        tracing::warn!("refused a control connection without the secret");
        return Ok(());
    }
    while let Some(line) = stalled(read_line(&mut stream, MAX_LINE)).await? {
        let answer = match serde_json::from_slice(&line) {
            Ok(request) => handle(&mut stream, &handler, request).await,
            Err(error) => json!({ "error": format!("the request is not JSON: {error}") }),
        };
        stalled(write_line(&mut stream, &line_of(Line::Answer(answer)))).await?;
    }
    Ok(())
}

/// What was begun is brought to its end also where the peer leaves.
async fn handle(stream: &mut BufReader<UnixStream>, handler: &Handler, request: Json) -> Json {
    let (events, mut told) = mpsc::unbounded_channel();
    let mut answering = handler(request, Events(events));
    let (mut listens, mut waits) = (true, true);
    loop {
        tokio::select! {
            biased;
            Some(event) = told.recv() => {
                let line = line_of(Line::Event(event));
                if listens && stalled(write_line(stream, &line)).await.is_err() {
                    listens = false;
                    told.close();
                }
            }
            answer = &mut answering => {
                while let Ok(event) = told.try_recv() {
                    // If this fails, so will the answer.
                    let _ = stalled(write_line(stream, &line_of(Line::Event(event)))).await;
                }
                return answer;
            }
            // Before its answer a peer sends nothing, unless it is ahead with its next request.
            ahead = stream.fill_buf(), if listens && waits => match ahead {
                Ok([_, ..]) => waits = false,
                _ => {
                    listens = false;
                    told.close();
                }
            }
        }
    }
}

async fn stalled<T>(step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    match timeout(STALL, step).await {
        Ok(done) => done,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// A whole line, or `None` at the end.
async fn read_line(stream: &mut BufReader<UnixStream>, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    stream.take(limit).read_until(b'\n', &mut line).await?;
    match line.last() {
        Some(b'\n') => Ok(Some(line)),
        None => Ok(None),
        Some(_) if line.len() as u64 == limit => Err(io::ErrorKind::FileTooLarge.into()),
        Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn line_of(line: Line) -> String {
    json!(line).to_string()
}

async fn write_line(stream: &mut BufReader<UnixStream>, line: &str) -> io::Result<()> {
    stream
        .get_mut()
        .write_all(format!("{line}\n").as_bytes())
        .await
}
