//! [`Link`]: one channel to a worker. Requests go both ways at any time; nothing is held while one
//! waits, so that a worker may call back while it is being called, to any depth.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use callgate_contract::{BoxFuture, Value, codec::CodecError, frame::FrameReader};
use parking_lot::Mutex;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use tokio::{
    net::UnixStream,
    sync::{Notify, Semaphore, mpsc, oneshot},
    task::AbortHandle,
};

use crate::{
    failure::Failure,
    frame::{Frame, NamedValues},
};

/// How long an asker looks for its answer itself.
const LOOK: Duration = Duration::from_micros(150);
/// After so many misses in a row nobody looks any more, but for one in [`TRIED_AGAIN`] requests.
const MISSES: u32 = 8;
const TRIED_AGAIN: u64 = 64;

/// A request of the worker's.
pub(crate) struct WorkerRequest {
    pub(crate) id: u64,
    pub(crate) token: Option<Vec<u8>>,
    pub(crate) name: String,
    /// Whose code asks, as the worker has it.
    pub(crate) plugin: String,
    pub(crate) arguments: NamedValues,
    /// How many items the worker will take.
    pub(crate) credit: Arc<Semaphore>,
}

/// Answers a request; its frames are sent by whoever answers.
pub(crate) type RequestHandler =
    Arc<dyn Fn(Arc<Link>, WorkerRequest) -> BoxFuture<'static, ()> + Send + Sync>;

/// What comes back for a request of ours.
#[derive(Debug)]
pub(crate) enum Answer {
    Value(Value),
    Raised(Failure),
    Item(Value),
}

pub(crate) struct Link {
    stream: UnixStream,
    /// What has arrived. A mutex held for a non-blocking read and what it brings: the reading task
    /// and whoever waits for an answer both look.
    reader: Mutex<FrameReader>,
    /// Answers in a row that did not come while their asker looked for them.
    missed: AtomicU32,
    /// What the socket did not take at once. A mutex held for a copy or a non-blocking write.
    unsent: Mutex<Vec<u8>>,
    more: Notify,
    /// Requests of ours; `None` once the link is closed. A mutex held for a map operation.
    waiting: Mutex<Option<HashMap<u64, ReplySender>>>,
    /// Requests of the worker's that are being answered, likewise.
    serving: Mutex<HashMap<u64, RequestTask>>,
    next: AtomicU64,
    serve: RequestHandler,
    closed: OnceLock<String>,
}

enum ReplySender {
    One(oneshot::Sender<Answer>),
    /// Unbounded, since what arrives is bounded by the credit we give.
    Many(mpsc::UnboundedSender<Answer>),
}

struct RequestTask {
    abort: AbortHandle,
    credit: Arc<Semaphore>,
    /// Goes on when the worker is gone: a turn that has begun is the user's.
    outlives: bool,
}

/// The requests that go on without their asker.
const OUTLIVES: &str = "turn_run";

/// The link is closed; why, is known to whoever closed it.
#[derive(Debug)]
pub(crate) struct LinkClosed;

#[derive(Debug)]
pub(crate) enum AskError {
    Closed,
    Unpassable(CodecError),
}

impl Link {
    /// Starts to read and write; both tasks end with the stream.
    pub(crate) fn open(stream: UnixStream, serve: RequestHandler) -> Arc<Link> {
        let link = Arc::new(Link {
            stream,
            reader: Mutex::new(FrameReader::new()),
            missed: AtomicU32::new(0),
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
        arguments: NamedValues,
    ) -> Result<Answer, AskError> {
        self.answer(token, step, arguments, false).await
    }

    /// As [`Link::ask`], for an answer that is likely to come at once: for a moment the asker itself
    /// looks for it, which saves two threads a wake-up.
    pub(crate) async fn ask_eagerly(
        self: &Arc<Self>,
        token: Option<Vec<u8>>,
        step: &str,
        arguments: NamedValues,
    ) -> Result<Answer, AskError> {
        self.answer(token, step, arguments, true).await
    }

    async fn answer(
        self: &Arc<Self>,
        token: Option<Vec<u8>>,
        step: &str,
        arguments: NamedValues,
        eagerly: bool,
    ) -> Result<Answer, AskError> {
        let (tell, told) = oneshot::channel();
        let request = self.request(token, step, arguments, ReplySender::One(tell))?;
        let looks = eagerly && self.is_quick(request.id);
        let answer = AnswerPoll {
            told,
            link: self,
            until: looks.then(|| Instant::now() + LOOK),
        };
        let answer = answer.await.map_err(|_| AskError::Closed);
        request.settled();
        answer
    }

    /// Have answers lately come while somebody looked? From time to time that is tried again.
    fn is_quick(&self, id: u64) -> bool {
        self.missed.load(Ordering::Relaxed) < MISSES || id % TRIED_AGAIN == 1
    }

    /// Many answers.
    pub(crate) fn stream(
        self: &Arc<Self>,
        token: Option<Vec<u8>>,
        step: &str,
        arguments: NamedValues,
    ) -> Result<Answers, AskError> {
        let (tell, told) = mpsc::unbounded_channel();
        let request = self.request(token, step, arguments, ReplySender::Many(tell))?;
        Ok(Answers { request, told })
    }

    pub(crate) async fn ping(self: &Arc<Self>) -> Result<(), LinkClosed> {
        let id = self.next.fetch_add(2, Ordering::Relaxed);
        let (tell, told) = oneshot::channel();
        let request = self
            .wait(id, ReplySender::One(tell))
            .map_err(|_| LinkClosed)?;
        self.send(Frame::Ping { id }).map_err(|_| LinkClosed)?;
        let answer = told.await.map_err(|_| LinkClosed);
        request.settled();
        answer.map(drop)
    }

    fn request(
        self: &Arc<Self>,
        token: Option<Vec<u8>>,
        step: &str,
        arguments: NamedValues,
        waiting: ReplySender,
    ) -> Result<PendingRequest, AskError> {
        let id = self.next.fetch_add(2, Ordering::Relaxed);
        let request = self.wait(id, waiting)?;
        let sent = self.send(Frame::Request {
            id,
            token,
            name: step.to_owned(),
            plugin: String::new(),
            arguments,
        });
        sent.map_err(AskError::Unpassable)?;
        Ok(request)
    }

    fn wait(self: &Arc<Self>, id: u64, waiting: ReplySender) -> Result<PendingRequest, AskError> {
        let mut open = self.waiting.lock();
        open.as_mut().ok_or(AskError::Closed)?.insert(id, waiting);
        Ok(PendingRequest {
            id,
            link: self.clone(),
        })
    }

    /// Written at once where the socket takes it; otherwise as soon as it does. A dead worker takes
    /// nothing, and its requests are told so when the link closes.
    pub(crate) fn send(&self, frame: Frame) -> Result<(), CodecError> {
        let mut bytes = Vec::new();
        frame.write(&mut bytes)?;
        let mut unsent = self.unsent.lock();
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
            while !self.unsent.lock().is_empty() {
                if self.stream.writable().await.is_err() {
                    return;
                }
                let mut unsent = self.unsent.lock();
                match self.stream.try_write(&unsent) {
                    Ok(sent) => drop(unsent.drain(..sent)),
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    Err(_) => return,
                }
            }
        }
    }

    async fn read(self: Arc<Self>) {
        let reason = loop {
            if let Err(error) = self.stream.readable().await {
                break error.to_string();
            }
            let mut reader = self.reader.lock();
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

    /// Takes what has arrived, unless somebody else just does. Its end is the reading task's to see.
    fn look(self: &Arc<Self>) {
        let Some(mut reader) = self.reader.try_lock() else {
            return;
        };
        let flags = RecvFlags::DONTWAIT;
        if let Ok((count @ 1.., _)) = recv(&self.stream, reader.spare(), flags) {
            reader.filled(count);
            if let Err(reason) = self.take_all(&mut reader) {
                self.close(&reason);
            }
        }
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
                plugin,
                arguments,
            } => self.serve(WorkerRequest {
                id,
                token,
                name,
                plugin,
                arguments,
                credit: Arc::new(Semaphore::new(0)),
            }),
            Frame::Result { id, value } | Frame::End { id, value } => {
                self.settle(id, Answer::Value(value));
            }
            Frame::Error { id, error } => self.settle(id, Answer::Raised(Failure::read(&error))),
            Frame::Pong { id } => self.settle(id, Answer::Value(Value::Null)),
            Frame::Item { id, value } => {
                if let Some(ReplySender::Many(tell)) =
                    self.waiting.lock().as_ref().and_then(|all| all.get(&id))
                {
                    let _ = tell.send(Answer::Item(value));
                }
            }
            Frame::Credit { id, count } => {
                if let Some(serving) = self.serving.lock().get(&id) {
                    serving.credit.add_permits(count as usize);
                }
            }
            Frame::Cancel { id } => {
                if let Some(serving) = self.serving.lock().remove(&id) {
                    serving.abort.abort();
                }
            }
            Frame::Ping { id } => drop(self.send(Frame::Pong { id })),
        }
    }

    fn settle(&self, id: u64, answer: Answer) {
        let waiting = self.waiting.lock().as_mut().and_then(|all| all.remove(&id));
        match waiting {
            Some(ReplySender::One(tell)) => drop(tell.send(answer)),
            Some(ReplySender::Many(tell)) => drop(tell.send(answer)),
            // Nobody waits any more.
            None => {}
        }
    }

    fn serve(self: &Arc<Self>, asked: WorkerRequest) {
        let (id, credit) = (asked.id, asked.credit.clone());
        let outlives = asked.name == OUTLIVES;
        let link = self.clone();
        let answering = (self.serve)(self.clone(), asked);
        // Held until the task is listed: it takes itself off the list when it ends.
        let mut serving = self.serving.lock();
        let task = tokio::spawn(async move {
            answering.await;
            link.serving.lock().remove(&id);
        });
        let abort = task.abort_handle();
        let entry = RequestTask {
            abort,
            credit,
            outlives,
        };
        serving.insert(id, entry);
    }

    /// Everybody who waits is told; what the worker asked for is given up, but for turns.
    pub(crate) fn close(&self, reason: &str) {
        let _ = self.closed.set(reason.to_owned());
        drop(self.waiting.lock().take());
        for (_, serving) in self.serving.lock().drain() {
            // Nobody takes another item.
            serving.credit.close();
            if !serving.outlives {
                serving.abort.abort();
            }
        }
        self.more.notify_one();
    }

    /// Why the link is closed, if it is.
    pub(crate) fn closed(&self) -> Option<&str> {
        self.closed.get().map(String::as_str)
    }
}

/// A request of ours that has no answer yet. Dropped, it is cancelled on the other side.
struct PendingRequest {
    id: u64,
    link: Arc<Link>,
}

impl PendingRequest {
    fn settled(mut self) {
        self.id = 0;
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if self.id == 0 {
            return;
        }
        let open = self
            .link
            .waiting
            .lock()
            .as_mut()
            .and_then(|all| all.remove(&self.id));
        if open.is_some() {
            let _ = self.link.send(Frame::Cancel { id: self.id });
        }
    }
}

/// An answer that its asker looks for itself, until a moment has passed.
struct AnswerPoll<'a> {
    told: oneshot::Receiver<Answer>,
    link: &'a Arc<Link>,
    until: Option<Instant>,
}

impl Future for AnswerPoll<'_> {
    type Output = Result<Answer, oneshot::error::RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(answer) = Pin::new(&mut self.told).poll(context) {
            return Poll::Ready(answer);
        }
        let Some(until) = self.until else {
            return Poll::Pending;
        };
        if Instant::now() > until {
            self.until = None;
            self.link.missed.fetch_add(1, Ordering::Relaxed);
            return Poll::Pending;
        }
        self.link.look();
        if let Poll::Ready(answer) = Pin::new(&mut self.told).poll(context) {
            self.link.missed.store(0, Ordering::Relaxed);
            return Poll::Ready(answer);
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// The answers of one request. The other side makes the next one only when asked for it.
pub(crate) struct Answers {
    request: PendingRequest,
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
