//! What plugins print, as lines: into our own log, and into a bounded file per plugin.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use tokio::{io::AsyncReadExt, net::unix::pipe};

/// A file that has reached this is set aside, in place of the one set aside before.
const MAX_FILE: u64 = 1 << 20;

/// A line longer than this is cut into several.
const MAX_LINE: usize = 16 << 10;

/// In front of a line: whose it is.
const BEGIN: char = '\x1e';
const MIDDLE: char = '\x1f';

/// Where the log of `plugin` lies.
pub(crate) fn file_of(data: &Path, plugin: &str) -> PathBuf {
    let plain = |c: char| match c {
        c if c.is_alphanumeric() || "._-".contains(c) => c,
        _ => '_',
    };
    let name: String = plugin.chars().map(plain).collect();
    data.join("logs").join(format!("{name}.log"))
}

/// Reads until the pipe closes. `worker` is whose line it is that no plugin printed.
pub(crate) async fn follow(mut pipe: pipe::Receiver, data: PathBuf, worker: String) {
    let mut unread: Vec<u8> = Vec::new();
    let mut chunk = vec![0; 8 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        unread.extend_from_slice(&chunk[..count]);
        while let Some(end) = line_end(&unread) {
            let line: Vec<u8> = unread.drain(..end).collect();
            keep(&data, &worker, &String::from_utf8_lossy(&line));
        }
    }
    if !unread.is_empty() {
        keep(&data, &worker, &String::from_utf8_lossy(&unread));
    }
}

fn line_end(bytes: &[u8]) -> Option<usize> {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    end.map(|end| end + 1)
        .or_else(|| (bytes.len() > MAX_LINE).then_some(MAX_LINE))
}

fn keep(data: &Path, worker: &str, line: &str) {
    let line = line.trim_end();
    let (plugin, text) = line
        .strip_prefix(BEGIN)
        .and_then(|marked| marked.split_once(MIDDLE))
        .unwrap_or((worker, line));
    tracing::info!(target: "plugin", plugin, "{text}");
    let path = file_of(data, plugin);
    // A log that cannot be written must not stop the plugin.
    if let Err(error) = append(&path, text) {
        tracing::debug!(path = %path.display(), %error, "a plugin's log cannot be written");
    }
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    let open = || OpenOptions::new().create(true).append(true).open(path);
    let mut file: File = match open() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            std::fs::create_dir_all(path.parent().unwrap_or(path))?;
            open()?
        }
        opened => opened?,
    };
    if file.metadata()?.len() > MAX_FILE {
        std::fs::rename(path, path.with_extension("log.1"))?;
        file = open()?;
    }
    let now = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S");
    writeln!(file, "{now} {text}")
}
