//! [`Live`]: who listens to which session at this moment, and what was last told. A message goes
//! out where somebody hears it; without anybody it stays in the outbox for whoever comes next.

mod news;

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use callgate_agent::TurnEvent;
use callgate_contract::{BoxFuture, DeliveryError, Message, Outbox, Piece, Receipt, SessionKey};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::operations::ApprovalView;

pub use news::{JobNews, News, RunNews, Topic, Topics};

/// Something that happens in a session.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A message goes out.
    Message(Message),
    Turn(TurnEvent),
    /// A call waits for the operator's word, or waits no more.
    Approval(Box<ApprovalView>),
}

/// An event as those who subscribed read it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventEnvelope {
    /// None where it is of no session.
    pub session: Option<SessionKey>,
    /// Of a message that goes out. A crash may repeat its delivery, always under the same id: who has heard
    /// it passes over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    pub event: AnyEvent,
}

impl EventEnvelope {
    fn new(session: Option<&SessionKey>, event: AnyEvent) -> Self {
        EventEnvelope {
            session: session.cloned(),
            id: None,
            event,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AnyEvent {
    OfSession(Event),
    OfServer(News),
}

/// Listeners what happens; false once nobody hears it any more. Called from the turn itself: quick.
pub type EventListener = Arc<dyn Fn(Event) -> bool + Send + Sync>;

/// Events that are kept for those who come back.
const KEPT: usize = 2_048;
/// Lines of the log that are: apart, so that a chatty one drives out nothing else.
const LINES: usize = 1_024;
/// Events that may wait for one who reads slowly; then it has to read anew.
const WAITING: usize = 4_096;

pub struct Live {
    /// A mutex, since turns tell from any thread; held while ears are told, so that one that has
    /// left is told nothing.
    told: Mutex<Listeners>,
    next: AtomicU64,
    /// Numbers of events count anew with each start: this tells the counts apart.
    start: Uuid,
}

#[derive(Default)]
struct Listeners {
    ears: Vec<SessionListener>,
    readers: Vec<Subscriber>,
    kept: Ring,
    lines: Ring,
    count: u64,
    /// Nobody is told anything any more.
    closed: bool,
}

/// The newest events.
#[derive(Default)]
struct Ring {
    events: VecDeque<Arc<KeptEvent>>,
    /// The number of the last one that is forgotten.
    forgotten: u64,
}

struct SessionListener {
    number: u64,
    session: SessionKey,
    hear: EventListener,
}

struct Subscriber {
    wish: EventFilter,
    events: mpsc::Sender<StreamEvent>,
}

/// What a reader wants to hear.
#[derive(Clone, Debug)]
pub struct EventFilter {
    /// Only of this session.
    pub session: Option<SessionKey>,
    pub topics: Topics,
}

impl EventFilter {
    fn fits(&self, kept: &KeptEvent) -> bool {
        let session = self.session.as_ref();
        self.topics.contain(kept.topic)
            && session.is_none_or(|session| kept.session.as_ref() == Some(session))
    }
}

struct KeptEvent {
    number: u64,
    topic: Topic,
    session: Option<SessionKey>,
    text: Arc<str>,
}

/// What a subscriber hears.
#[derive(Clone, Debug)]
pub enum StreamEvent {
    /// What came before is forgotten here: read anew.
    Reset,
    /// The server is ending: come back to the next one.
    Closing,
    Event {
        id: String,
        text: Arc<str>,
    },
}

/// While it lives, its ear hears.
pub struct EventSubscription {
    number: u64,
    live: Arc<Live>,
}

impl Default for Live {
    fn default() -> Self {
        Live {
            told: Mutex::default(),
            next: AtomicU64::new(0),
            start: Uuid::now_v7(),
        }
    }
}

impl Live {
    pub fn listen(
        self: &Arc<Self>,
        session: &SessionKey,
        hear: EventListener,
    ) -> EventSubscription {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.told.lock().ears.push(SessionListener {
            number,
            session: session.clone(),
            hear,
        });
        EventSubscription {
            number,
            live: Arc::clone(self),
        }
    }

    /// Tells those who subscribed.
    pub fn tell(&self, session: &SessionKey, event: Event) {
        let envelope = EventEnvelope::new(Some(session), AnyEvent::OfSession(event));
        self.spread(&mut self.told.lock(), Topic::Turns, envelope);
    }

    /// The same of what is no part of a turn.
    pub fn announce(&self, news: &News) {
        let envelope = EventEnvelope::new(news.session(), AnyEvent::OfServer(news.clone()));
        self.spread(&mut self.told.lock(), news.topic(), envelope);
    }

    /// What happens from now on, and before it what was missed since `last`.
    pub fn subscribe(&self, wish: EventFilter, last: Option<&str>) -> Subscription {
        let (events, heard) = mpsc::channel(WAITING);
        let mut told = self.told.lock();
        if let Some(last) = last {
            self.catch_up(&told, &wish, last, &events);
        }
        if told.closed {
            drop(events.try_send(StreamEvent::Closing))
        } else {
            told.readers.push(Subscriber { wish, events })
        }
        Subscription(heard)
    }

    /// Tells those who subscribed that it is over, and lets them go.
    pub fn close(&self) {
        let mut told = self.told.lock();
        told.closed = true;
        for reader in told.readers.drain(..) {
            let _ = reader.events.try_send(StreamEvent::Closing);
        }
    }

    fn catch_up(
        &self,
        told: &Listeners,
        wish: &EventFilter,
        last: &str,
        events: &mpsc::Sender<StreamEvent>,
    ) {
        let number = last
            .split_once('/')
            .filter(|(start, _)| *start == self.start.simple().to_string())
            .and_then(|(_, number)| number.parse::<u64>().ok());
        let mut rings = vec![&told.kept];
        rings.extend(wish.topics.contain(Topic::Logs).then_some(&told.lines));
        let is_whole = |number: &u64| rings.iter().all(|ring| *number >= ring.forgotten);
        let Some(number) = number.filter(is_whole) else {
            let _ = events.try_send(StreamEvent::Reset);
            return;
        };
        let missed = rings.iter().flat_map(|ring| &ring.events);
        let mut missed: Vec<&Arc<KeptEvent>> = missed
            .filter(|kept| kept.number > number && wish.fits(kept))
            .collect();
        missed.sort_by_key(|kept| kept.number);
        for kept in missed {
            let id = self.id(kept.number);
            let text = kept.text.clone();
            let _ = events.try_send(StreamEvent::Event { id, text });
        }
    }

    fn spread(&self, told: &mut Listeners, topic: Topic, envelope: EventEnvelope) {
        told.count += 1;
        let text = json!(&envelope).to_string();
        let kept = Arc::new(KeptEvent {
            number: told.count,
            topic,
            session: envelope.session,
            text: text.into(),
        });
        let id = self.id(kept.number);
        told.readers.retain(|reader| {
            if !reader.wish.fits(&kept) {
                return !reader.events.is_closed();
            }
            let heard = StreamEvent::Event {
                id: id.clone(),
                text: kept.text.clone(),
            };
            // One that reads too slowly is let go: it comes back and catches up.
            reader.events.try_send(heard).is_ok()
        });
        match topic {
            Topic::Logs => told.lines.push(kept, LINES),
            _ => told.kept.push(kept, KEPT),
        }
    }

    fn id(&self, number: u64) -> String {
        format!("{}/{number}", self.start.simple())
    }
}

impl Ring {
    fn push(&mut self, kept: Arc<KeptEvent>, most: usize) {
        self.events.push_back(kept);
        if self.events.len() > most
            && let Some(gone) = self.events.pop_front()
        {
            self.forgotten = gone.number;
        }
    }
}

impl Drop for EventSubscription {
    fn drop(&mut self) {
        let mut told = self.live.told.lock();
        told.ears.retain(|ear| ear.number != self.number);
    }
}

impl Outbox for Live {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        let mut told = self.told.lock();
        let event = Event::Message(Message {
            session: piece.session.clone(),
            parts: piece.parts.to_vec(),
        });
        let session = Some(piece.session);
        let envelope = EventEnvelope {
            id: Some(piece.id),
            ..EventEnvelope::new(session, AnyEvent::OfSession(event.clone()))
        };
        self.spread(&mut told, Topic::Turns, envelope);
        let reads = |Subscriber { wish, .. }: &Subscriber| {
            let chosen = wish.session.as_ref();
            wish.topics.contain(Topic::Turns) && chosen.is_none_or(|it| Some(it) == session)
        };
        let mut heard = told.readers.iter().any(reads);
        for ear in told.ears.iter().filter(|ear| ear.session == *piece.session) {
            heard |= (ear.hear)(event.clone());
        }
        let answer = if heard {
            Ok(Receipt::default())
        } else {
            Err(DeliveryError::Unreachable {
                reason: "nobody listens to this session now".to_owned(),
            })
        };
        Box::pin(std::future::ready(answer))
    }
}

pub struct Subscription(mpsc::Receiver<StreamEvent>);

impl Subscription {
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        self.0.poll_recv(context)
    }
}

#[cfg(test)]
mod tests {
    use callgate_contract::Part;

    use super::*;

    fn session(id: &str) -> SessionKey {
        format!("web:FriendMessage:{id}").parse().unwrap()
    }

    fn everything() -> EventFilter {
        EventFilter {
            session: None,
            topics: Topics::default(),
        }
    }

    fn of(id: &str) -> EventFilter {
        EventFilter {
            session: Some(session(id)),
            ..everything()
        }
    }

    fn round(number: u32) -> Event {
        Event::Turn(TurnEvent::Round {
            number,
            mode: Default::default(),
        })
    }

    fn heard(subscription: &mut Subscription) -> Vec<String> {
        let mut texts = Vec::new();
        while let Ok(heard) = subscription.0.try_recv() {
            texts.push(match heard {
                StreamEvent::Reset => "reset".to_owned(),
                StreamEvent::Closing => "closing".to_owned(),
                StreamEvent::Event { id, .. } => id.rsplit('/').next().unwrap().to_owned(),
            });
        }
        texts
    }

    #[test]
    fn whoever_comes_back_gets_what_it_missed() {
        let live = Live::default();
        for number in 1..=5 {
            live.tell(&session(if number == 4 { "b" } else { "a" }), round(number));
        }
        let last = live.id(2);
        let mut all = live.subscribe(everything(), Some(&last));
        assert_eq!(heard(&mut all), ["3", "4", "5"]);
        let mut one = live.subscribe(of("a"), Some(&last));
        assert_eq!(heard(&mut one), ["3", "5"]);
        live.tell(&session("a"), round(6));
        assert_eq!(heard(&mut one), ["6"]);
        let mut stranger = live.subscribe(everything(), Some("elsewhere/3"));
        assert_eq!(heard(&mut stranger), ["reset"]);
        let mut fresh = live.subscribe(everything(), None);
        assert_eq!(heard(&mut fresh), [""; 0]);
    }

    /// As it is after a crash between telling and writing down that it was told.
    #[tokio::test]
    async fn a_message_that_is_told_again_is_known_by_its_id() {
        let live = Live::default();
        let mut reader = live.subscribe(everything(), None);
        let (session, parts) = (session("a"), [Part::text("hello")]);
        let piece = |id| Piece {
            id,
            number: 1,
            session: &session,
            parts: &parts,
            queued_at: 0,
        };
        for id in [7, 7, 8] {
            live.deliver(piece(id)).await.unwrap();
            let Ok(StreamEvent::Event { text, .. }) = reader.0.try_recv() else {
                panic!("it was told");
            };
            let told: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(told["id"], id);
        }
    }

    #[tokio::test]
    async fn the_end_is_told_and_lets_go() {
        let live = Live::default();
        let mut reader = live.subscribe(everything(), None);
        live.tell(&session("a"), round(1));
        live.close();
        live.tell(&session("a"), round(2));
        assert_eq!(heard(&mut reader), ["1", "closing"]);
        assert!(reader.0.recv().await.is_none());
        let mut late = live.subscribe(everything(), None);
        assert_eq!(heard(&mut late), ["closing"]);
        assert!(late.0.recv().await.is_none());
    }

    #[test]
    fn what_is_forgotten_is_said_to_be() {
        let live = Live::default();
        for number in 0..=KEPT {
            live.tell(&session("a"), round(number as u32));
        }
        let mut late = live.subscribe(everything(), Some(&live.id(0)));
        assert_eq!(heard(&mut late), ["reset"]);
    }

    #[tokio::test]
    async fn a_message_is_delivered_where_somebody_hears_it() {
        let live = Arc::new(Live::default());
        let (here, parts) = (session("a"), [Part::text("hello")]);
        let message = |id| Piece {
            id,
            number: 1,
            session: &here,
            parts: &parts,
            queued_at: 0,
        };
        assert!(live.deliver(message(1)).await.is_err());
        let elsewhere = live.listen(&session("b"), Arc::new(|_| true));
        assert!(live.deliver(message(1)).await.is_err());
        drop(elsewhere);
        let listening = live.listen(&here, Arc::new(|_| true));
        assert!(live.deliver(message(1)).await.is_ok());
        drop(listening);
        assert!(live.deliver(message(1)).await.is_err());
        let mut reader = live.subscribe(of("a"), None);
        assert!(live.deliver(message(7)).await.is_ok());
        let Ok(StreamEvent::Event { text, .. }) = reader.0.try_recv() else {
            panic!("nothing was heard");
        };
        assert!(text.contains(r#""id":7"#), "{text}");
    }
}
