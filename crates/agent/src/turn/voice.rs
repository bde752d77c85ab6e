//! [`Voice`]: what whoever waits for a returned answer hears of it, and in which order. In code mode
//! that is what is said to people, never code.
//!
//! Invariant: a stored response is this record told again, so that it reads the same whole, streamed and
//! later.

use callgate_contract::{JournalId, Mode, Part, TurnStop};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::Turn;
use crate::{TurnError, extract::sure_words, watch::TurnEvent};

/// A piece of what an asker was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// The model was asked, again where methods had run.
    Round,
    Text(String),
    Thought(String),
}

/// A mutex, held for a look: pieces come from the one task that runs the turn.
#[derive(Default)]
pub(crate) struct Voice(Mutex<Heard>);

#[derive(Default)]
struct Heard {
    told: Vec<Told>,
    /// This round's words as the model writes them, and those of them that were told.
    draft: String,
    words: String,
    /// Methods have spoken in this turn.
    said: bool,
}

impl Voice {
    pub(crate) fn told(&self) -> Vec<Told> {
        self.0.lock().told.clone()
    }

    /// Have methods said anything to the asker?
    pub(crate) fn has_said(&self) -> bool {
        self.0.lock().said
    }

    /// Has anything of this round been told?
    pub(crate) fn has_begun(&self) -> bool {
        let heard = self.0.lock();
        heard.told.last().is_some_and(|piece| *piece != Told::Round)
    }

    fn begin(&self) {
        let mut heard = self.0.lock();
        heard.told.push(Told::Round);
        heard.forget();
    }

    /// All of the round's words so far are void.
    fn begin_anew(&self) {
        let mut heard = self.0.lock();
        while heard.told.pop_if(|piece| *piece != Told::Round).is_some() {}
        heard.forget();
    }

    /// Those of the model's words that can be told now.
    fn ripe(&self, text: &str) -> Option<String> {
        let mut heard = self.0.lock();
        // As the answer is read at its end.
        heard.draft.extend(text.chars().filter(|it| *it != '\r'));
        let words = sure_words(&heard.draft).strip_prefix(heard.words.as_str())?;
        (!words.is_empty()).then(|| words.to_owned())
    }

    /// Of the round's answer, what was not told yet.
    fn rest(&self, answer: &str) -> Option<String> {
        let heard = self.0.lock();
        let answer = answer.trim();
        let rest = match answer.strip_prefix(heard.words.trim()) {
            Some(rest) if !heard.words.is_empty() => rest.to_owned(),
            _ if answer.is_empty() => String::new(),
            _ => format!("{}{answer}", heard.gap()),
        };
        (!rest.is_empty()).then_some(rest)
    }
}

impl Heard {
    fn forget(&mut self) {
        self.draft.clear();
        self.words.clear();
    }

    /// Between what was said in this round and what comes next.
    fn gap(&self) -> &'static str {
        let round = self.told.iter().rev();
        let mut round = round.take_while(|piece| **piece != Told::Round);
        if round.any(|piece| matches!(piece, Told::Text(_))) {
            "\n\n"
        } else {
            ""
        }
    }

    fn text(&mut self, text: &str) {
        match self.told.last_mut() {
            Some(Told::Text(before)) => before.push_str(text),
            _ => self.told.push(Told::Text(text.to_owned())),
        }
    }

    fn thought(&mut self, text: &str) {
        match self.told.last_mut() {
            Some(Told::Thought(before)) => before.push_str(text),
            _ => self.told.push(Told::Thought(text.to_owned())),
        }
    }
}

impl Turn {
    pub(crate) fn tell_round(&self) {
        if let Some(asker) = &self.options.returned {
            asker.voice.begin();
        }
        self.watch.tell(TurnEvent::Round {
            number: self.state.round,
            mode: self.facts.mode,
        });
    }

    pub(crate) fn tell_restart(&self) {
        if let Some(asker) = &self.options.returned {
            asker.voice.begin_anew();
        }
        self.watch.tell(TurnEvent::Restarted);
    }

    pub(crate) fn tell_thought(&self, text: &str) {
        if let Some(asker) = &self.options.returned {
            asker.voice.0.lock().thought(text);
        }
        let text = text.to_owned();
        self.watch.tell(TurnEvent::Thought { text });
    }

    /// The model's words, a piece at a time.
    pub(crate) fn tell_words(&self, text: &str) {
        let asker = self.options.returned.as_ref();
        let held = asker.filter(|_| self.facts.mode == Mode::Code);
        let told = match held {
            Some(asker) => asker.voice.ripe(text),
            None => Some(text.to_owned()),
        };
        if let Some(text) = told {
            self.speak(text);
        }
    }

    fn speak(&self, text: String) {
        if let Some(asker) = &self.options.returned {
            let mut heard = asker.voice.0.lock();
            heard.text(&text);
            heard.words.push_str(&text);
        }
        self.watch.tell(TurnEvent::Text { text });
    }

    /// What methods have said to the chat, under `journal`, is part of the answer.
    pub(crate) async fn tell_said(&mut self, journal: JournalId) -> Result<(), TurnError> {
        let Some(asker) = &self.options.returned else {
            return Ok(());
        };
        let log = self.agent.store().log();
        let session = &self.facts.session;
        let said = log
            .said_in(session, journal, self.progress.log_mark)
            .await?;
        if let Some(last) = said.last() {
            self.progress.log_mark = last.id;
        }
        for row in said {
            let text = {
                let mut heard = asker.voice.0.lock();
                let text = format!("{}{}", heard.gap(), shown(&row.parts));
                heard.text(&text);
                heard.said = true;
                text
            };
            self.watch.tell(TurnEvent::Text { text });
        }
        Ok(())
    }

    /// What the turn ends with, where it is more than was told on the way.
    pub(crate) fn tell_rest(&self, stop: TurnStop, answer: &str) {
        let Some(asker) = &self.options.returned else {
            return;
        };
        let is_answer = match stop {
            TurnStop::Answered | TurnStop::Silent | TurnStop::Limit => true,
            TurnStop::Error => asker.failure.is_none(),
            TurnStop::Budget | TurnStop::Cancelled => false,
        };
        if is_answer
            && self.facts.mode == Mode::Code
            && let Some(rest) = asker.voice.rest(answer)
        {
            self.speak(rest);
        }
    }
}

/// In words, since that is all there is room for.
fn shown(parts: &[Part]) -> String {
    let shown = parts.iter().map(|part| match part {
        Part::Image { url } if url.starts_with("data:") || url.starts_with("http") => {
            format!("![image]({url})")
        }
        Part::Image { url } => format!("[image {url}]"),
        Part::Audio { url } if url.starts_with("data:") => "[audio]".to_owned(),
        Part::Audio { url } => format!("[audio {url}]"),
        Part::Video { .. } => "[video]".to_owned(),
        Part::File { name, .. } => format!("[file {name}]"),
        part => part.words().unwrap_or_default().into_owned(),
    });
    shown.collect::<Vec<_>>().join("\n")
}
