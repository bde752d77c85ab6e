//! What is promised of messages that leave: nothing is lost, order is kept within a chat, and where a
//! repetition is harmful nothing is told twice, wherever the process ends; what nobody knows is shown.

mod crash;

use std::{collections::VecDeque, sync::Mutex, time::Duration};

use callgate_contract::{
    BoxFuture, DeliveryError, Found, JournalId, Message, Outbox, Part, Piece, Receipt, Repetition,
    SessionKey,
};
use callgate_store::{DeliveryState, Retention, Store};
use callgate_testkit::{Home, on_each_engine};
use jiff::Timestamp;

use crate::common::session;

/// A platform that answers as it is told to, and takes what it was told nothing about.
struct Platform {
    repetition: Repetition,
    answers: Mutex<VecDeque<Result<Receipt, DeliveryError>>>,
    found: Option<Found>,
    /// Where it cuts messages.
    cut: char,
    told: Mutex<Vec<String>>,
}

impl Platform {
    fn new(repetition: Repetition) -> Self {
        Platform {
            repetition,
            answers: Mutex::default(),
            found: None,
            cut: '|',
            told: Mutex::default(),
        }
    }

    fn answers(self, answer: Result<Receipt, DeliveryError>) -> Self {
        self.answers.lock().unwrap().push_back(answer);
        self
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

fn words(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::words).collect()
}

fn cut(message: &Message, at: char) -> Vec<Vec<Part>> {
    let text = words(&message.parts);
    text.split(at).map(|text| vec![Part::text(text)]).collect()
}

/// The piece's name on the platform.
fn taken(piece: Piece<'_>) -> Receipt {
    Receipt {
        message_id: Some(format!("{}/{}", piece.id, piece.number)),
    }
}

impl Outbox for Platform {
    fn repetition(&self, _: &SessionKey) -> Repetition {
        self.repetition
    }

    fn pieces(&self, message: &Message) -> Vec<Vec<Part>> {
        cut(message, self.cut)
    }

    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        let answer = self.answers.lock().unwrap().pop_front();
        self.told.lock().unwrap().push(words(piece.parts));
        Box::pin(std::future::ready(answer.unwrap_or(Ok(taken(piece)))))
    }

    fn look_for<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Found> {
        let found = self.found.clone().expect("nobody looks");
        Box::pin(std::future::ready(found))
    }
}

async fn says(store: &Store, to: &str, text: &str) {
    let message = Message {
        session: session(to),
        parts: vec![Part::text(text)],
    };
    let outbox = store.outbox();
    outbox
        .send(JournalId::fresh(), &message, true)
        .await
        .unwrap();
}

fn unreachable() -> DeliveryError {
    DeliveryError::Unreachable {
        reason: "the bot is not connected".to_owned(),
    }
}

fn refused() -> DeliveryError {
    DeliveryError::Refused {
        reason: "it is too long".to_owned(),
    }
}

fn unknown() -> DeliveryError {
    DeliveryError::Unknown {
        reason: "no answer came".to_owned(),
    }
}

const ALL: [Repetition; 3] = [
    Repetition::Harmless,
    Repetition::Recognized,
    Repetition::Harmful,
];

/// The next process; what needs no mark at once is marked before.
async fn reopened(home: &Home, store: Store) -> Store {
    store.journal().flush().await.unwrap();
    drop(store);
    home.open().await
}

async fn shown(store: &Store) -> Vec<(String, DeliveryState, Option<String>)> {
    let found = store.outbox().undelivered(None, 0, 99).await.unwrap();
    let found = found.into_iter();
    found
        .map(|message| (words(&message.parts), message.state, message.reason))
        .collect()
}

#[tokio::test]
async fn what_was_not_sent_waits_and_holds_up_its_chat() {
    on_each_engine(async |home| {
        let mut store = home.open().await;
        for repetition in ALL {
            store = reopened(&home, store).await;
            for (to, text) in [("a", "1"), ("b", "2"), ("a", "3")] {
                says(&store, to, text).await;
            }
            let platform = Platform::new(repetition).answers(Err(unreachable()));
            let outbox = store.outbox();
            let done = outbox.deliver_pending(None, &platform).await.unwrap();
            assert_eq!((done.delivered, done.failed.len()), (1, 1));
            let why = Some("the bot is not connected".to_owned());
            let queued = DeliveryState::Queued;
            let waiting = [
                ("1".to_owned(), queued, why.clone()),
                ("3".to_owned(), queued, why),
            ];
            assert_eq!(shown(&store).await, waiting);
            // Nothing was sent, so that nothing is looked for.
            let done = outbox.deliver_pending(None, &platform).await.unwrap();
            assert_eq!(done.delivered, 2);
            assert_eq!(platform.told(), ["1", "2", "1", "3"]);
            assert_eq!(shown(&store).await, []);
        }
    })
    .await;
}

/// While the process lives as well: the platform's own record tells.
#[tokio::test]
async fn what_nobody_answered_is_looked_for() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let outbox = store.outbox();
        says(&store, "a", "1").await;
        let arrived = Receipt {
            message_id: Some("m1".to_owned()),
        };
        let platform = Platform {
            found: Some(Found::Delivered(arrived)),
            ..Platform::new(Repetition::Harmful)
        };
        let platform = platform.answers(Err(unknown()));
        let done = outbox.deliver_pending(None, &platform).await.unwrap();
        assert_eq!((done.delivered, platform.told().len()), (1, 1));
        assert!(outbox.sent(&session("a"), "m1").await.unwrap().is_some());

        says(&store, "a", "2").await;
        says(&store, "a", "3").await;
        let platform = Platform {
            found: Some(Found::Missing),
            ..Platform::new(Repetition::Harmful)
        };
        let platform = platform.answers(Err(unknown()));
        let done = outbox.deliver_pending(None, &platform).await.unwrap();
        let again = done.again_after.expect("it is sent again");
        assert_eq!((done.delivered, platform.told()), (0, vec!["2".to_owned()]));
        tokio::time::sleep(again).await;
        let done = outbox.deliver_pending(None, &platform).await.unwrap();
        assert_eq!(done.delivered, 2);
        assert_eq!(platform.told(), ["2", "2", "3"]);
        assert_eq!(shown(&store).await, []);
    })
    .await;
}

#[tokio::test]
async fn a_rate_limit_is_waited_for() {
    on_each_engine(async |home| {
        let mut store = home.open().await;
        for repetition in ALL {
            store = reopened(&home, store).await;
            says(&store, "a", "1").await;
            says(&store, "b", "2").await;
            let limited = |seconds| DeliveryError::Later {
                after: Duration::from_secs(seconds),
                reason: "too fast".to_owned(),
            };
            let platform = Platform::new(repetition)
                .answers(Err(limited(3_600)))
                .answers(Err(limited(0)));
            let outbox = store.outbox();
            let done = outbox.deliver_pending(None, &platform).await.unwrap();
            assert_eq!((done.delivered, done.failed.len()), (0, 2));
            assert_eq!(done.again_after, Some(Duration::ZERO));
            let done = outbox.deliver_pending(None, &platform).await.unwrap();
            assert_eq!((done.delivered, done.failed.len()), (1, 1));
            let left = done.again_after.unwrap();
            assert!(left > Duration::ZERO && left <= Duration::from_secs(3_600));
            assert_eq!(platform.told(), ["1", "2", "2"], "asked once in that hour");
            // Another process knows nothing of it, and hears it again.
            store = reopened(&home, store).await;
            let outbox = store.outbox();
            let done = outbox.deliver_pending(None, &platform).await.unwrap();
            assert_eq!((done.delivered, done.again_after), (1, None));
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_refused_or_unknown_is_the_operators_and_holds_up_nobody() {
    on_each_engine(async |home| {
        let mut store = home.open().await;
        for repetition in ALL {
            store = reopened(&home, store).await;
            for text in ["1", "2|2b", "3"] {
                says(&store, "a", text).await;
            }
            let platform = Platform {
                found: Some(Found::Unknown),
                ..Platform::new(repetition)
            };
            let platform = platform
                .answers(Err(refused()))
                .answers(Ok(Receipt::default()))
                .answers(Err(unknown()));
            let outbox = store.outbox();
            let done = outbox.deliver_pending(None, &platform).await.unwrap();
            assert_eq!((done.delivered, done.given_up.len()), (1, 2));
            assert_eq!(platform.told(), ["1", "2", "2b", "3"]);
            let expected = [
                ("1", DeliveryState::Failed, "it is too long"),
                ("2|2b", DeliveryState::Unknown, "no answer came"),
            ];
            let expected =
                expected.map(|(text, state, why)| (text.into(), state, Some(why.into())));
            assert_eq!(shown(&store).await, expected);
            // By itself nothing of it is sent again, by nobody.
            store = reopened(&home, store).await;
            let outbox = store.outbox();
            assert_eq!(outbox.sessions().await.unwrap(), []);
            let done = outbox.deliver_pending(None, &platform).await.unwrap();
            assert_eq!(done.delivered, 0);

            let kept = outbox.undelivered(None, 0, 99).await.unwrap();
            assert_eq!(outbox.resend(kept[1].id).await.unwrap(), session("a"));
            assert_eq!(outbox.discard(kept[0].id).await.unwrap(), session("a"));
            assert!(outbox.discard(kept[0].id).await.is_err());
            assert!(outbox.resend(kept[0].id).await.is_err());
            let done = outbox.deliver_pending(None, &platform).await.unwrap();
            assert_eq!(done.delivered, 1);
            assert_eq!(platform.told()[4..], ["2b"], "the first piece had arrived");
            assert_eq!(shown(&store).await, []);
        }
    })
    .await;
}

#[tokio::test]
async fn a_message_goes_on_in_the_pieces_it_was_begun_in() {
    on_each_engine(async |home| {
        let mut store = home.open().await;
        for repetition in [Repetition::Recognized, Repetition::Harmful] {
            says(&store, "a", "1|2-|3-").await;
            let mut platform = Platform::new(repetition)
                .answers(Ok(Receipt::default()))
                .answers(Err(unreachable()));
            let outbox = store.outbox();
            outbox.deliver_pending(None, &platform).await.unwrap();
            platform.cut = '-';
            store = reopened(&home, store).await;
            let outbox = store.outbox();
            let done = outbox.deliver_pending(None, &platform).await.unwrap();
            assert_eq!(done.delivered, 1);
            assert_eq!(platform.told(), ["1", "2-", "2-", "3-"]);
        }
    })
    .await;
}

#[tokio::test]
async fn what_a_platform_calls_a_message_leads_to_its_row_as_long_as_that_is_there() {
    on_each_engine(async |home| {
        for repetition in ALL {
            let store = home.open().await;
            says(&store, "a", "1|2").await;
            let platform = Platform::new(repetition);
            let outbox = store.outbox();
            let id = outbox.pending(None).await.unwrap()[0].id;
            outbox.deliver_pending(None, &platform).await.unwrap();
            store.journal().flush().await.unwrap();
            let row = store.log().list(&session("a"), 1).await.unwrap()[0].id;
            for number in [1, 2] {
                let name = format!("{id}/{number}");
                assert_eq!(outbox.sent(&session("a"), &name).await.unwrap(), Some(row));
                assert_eq!(outbox.sent(&session("b"), &name).await.unwrap(), None);
            }
            assert_eq!(outbox.sent(&session("a"), "x\0").await.unwrap(), None);
            let old = Retention {
                log_since: Some(Timestamp::MAX),
                ..Retention::default()
            };
            store.forget(old).await.unwrap();
            let name = format!("{id}/1");
            assert_eq!(outbox.sent(&session("a"), &name).await.unwrap(), None);
        }
    })
    .await;
}

/// One commit before, one after; elsewhere one for the mark, or none.
#[tokio::test]
async fn a_message_that_may_not_be_repeated_costs_two_commits() {
    let home = Home::sqlite();
    for (repetition, commits) in [(Repetition::Recognized, 1), (Repetition::Harmful, 2)] {
        let store = home.open().await;
        says(&store, "a", "1").await;
        let before = store.counts().commits;
        let platform = Platform::new(repetition);
        let outbox = store.outbox();
        outbox.deliver_pending(None, &platform).await.unwrap();
        assert_eq!(store.counts().commits - before, commits);
    }
}
