//! [`Screen`]: a turn as it happens. Words are shown as they come; code and calls are folded into a
//! line each, unless everything is to be seen.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_agent::{CallReport, TurnEvent};
use callgate_contract::{Part, Progress};

use crate::{
    app::Hear,
    commands::send::show_parts,
    request::Event,
    show::{self, Colour, paint},
};

/// Characters of a call that are shown.
const WIDTH: usize = 100;

/// A mutex, since a turn tells from any thread; held while one event is shown, so that two do not
/// mix in a line.
pub struct Screen {
    verbose: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The cursor is not at the beginning of a line.
    in_line: bool,
    /// All of this round's answer.
    said: String,
    fold: Fold,
}

impl Screen {
    pub fn new(verbose: bool) -> Self {
        Screen {
            verbose,
            state: Mutex::default(),
        }
    }

    pub fn ear(screen: &Arc<Self>) -> Hear {
        let screen = Arc::clone(screen);
        Arc::new(move |event| {
            match event {
                Event::Message(message) => screen.lock().message(&message.parts),
                Event::Turn(event) => screen.turn(event),
            }
            true
        })
    }

    /// The turn is over.
    pub fn end(&self) {
        self.lock().end_line();
    }

    fn turn(&self, event: TurnEvent) {
        let mut state = self.lock();
        match event {
            TurnEvent::Round { .. } => state.said.clear(),
            TurnEvent::Text { text } => {
                state.said.push_str(&text);
                let shown = match self.verbose {
                    true => text,
                    false => state.fold.visible(&text),
                };
                state.show(&shown);
            }
            TurnEvent::Thought { text } if self.verbose => state.show(&paint(Colour::Dim, &text)),
            TurnEvent::Output { text } if self.verbose => state.show(&paint(Colour::Cyan, &text)),
            TurnEvent::Progress {
                method, progress, ..
            } if self.verbose => state.aside(&far(&method, &progress)),
            TurnEvent::Thought { .. } | TurnEvent::Output { .. } | TurnEvent::Progress { .. } => {}
            TurnEvent::Restarted => {
                state.said.clear();
                state.fold = Fold::default();
                state.aside("[the answer was cut off and begins anew]");
            }
            TurnEvent::Code { code } => {
                state.fold = Fold::default();
                let lines = code.trim_end().lines().count();
                let plural = if lines == 1 { "" } else { "s" };
                state.aside(&format!("[python, {lines} line{plural}]"));
            }
            TurnEvent::Call { call } => {
                let width = if self.verbose { usize::MAX } else { WIDTH };
                state.aside(&show::shortened(&folded(&call), width));
            }
            TurnEvent::Finished { .. } => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn show(&mut self, text: &str) {
        if !text.is_empty() {
            show::data(text);
            self.in_line = !text.ends_with('\n');
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.in_line) {
            show::line("");
        }
    }

    fn aside(&mut self, text: &str) {
        self.end_line();
        show::line(&paint(Colour::Dim, text));
    }

    /// What was shown as it came is not shown again.
    fn message(&mut self, parts: &[Part]) {
        self.end_line();
        if let [Part::Text { text }] = parts
            && !text.trim().is_empty()
            && text.trim() == self.said.trim()
        {
            self.said.clear();
            return;
        }
        show_parts(parts);
    }
}

fn far(method: &str, progress: &Progress) -> String {
    let done = match progress.total {
        Some(total) => format!("{} of {total}", progress.done),
        None => progress.done.to_string(),
    };
    let text = match progress.text.as_str() {
        "" => String::new(),
        text => format!(", {text}"),
    };
    format!("[{method}: {done}{text}]")
}

fn folded(call: &CallReport) -> String {
    let given = call.arguments.as_object().into_iter().flatten();
    let given: Vec<String> = given
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let came = match (&call.error, &call.value) {
        (Some(error), _) => format!("refused: {error}"),
        (None, Some(value)) => value.to_string(),
        (None, None) => "null".to_owned(),
    };
    format!("[{}({}): {came}]", call.method, given.join(", "))
}

/// Leaves out blocks of code as text comes in, in pieces of any size.
#[derive(Default)]
struct Fold {
    /// Of the line that may yet turn out to begin or end a block.
    held: String,
    /// The line is no fence: its rest can be shown.
    passing: bool,
    in_block: bool,
}

const FENCE: &str = "```";

impl Fold {
    fn visible(&mut self, text: &str) -> String {
        let mut visible = String::new();
        for letter in text.chars() {
            if self.passing {
                visible.push(letter);
                self.passing = letter != '\n';
                continue;
            }
            self.held.push(letter);
            let line = self.held.trim_start();
            if letter == '\n' {
                if line.starts_with(FENCE) {
                    self.in_block = !self.in_block;
                } else if !self.in_block {
                    visible.push_str(&self.held);
                }
                self.held.clear();
            } else if !self.in_block && !FENCE.starts_with(line) && !line.starts_with(FENCE) {
                visible.push_str(&std::mem::take(&mut self.held));
                self.passing = true;
            }
        }
        visible
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_left_out_however_it_is_cut() {
        let text = "Let me see.\n\n```python\nx = '`'\n  ```\nDone: `x`.\n`` is no fence\n";
        let expect = "Let me see.\n\nDone: `x`.\n`` is no fence\n";
        for size in [1, 2, 3, 7, 1000] {
            let mut fold = Fold::default();
            let letters: Vec<char> = text.chars().collect();
            let shown: String = letters
                .chunks(size)
                .map(|piece| fold.visible(&piece.iter().collect::<String>()))
                .collect();
            assert_eq!(shown, expect, "in pieces of {size}");
        }
    }

    #[test]
    fn a_line_is_shown_before_it_ends() {
        let mut fold = Fold::default();
        assert_eq!(fold.visible("Hel"), "Hel");
        assert_eq!(fold.visible("lo"), "lo");
    }
}
