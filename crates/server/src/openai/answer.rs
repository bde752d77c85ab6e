//! [`Answering`]: a turn while it answers, step by step. Dropped, as when the asker hangs up, it
//! cancels the turn, which still comes to its recorded end.

use std::collections::VecDeque;

use callgate_agent::{Completed, Completion, TurnError, TurnEvent, Watch};
use callgate_contract::Cancel;
use tokio::{sync::mpsc, task::JoinHandle};

use super::{Failure, OpenAi};

/// What happens on the way to an answer. The last is `Done` or `Failed`.
#[derive(Debug)]
pub(super) enum Step {
    /// The model is asked, again where methods have run.
    Round,
    Text(String),
    Thought(String),
    Done(Box<Completed>),
    Failed(Failure),
}

pub(super) struct Answering {
    events: mpsc::UnboundedReceiver<TurnEvent>,
    turn: Option<JoinHandle<Result<Completed, TurnError>>>,
    cancel: Cancel,
    /// What was looked at before its time.
    seen: VecDeque<Step>,
    /// Words of this round are on their way to the asker.
    spoke: bool,
}

impl OpenAi {
    pub(super) fn answer(&self, mut asked: Completion) -> Result<Answering, Failure> {
        let agent = self.agent()?.clone();
        // Not bounded: it holds no more than one answer.
        let (tell, events) = mpsc::unbounded_channel();
        asked.watch = Watch::new(move |event| {
            let _ = tell.send(event);
        });
        let cancel = asked.cancel.clone();
        let turn = tokio::spawn(async move { agent.complete(asked).await });
        Ok(Answering {
            events,
            turn: Some(turn),
            cancel,
            seen: VecDeque::new(),
            spoke: false,
        })
    }
}

impl Answering {
    /// `None` after the last.
    pub(super) async fn next(&mut self) -> Option<Step> {
        if let Some(step) = self.seen.pop_front() {
            return Some(step);
        }
        self.turn.as_ref()?;
        while let Some(event) = self.events.recv().await {
            match event {
                TurnEvent::Round { .. } => {
                    self.spoke = false;
                    return Some(Step::Round);
                }
                TurnEvent::Text { text } => {
                    self.spoke = true;
                    return Some(Step::Text(text));
                }
                TurnEvent::Thought { text } => {
                    self.spoke = true;
                    return Some(Step::Thought(text));
                }
                TurnEvent::Restarted if self.spoke => {
                    self.cancel.cancel();
                    self.turn = None;
                    return Some(Step::Failed(Failure::lost()));
                }
                _ => {}
            }
        }
        Some(self.end().await)
    }

    async fn end(&mut self) -> Step {
        let Some(turn) = self.turn.take() else {
            return Step::Failed(Failure::cut_off());
        };
        match turn.await {
            Ok(Ok(done)) => match Failure::of(&done) {
                None => Step::Done(Box::new(done)),
                Some(failure) => Step::Failed(failure),
            },
            Ok(Err(error)) => Step::Failed(error.into()),
            Err(_) => Step::Failed(Failure::cut_off()),
        }
    }

    /// Returns when there are words or an end: a failure before any word has a status of its own.
    pub(super) async fn begun(mut self) -> Result<Self, Failure> {
        let mut seen = VecDeque::new();
        while let Some(step) = self.next().await {
            let waits = matches!(step, Step::Round);
            if let Step::Failed(failure) = step {
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
    pub(super) async fn whole(mut self) -> Result<Vec<Step>, Failure> {
        let mut steps = Vec::new();
        while let Some(event) = self.events.recv().await {
            match event {
                TurnEvent::Round { .. } => steps.push(Step::Round),
                TurnEvent::Text { text } => match steps.last_mut() {
                    Some(Step::Text(before)) => before.push_str(&text),
                    _ => steps.push(Step::Text(text)),
                },
                TurnEvent::Thought { text } => match steps.last_mut() {
                    Some(Step::Thought(before)) => before.push_str(&text),
                    _ => steps.push(Step::Thought(text)),
                },
                TurnEvent::Restarted => {
                    while steps.pop_if(|step| !matches!(step, Step::Round)).is_some() {}
                }
                _ => {}
            }
        }
        match self.end().await {
            Step::Failed(failure) => Err(failure),
            done => {
                steps.push(done);
                Ok(steps)
            }
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        if self.turn.is_some() {
            self.cancel.cancel();
        }
    }
}
