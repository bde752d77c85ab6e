//! [`Renderer`]: pages to pictures by a browser of this machine. Each page has a process of its own behind a
//! wall of its own, without a network (`callgate_worker.browser`), which lives for one picture and is ended
//! with all it started. Nothing is asked of anybody outside. What the operator says of plugins' walls is not
//! said of this one: pages hold words of people.

use std::{path::PathBuf, process::ExitStatus, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    sync::Semaphore,
    time::timeout,
};

use crate::{
    PluginOptions, spawn,
    wall::{Wall, interpreter},
};

/// Browsers are large.
const AT_ONCE: usize = 2;
const LIMIT: Duration = Duration::from_secs(40);
/// Of a page, and of its picture, which has to fit into a frame.
const LARGEST: usize = 7 << 20;
const LAST_WORDS: u64 = 4 << 10;
/// The script's way of saying that there is no browser.
const NO_BROWSER: i32 = 3;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RenderError {
    #[error("there is no Chromium on this machine")]
    NoBrowser,
    #[error("a page or picture of more than {LARGEST} bytes")]
    TooLarge,
    #[error("the browser took longer than {} s", LIMIT.as_secs())]
    TooLong,
    #[error("the browser failed: {0}")]
    Failed(String),
    #[error("the browser cannot be started: {0}")]
    Start(#[from] std::io::Error),
}

pub(crate) struct Renderer {
    python: PathBuf,
    library: PathBuf,
    /// Of which nothing is seen.
    data: PathBuf,
    /// Bounds the browsers at work; a page waits for its turn.
    room: Semaphore,
}

impl Renderer {
    pub(crate) fn new(options: &PluginOptions, library: PathBuf) -> Self {
        Renderer {
            python: options.python.clone(),
            library,
            data: options.data.clone(),
            room: Semaphore::new(AT_ONCE),
        }
    }

    /// A PNG, or a JPEG where the options say so.
    pub(crate) async fn picture(&self, html: &str, options: &Json) -> Result<Vec<u8>, RenderError> {
        if html.len() > LARGEST {
            return Err(RenderError::TooLarge);
        }
        let _room = self.room.acquire().await;
        let folder = tempfile::Builder::new()
            .prefix("callgate-page-")
            .tempdir()?;
        let mut readable = interpreter(&self.python);
        readable.push(self.library.clone());
        let wall = Wall {
            readable,
            writable: vec![folder.path().to_owned()],
            hidden: self.data.clone(),
            folder: folder.path().to_owned(),
            offline: true,
            ..Wall::default()
        };
        let module = "callgate_worker.browser";
        let mut child = spawn::script(&self.python, &self.library, module, &wall)?;
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let group = Group(group.and_then(Pid::from_raw));
        let asked = json!({"html": html, "options": options}).to_string();
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let talk = async {
            let ask = async {
                if let Some(mut stdin) = stdin {
                    // One that ends early says why in its last words.
                    let _ = stdin.write_all(asked.as_bytes()).await;
                }
            };
            let ((), made, words) = tokio::join!(
                ask,
                read(stdout, LARGEST as u64 + 1),
                read(stderr, LAST_WORDS)
            );
            Ok::<_, std::io::Error>((child.wait().await?, made?, words?))
        };
        let spoken = timeout(LIMIT, talk).await;
        drop(group);
        let (status, made, words) = spoken.map_err(|_| RenderError::TooLong)??;
        judge(status, made, &words)
    }
}

fn judge(status: ExitStatus, made: Vec<u8>, words: &[u8]) -> Result<Vec<u8>, RenderError> {
    match status.code() {
        Some(0) if made.len() > LARGEST => Err(RenderError::TooLarge),
        Some(0) => Ok(made),
        Some(NO_BROWSER) => Err(RenderError::NoBrowser),
        _ => {
            let words = String::from_utf8_lossy(words);
            let last = words.trim().lines().last().unwrap_or("no reason was given");
            Err(RenderError::Failed(last.to_owned()))
        }
    }
}

async fn read(stream: Option<impl AsyncRead + Unpin>, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(limit).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

/// What the script has started ends with it, also when nobody waits for the picture any more.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}
