//! The process is killed every time it passes a point of the outbox; the next one goes on, and a witness
//! counts what the platform was told.

use std::{
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Stdio},
};

use callgate_contract::{
    BoxFuture, DeliveryError, Found, Message, Outbox, Part, Piece, Receipt, Repetition, SessionKey,
};
use callgate_store::{DeliveryState, Store, StoreOptions};
use callgate_testkit::{Home, Witness};

use super::{cut, says, taken, words};
use crate::common::session;

const POINTS: [&str; 3] = [
    "outbox.after_intent",
    "outbox.after_delivery",
    "outbox.after_receipt",
];
const MESSAGES: [(&str, &str); 4] = [
    ("a", "one"),
    ("a", "two|three|four"),
    ("b", "five"),
    ("a", "six"),
];
const PIECES: [&str; 6] = ["one", "two", "three", "four", "five", "six"];

/// What is known of those who read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// They recognize a repetition.
    Recognizing,
    /// They do not, and can be asked what they have.
    Answering,
    /// They do not, and cannot.
    Silent,
}

const KINDS: [Kind; 3] = [Kind::Recognizing, Kind::Answering, Kind::Silent];

struct Seen<'a>(&'a Witness, Kind);

impl Outbox for Seen<'_> {
    fn repetition(&self, _: &SessionKey) -> Repetition {
        match self.1 {
            Kind::Recognizing => Repetition::Recognized,
            Kind::Answering | Kind::Silent => Repetition::Harmful,
        }
    }

    fn pieces(&self, message: &Message) -> Vec<Vec<Part>> {
        cut(message, '|')
    }

    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        self.0.saw(&words(piece.parts));
        Box::pin(std::future::ready(Ok(taken(piece))))
    }

    fn look_for<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Found> {
        let found = match (self.1, self.0.times(&words(piece.parts))) {
            (Kind::Answering, 0) => Found::Missing,
            (Kind::Answering, _) => Found::Delivered(taken(piece)),
            _ => Found::Unknown,
        };
        Box::pin(std::future::ready(found))
    }
}

#[tokio::test]
async fn no_crash_loses_a_message_or_tells_it_twice() {
    if let Ok(data) = std::env::var("CALLGATE_TEST_DATA") {
        return victim(&data).await;
    }
    for kind in KINDS {
        for point in POINTS {
            let mut pass = 1;
            while check(&Home::sqlite(), kind, point, pass).await {
                pass += 1;
            }
            let never = kind == Kind::Recognizing && point == "outbox.after_intent";
            let expected = if never { 0 } else { PIECES.len() };
            assert_eq!(pass - 1, expected, "{kind:?} at {point}");
            if !never {
                for pass in [1, 3] {
                    assert!(check(&Home::postgres().await, kind, point, pass).await);
                }
            }
        }
    }
}

/// What the process that is killed does: this binary once more, with the name of the test.
async fn victim(data: &str) {
    let options = StoreOptions {
        url: std::env::var("CALLGATE_TEST_URL").ok(),
        ..StoreOptions::new(data)
    };
    let store = Store::open(options).await.unwrap();
    let name = std::env::var("CALLGATE_TEST_KIND").unwrap();
    let kind = KINDS.into_iter().find(|kind| format!("{kind:?}") == name);
    for (to, text) in MESSAGES {
        says(&store, to, text).await;
    }
    let witness = Witness::at(&Path::new(data).join("witness"));
    deliver(&store, &Seen(&witness, kind.unwrap())).await;
}

async fn deliver(store: &Store, platform: &Seen<'_>) {
    for to in ["a", "b"] {
        let (outbox, to) = (store.outbox(), session(to));
        outbox.deliver_pending(Some(&to), platform).await.unwrap();
    }
}

/// False if the process came to its end.
async fn check(home: &Home, kind: Kind, point: &str, pass: usize) -> bool {
    let at = format!("{kind:?} at {point}:{pass}");
    let killed = is_killed(home, kind, &format!("{point}:{pass}"));
    let witness = Witness::at(&home.data().join("witness"));
    let platform = Seen(&witness, kind);
    let store = home.open().await;
    let outbox = store.outbox();
    deliver(&store, &platform).await;
    assert_eq!(outbox.pending(None).await.unwrap(), [], "{at}");
    let unknown = outbox.undelivered(None, 0, 99).await.unwrap();
    assert!(
        unknown
            .iter()
            .all(|one| one.state == DeliveryState::Unknown)
    );

    // The piece at which it was killed: those of a chat come one after the other.
    let order = ["one", "two", "three", "four", "six", "five"];
    let last = killed.then(|| order[pass - 1]);
    let in_doubt = last.filter(|_| point != "outbox.after_receipt");
    for text in PIECES {
        let times = witness.times(text);
        let is_last = in_doubt == Some(text);
        let expected = match (kind, point) {
            (Kind::Recognizing, "outbox.after_delivery") if is_last => 2,
            (Kind::Silent, "outbox.after_intent") if is_last => 0,
            // What follows in a message of which nobody knows is not sent either.
            (Kind::Silent, _) if in_doubt.is_some_and(|last| is_before(last, text)) => 0,
            _ => 1,
        };
        assert_eq!(times, expected, "{at}: {text}");
    }
    let shown: Vec<String> = unknown.iter().map(|one| words(&one.parts)).collect();
    let expected = in_doubt.filter(|_| kind == Kind::Silent);
    let expected = expected.map(|last| MESSAGES.iter().find(|(_, text)| text.contains(last)));
    let expected: Vec<&str> = expected
        .flatten()
        .map(|(_, text)| *text)
        .into_iter()
        .collect();
    assert_eq!(shown, expected, "{at}");
    check_order(home, &at);
    killed
}

/// Two pieces of one message, in their order.
fn is_before(one: &str, other: &str) -> bool {
    MESSAGES.iter().any(|(_, text)| {
        let place = |word| text.split('|').position(|piece| piece == word);
        matches!((place(one), place(other)), (Some(one), Some(other)) if one < other)
    })
}

fn check_order(home: &Home, at: &str) {
    let told = std::fs::read_to_string(home.data().join("witness")).unwrap();
    let mut told: Vec<&str> = told.lines().filter(|text| *text != "five").collect();
    told.dedup();
    let place = |text: &&&str| PIECES.iter().position(|piece| piece == *text);
    assert!(told.is_sorted_by_key(|text| place(&text)), "{at}: {told:?}");
}

#[allow(clippy::disallowed_methods, reason = "a process to kill")]
fn is_killed(home: &Home, kind: Kind, at: &str) -> bool {
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim
        .args([
            "--exact",
            "delivery::crash::no_crash_loses_a_message_or_tells_it_twice",
        ])
        .env("CALLGATE_TEST_DATA", home.data())
        .env("CALLGATE_TEST_KIND", format!("{kind:?}"))
        .env("CALLGATE_CRASH_AT", at)
        .stdout(Stdio::null());
    if let Some(url) = home.options().url {
        victim.env("CALLGATE_TEST_URL", url);
    }
    let status = victim.status().unwrap();
    assert!(status.success() || status.signal() == Some(9), "{status}");
    !status.success()
}
