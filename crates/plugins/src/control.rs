//! [`Control`]: what we say to the process that keeps a worker's wall while the worker runs.

use std::io;

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::UnixStream,
    sync::Mutex,
};

/// A mutex held for one order and its answer.
pub(crate) struct Control(Mutex<BufReader<UnixStream>>);

impl Control {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Control(Mutex::new(BufReader::new(socket)))
    }

    /// Has something shown or opened to the worker, as `Wall` puts it.
    pub(crate) async fn order(&self, order: &[u8]) -> io::Result<()> {
        let mut socket = self.0.lock().await;
        socket.write_all(order).await?;
        let mut answer = String::new();
        socket.read_line(&mut answer).await?;
        match answer.trim().strip_prefix('!') {
            Some(reason) => Err(io::Error::other(reason.to_owned())),
            None if answer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            None => Ok(()),
        }
    }

    /// Why there is no wall, after the process has ended.
    pub(crate) async fn last_words(&self) -> Option<String> {
        let mut words = String::new();
        self.0.lock().await.read_line(&mut words).await.ok()?;
        Some(words.trim().strip_prefix('!')?.to_owned())
    }
}
