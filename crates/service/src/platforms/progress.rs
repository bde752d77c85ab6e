//! [`Progress`]: the chat sees that an answer is being written and, where the platform can show it without
//! leaving anything behind, what there is of it. Nothing depends on it: whatever fails here is forgotten.

use std::{sync::Arc, time::Duration};

use callgate_agent::TurnEvent;
use callgate_contract::{Mode, SessionKey};
use callgate_platforms::Platform;
use parking_lot::Mutex;
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout_at},
};

/// Platforms forget that somebody is typing after five seconds.
const TYPING: Duration = Duration::from_secs(4);
/// Between two drafts, so that a platform's limits are left to answers.
const DRAFT: Duration = Duration::from_secs(1);

pub(super) struct Progress {
    platform: Arc<dyn Platform>,
    session: SessionKey,
    /// What was written so far, while a turn is under way. A mutex, held for a change; a channel of one
    /// value to the task that shows it.
    written: Mutex<Option<watch::Sender<Written>>>,
}

#[derive(Clone, Default)]
struct Written {
    text: String,
    /// Code is not for the chat.
    is_code: bool,
}

impl Progress {
    pub(super) fn new(platform: Arc<dyn Platform>, session: SessionKey) -> Self {
        Progress {
            platform,
            session,
            written: Mutex::default(),
        }
    }

    pub(super) fn follow(&self, event: &TurnEvent) {
        let mut written = self.written.lock();
        match event {
            TurnEvent::Round { mode, .. } => {
                let is_code = *mode == Mode::Code;
                let sender = written.get_or_insert_with(|| self.show());
                sender.send_replace(Written {
                    text: String::new(),
                    is_code,
                });
            }
            TurnEvent::Text { text } => {
                if let Some(sender) = written.as_ref() {
                    sender.send_modify(|written| written.text.push_str(text));
                }
            }
            TurnEvent::Restarted => {
                if let Some(sender) = written.as_ref() {
                    sender.send_modify(|written| written.text.clear());
                }
            }
            TurnEvent::Finished { .. } => *written = None,
            _ => {}
        }
    }

    fn show(&self) -> watch::Sender<Written> {
        let (sender, written) = watch::channel(Written::default());
        // A task, since the turn does not wait for the platform. It ends with the turn, whose sender goes.
        tokio::spawn(show(self.platform.clone(), self.session.clone(), written));
        sender
    }
}

async fn show(
    platform: Arc<dyn Platform>,
    session: SessionKey,
    mut written: watch::Receiver<Written>,
) {
    loop {
        platform.typing(&session).await;
        let again = Instant::now() + TYPING;
        loop {
            match timeout_at(again, written.changed()).await {
                Err(_) => break,
                Ok(Err(_)) => return,
                Ok(Ok(())) => {}
            }
            let now = written.borrow_and_update().clone();
            // A draft of an answer that is out already would stay behind it.
            if written.has_changed().is_err() {
                return;
            }
            if !now.is_code && !now.text.trim().is_empty() {
                platform.draft(&session, &now.text).await;
                sleep(DRAFT).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use callgate_contract::{
        BoxFuture, DeliveryError, Found, Message, Part, Piece, Receipt, Repetition,
    };
    use callgate_platforms::{ActionError, PlatformAction, PlatformStatus};
    use serde_json::{Map, Value as Json};
    use tokio::sync::mpsc;

    use super::*;

    /// Tells what is shown.
    struct Recorder(mpsc::UnboundedSender<String>);

    impl Recorder {
        fn shows(&self, what: String) -> BoxFuture<'_, ()> {
            let _ = self.0.send(what);
            Box::pin(std::future::ready(()))
        }
    }

    impl Platform for Recorder {
        fn run(&self) -> BoxFuture<'_, ()> {
            Box::pin(std::future::pending())
        }

        fn status(&self) -> PlatformStatus {
            PlatformStatus::default()
        }

        fn repetition(&self) -> Repetition {
            Repetition::Harmful
        }

        fn pieces(&self, message: &Message) -> Vec<Vec<Part>> {
            vec![message.parts.clone()]
        }

        fn deliver<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
            Box::pin(async { Ok(Receipt::default()) })
        }

        fn look_for<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Found> {
            Box::pin(async { Found::Unknown })
        }

        fn typing<'a>(&'a self, _: &'a SessionKey) -> BoxFuture<'a, ()> {
            self.shows("typing".to_owned())
        }

        fn draft<'a>(&'a self, _: &'a SessionKey, text: &'a str) -> BoxFuture<'a, ()> {
            self.shows(format!("draft {text}"))
        }

        fn actions(&self) -> &'static [PlatformAction] {
            &[]
        }

        fn call<'a>(
            &'a self,
            _: Option<&'a str>,
            _: &'a str,
            _: Map<String, Json>,
        ) -> BoxFuture<'a, Result<Json, ActionError>> {
            Box::pin(async { Ok(Json::Null) })
        }
    }

    #[tokio::test]
    async fn a_chat_sees_that_somebody_writes_and_never_code() {
        let (tell, mut shown) = mpsc::unbounded_channel();
        let session = "qq:FriendMessage:1".parse().unwrap();
        let progress = Progress::new(Arc::new(Recorder(tell)), session);
        let text = |text: &str| TurnEvent::Text {
            text: text.to_owned(),
        };
        let round = |mode| TurnEvent::Round { number: 1, mode };
        progress.follow(&text("before the turn"));
        progress.follow(&round(Mode::Code));
        progress.follow(&text("print(1)"));
        assert_eq!(shown.recv().await.unwrap(), "typing");
        tokio::task::yield_now().await;
        progress.follow(&round(Mode::Tools));
        progress.follow(&text("Good "));
        assert_eq!(shown.recv().await.unwrap(), "draft Good ");
        progress.follow(&text("morn"));
        progress.follow(&text("ing"));
        assert_eq!(shown.recv().await.unwrap(), "draft Good morning");
        drop(progress);
        assert_eq!(shown.recv().await, None, "it ends with the turn");
    }
}
