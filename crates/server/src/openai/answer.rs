//! [`AnswerStream`]: a turn while it answers, step by step. Dropped, as when the asker hangs up, it
//! cancels the turn, which still comes to its recorded end.

use std::{collections::VecDeque, time::Duration};

use axum::response::{
    IntoResponse, Response,
    sse::{Event, KeepAlive, Sse},
};
use callgate_agent::{Completed, Completion, Told, TurnError, TurnEvent, Watch};
use callgate_contract::Cancel;
use futures_util::{Stream, StreamExt, stream};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, timeout_at},
};

use super::{Failure, OpenAi};

/// How long nothing at all is sent. Proxies and clients give up after about a minute.
const SILENCE: Duration = Duration::from_secs(10);

/// What happens on the way to an answer. The last is `Done` or `Failed`.
#[derive(Debug)]
pub(super) enum AnswerEvent {
    /// The model is asked, again where methods have run.
    Round,
    Text(String),
    Thought(String),
    Done(Box<Completed>),
    Failed(Failure),
}

pub(super) struct AnswerStream {
    events: mpsc::UnboundedReceiver<TurnEvent>,
    turn: Option<JoinHandle<Result<Completed, TurnError>>>,
    cancel: Cancel,
    /// What was looked at before its time.
    seen: VecDeque<AnswerEvent>,
}

impl OpenAi {
    pub(super) fn answer(&self, mut asked: Completion) -> Result<AnswerStream, Failure> {
        let agent = self.agent()?.clone();
        // Not bounded: it holds no more than one answer.
        let (tell, events) = mpsc::unbounded_channel();
        asked.watch = Watch::new(move |event| {
            let _ = tell.send(event);
        });
        let cancel = asked.cancel.clone();
        let turn = tokio::spawn(async move { agent.complete(asked).await });
        Ok(AnswerStream {
            events,
            turn: Some(turn),
            cancel,
            seen: VecDeque::new(),
        })
    }
}

impl AnswerStream {
    /// `None` after the last.
    pub(super) async fn next(&mut self) -> Option<AnswerEvent> {
        if let Some(step) = self.seen.pop_front() {
            return Some(step);
        }
        self.turn.as_ref()?;
        while let Some(event) = self.events.recv().await {
            match event {
                TurnEvent::Round { .. } => return Some(AnswerEvent::Round),
                TurnEvent::Text { text } => return Some(AnswerEvent::Text(text)),
                TurnEvent::Thought { text } => return Some(AnswerEvent::Thought(text)),
                // No answer begins anew once words of it were told.
                _ => {}
            }
        }
        Some(self.end().await)
    }

    async fn end(&mut self) -> AnswerEvent {
        let Some(turn) = &mut self.turn else {
            return AnswerEvent::Failed(Failure::cut_off());
        };
        let ended = turn.await;
        self.turn = None;
        match ended {
            Ok(Ok(done)) => done.into(),
            Ok(Err(error)) => AnswerEvent::Failed(error.into()),
            Err(_) => AnswerEvent::Failed(Failure::cut_off()),
        }
    }

    /// Returns when there are words or an end: a failure before any word has a status of its own. Where
    /// that takes long the answer begins without words, and signs of life keep it open.
    pub(super) async fn begun(self) -> Result<Self, Failure> {
        self.begun_within(SILENCE).await
    }

    async fn begun_within(mut self, silence: Duration) -> Result<Self, Failure> {
        let mut seen = VecDeque::new();
        let until = Instant::now() + silence;
        while let Ok(Some(step)) = timeout_at(until, self.next()).await {
            let waits = matches!(step, AnswerEvent::Round);
            if let AnswerEvent::Failed(failure) = step {
                return Err(failure);
            }
            seen.push_back(step);
            if !waits {
                break;
            }
        }
        self.seen = seen;
        Ok(self)
    }

    /// All steps of an answer that nobody hears before its end: what was cut off is forgotten.
    pub(super) async fn whole(mut self) -> Result<Vec<AnswerEvent>, Failure> {
        let mut steps = Vec::new();
        while let Some(event) = self.events.recv().await {
            match event {
                TurnEvent::Round { .. } => steps.push(AnswerEvent::Round),
                TurnEvent::Text { text } => match steps.last_mut() {
                    Some(AnswerEvent::Text(before)) => before.push_str(&text),
                    _ => steps.push(AnswerEvent::Text(text)),
                },
                TurnEvent::Thought { text } => match steps.last_mut() {
                    Some(AnswerEvent::Thought(before)) => before.push_str(&text),
                    _ => steps.push(AnswerEvent::Thought(text)),
                },
                TurnEvent::Restarted => {
                    while steps
                        .pop_if(|step| !matches!(step, AnswerEvent::Round))
                        .is_some()
                    {}
                }
                _ => {}
            }
        }
        match self.end().await {
            AnswerEvent::Failed(failure) => Err(failure),
            done => {
                steps.push(done);
                Ok(steps)
            }
        }
    }
}

impl AnswerStream {
    /// The steps as server-sent events.
    pub(super) fn events(
        self,
        mut write: impl FnMut(AnswerEvent) -> Vec<Event> + Send + 'static,
    ) -> Response {
        let steps = stream::unfold(self, async |mut answering| {
            let step = answering.next().await?;
            Some((step, answering))
        });
        told(steps.flat_map(move |step| stream::iter(write(step))))
    }
}

/// Events, and a sign of life where there are none for long.
pub(super) fn told(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let events = events.map(Ok::<_, std::convert::Infallible>);
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

impl From<Told> for AnswerEvent {
    fn from(told: Told) -> Self {
        match told {
            Told::Round => AnswerEvent::Round,
            Told::Text(text) => AnswerEvent::Text(text),
            Told::Thought(text) => AnswerEvent::Thought(text),
        }
    }
}

impl From<Completed> for AnswerEvent {
    fn from(done: Completed) -> Self {
        match Failure::of(&done) {
            None => AnswerEvent::Done(Box::new(done)),
            Some(failure) => AnswerEvent::Failed(failure),
        }
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        if self.turn.is_some() {
            self.cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_that_takes_long_begins_without_words() {
        let (tell, events) = mpsc::unbounded_channel();
        let answering = AnswerStream {
            events,
            turn: Some(tokio::spawn(std::future::pending())),
            cancel: Cancel::default(),
            seen: VecDeque::new(),
        };
        tell.send(TurnEvent::Round {
            number: 1,
            mode: Default::default(),
        })
        .unwrap();
        let mut begun = answering.begun_within(Duration::ZERO).await.unwrap();
        assert!(matches!(begun.next().await, Some(AnswerEvent::Round)));
        let text = "at last".to_owned();
        tell.send(TurnEvent::Text { text }).unwrap();
        assert!(matches!(begun.next().await, Some(AnswerEvent::Text(_))));
    }
}
