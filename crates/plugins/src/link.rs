//! [`Link`]: one channel to a worker. Requests go both ways at any time; nothing is held while one
//! waits, so that a worker may call back while it is being called, to any depth.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use callgate_contract::{BoxFuture, Value, codec::CodecError, frame::FrameReader};
use rustix::net::{SendFlags, send};
use tokio::{
    net::UnixStream,
    sync::{Notify, Semaphore, mpsc, oneshot},
    task::AbortHandle,
};

use crate::{
    failure::Failure,
    frame::{Frame, Named},
};

/// A request of the worker's.
pub(crate) struct Asked {
    pub(crate) id: u64,
    pub(crate) token: Option<Vec<u8>>,
    pub(crate) name: String,
    pub(crate) arguments: Named,
    /// How many items the worker will take.
    pub(crate) credit: Arc<Semaphore>,
}

/// Answers a request; its frames are sent by whoever answers.
pub(crate) type Serve = Arc<dyn Fn(Arc<Link>, Asked) -> BoxFuture<'static, ()> + Send + Sync>;

/// What comes back for a request of ours.
#[derive(Debug)]
pub(crate) enum Answer {
    Value(Value),
    Raised(Failure),
    Item(Value),
}

pub(crate) struct Link {
    stream: UnixStream,
    /// What the socket did not take at once. A mutex held for a copy or a non-blocking write.
    unsent: Mutex<Vec<u8>>,
    more: Notify,
    /// Requests of ours; `None` once the link is closed. A mutex held for a map operation.
    waiting: Mutex<Option<HashMap<u64, Waiting>>>,
    /// Requests of the worker's that are being answered, likewise.
    serving: Mutex<HashMap<u64, Serving>>,
    next: AtomicU64,
    serve: Serve,
    closed: OnceLock<String>,
}

enum Waiting {
    One(oneshot::Sender<Answer>),
    /// Unbounded, since what arrives is bounded by the credit we give.
    Many(mpsc::UnboundedSender<Answer>),
}

struct Serving {
    abort: AbortHandle,
    credit: Arc<Semaphore>,
}

/// The link is closed; why, is known to whoever closed it.
#[derive(Debug)]
pub(crate) struct Closed;

#[derive(Debug)]
pub(crate) enum AskError {
    Closed,
    Unpassable(CodecError),
}

impl Link {
    /// Starts to read and write; both tasks end with the stream.
    pub(crate) fn open(stream: UnixStream, serve: Serve) -> Arc<Link> {
        let link = Arc::new(Link {
            stream,
            unsent: Mutex::default(),
            more: Notify::new(),
            waiting: Mutex::new(Some(HashMap::new())),
            serving: Mutex::default(),
            // Odd numbers are ours, even ones the worker's.
            next: AtomicU64::new(1),
            serve,
            closed: OnceLock::new(),
        });
        tokio::spawn(link.clone().read());
        tokio::spawn(link.clone().write());
        link
    }

    /// One answer. Dropped before it comes, the request is cancelled.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        token: Option<Vec<u8>>,
        step: &str,
        arguments: Named,
    ) -> Result<Answer, AskError> {
        let (tell, told) = oneshot::channel();
        let request = self.request(token, step, arguments, Waiting::One(tell))?;
        let answer = told.await.map_err(|_| AskError::Closed);
        request.settled();
        answer
    }

    /// Many answers.
    pub(crate) fn stream(
        self: &Arc<Self>,
        token: Option<Vec<u8>>,
        step: &str,
        arguments: Named,
    ) -> Result<Answers, AskError> {
        let (tell, told) = mpsc::unbounded_channel();
        let request = self.request(token, step, arguments, Waiting::Many(tell))?;
        Ok(Answers { request, told })
    }

    pub(crate) async fn ping(self: &Arc<Self>) -> Result<(), Closed> {
        let id = self.next.fetch_add(2, Ordering::Relaxed);
        let (tell, told) = oneshot::channel();
        let request = self.wait(id, Waiting::One(tell)).map_err(|_| Closed)?;
        self.send(Frame::Ping { id }).map_err(|_| Closed)?;
        let answer = told.await.map_err(|_| Closed);
        request.settled();
        answer.map(drop)
    }

    fn request(
        self: &Arc<Self>,
        token: Option<Vec<u8>>,
        step: &str,
        arguments: Named,
        waiting: Waiting,
    ) -> Result<Request, AskError> {
        let id = self.next.fetch_add(2, Ordering::Relaxed);
        let request = self.wait(id, waiting)?;
        let sent = self.send(Frame::Request {
            id,
            token,
            name: step.to_owned(),
            arguments,
        });
        sent.map_err(AskError::Unpassable)?;
        Ok(request)
    }

    fn wait(self: &Arc<Self>, id: u64, waiting: Waiting) -> Result<Request, AskError> {
        let mut open = lock(&self.waiting);
        open.as_mut().ok_or(AskError::Closed)?.insert(id, waiting);
        Ok(Request {
            id,
            link: self.clone(),
        })
    }

    /// Written at once where the socket takes it; otherwise as soon as it does. A dead worker takes
    /// nothing, and its requests are told so when the link closes.
    pub(crate) fn send(&self, frame: Frame) -> Result<(), CodecError> {
        let mut bytes = Vec::new();
        frame.write(&mut bytes)?;
        let mut unsent = lock(&self.unsent);
        if unsent.is_empty() {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let sent = send(&self.stream, &bytes, flags).unwrap_or(0);
            bytes.drain(..sent);
        }
        if !bytes.is_empty() {
            unsent.append(&mut bytes);
            self.more.notify_one();
        }
        Ok(())
    }

    async fn write(self: Arc<Self>) {
        while self.closed.get().is_none() {
            self.more.notified().await;
            while !lock(&self.unsent).is_empty() {
                if self.stream.writable().await.is_err() {
                    return;
                }
                let mut unsent = lock(&self.unsent);
                match self.stream.try_write(&unsent) {
                    Ok(sent) => drop(unsent.drain(..sent)),
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    Err(_) => return,
                }
            }
        }
    }

    async fn read(self: Arc<Self>) {
        let mut reader = FrameReader::new();
        let reason = loop {
            if let Err(error) = self.stream.readable().await {
                break error.to_string();
            }
            match self.stream.try_read(reader.spare()) {
                Ok(0) => break "it closed its channel".to_owned(),
                Ok(count) => reader.filled(count),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
                Err(error) => break error.to_string(),
            }
            if let Err(reason) = self.take_all(&mut reader) {
                break reason;
            }
        };
        self.close(&reason);
    }

    fn take_all(self: &Arc<Self>, reader: &mut FrameReader) -> Result<(), String> {
        while let Some(frame) = reader.next_frame().map_err(|error| error.to_string())? {
            let frame = Frame::read(frame.kind, frame.body).map_err(|error| error.to_string())?;
            self.take(frame);
        }
        Ok(())
    }

    fn take(self: &Arc<Self>, frame: Frame) {
        match frame {
            Frame::Request {
                id,
                token,
                name,
                arguments,
            } => self.serve(id, token, name, arguments),
            Frame::Result { id, value } | Frame::End { id, value } => {
                self.settle(id, Answer::Value(value));
            }
            Frame::Error { id, error } => self.settle(id, Answer::Raised(Failure::read(&error))),
            Frame::Pong { id } => self.settle(id, Answer::Value(Value::Null)),
            Frame::Item { id, value } => {
                if let Some(Waiting::Many(tell)) =
                    lock(&self.waiting).as_ref().and_then(|all| all.get(&id))
                {
                    let _ = tell.send(Answer::Item(value));
                }
            }
            Frame::Credit { id, count } => {
                if let Some(serving) = lock(&self.serving).get(&id) {
                    serving.credit.add_permits(count as usize);
                }
            }
            Frame::Cancel { id } => {
                if let Some(serving) = lock(&self.serving).remove(&id) {
                    serving.abort.abort();
                }
            }
            Frame::Ping { id } => drop(self.send(Frame::Pong { id })),
        }
    }

    fn settle(&self, id: u64, answer: Answer) {
        let waiting = lock(&self.waiting).as_mut().and_then(|all| all.remove(&id));
        match waiting {
            Some(Waiting::One(tell)) => drop(tell.send(answer)),
            Some(Waiting::Many(tell)) => drop(tell.send(answer)),
            // Nobody waits any more.
            None => {}
        }
    }

    fn serve(self: &Arc<Self>, id: u64, token: Option<Vec<u8>>, name: String, arguments: Named) {
        let credit = Arc::new(Semaphore::new(0));
        let asked = Asked {
            id,
            token,
            name,
            arguments,
            credit: credit.clone(),
        };
        let link = self.clone();
        let answering = (self.serve)(self.clone(), asked);
        // Held until the task is listed: it takes itself off the list when it ends.
        let mut serving = lock(&self.serving);
        let task = tokio::spawn(async move {
            answering.await;
            lock(&link.serving).remove(&id);
        });
        let abort = task.abort_handle();
        serving.insert(id, Serving { abort, credit });
    }

    /// Everybody who waits is told; what the worker asked for is given up.
    pub(crate) fn close(&self, reason: &str) {
        let _ = self.closed.set(reason.to_owned());
        drop(lock(&self.waiting).take());
        for (_, serving) in lock(&self.serving).drain() {
            serving.abort.abort();
        }
        self.more.notify_one();
    }

    /// Why the link is closed, if it is.
    pub(crate) fn closed(&self) -> Option<&str> {
        self.closed.get().map(String::as_str)
    }
}

/// A request of ours that has no answer yet. Dropped, it is cancelled on the other side.
struct Request {
    id: u64,
    link: Arc<Link>,
}

impl Request {
    fn settled(mut self) {
        self.id = 0;
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if self.id == 0 {
            return;
        }
        let open = lock(&self.link.waiting)
            .as_mut()
            .and_then(|all| all.remove(&self.id));
        if open.is_some() {
            let _ = self.link.send(Frame::Cancel { id: self.id });
        }
    }
}

/// The answers of one request. The other side makes the next one only when asked for it.
pub(crate) struct Answers {
    request: Request,
    told: mpsc::UnboundedReceiver<Answer>,
}

impl Answers {
    pub(crate) async fn next(&mut self) -> Result<Answer, AskError> {
        let credit = Frame::Credit {
            id: self.request.id,
            count: 1,
        };
        let _ = self.request.link.send(credit);
        self.told.recv().await.ok_or(AskError::Closed)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
