//! [`Screen`]: a turn as it happens. Words are shown as they come; code that runs and calls are
//! folded into a line each, unless everything is to be seen. What is code is the agent's to say: all
//! else a model writes is shown, if not as it comes, then at its end.

use std::sync::Arc;

use callgate_agent::{CallReport, TurnEvent, extract, sure_words};
use callgate_contract::{Mode, Part, Progress, TurnStop};
use parking_lot::Mutex;

use callgate_service::{EventListener, request::Event};

use crate::{
    commands::send::{looked_after, show_parts},
    show::{self, Colour, paint},
};

/// Characters of a call that are shown.
const WIDTH: usize = 100;

/// A mutex, since a turn tells from any thread; held while one event is shown, so that two do not
/// mix in a line.
pub struct Screen {
    verbose: bool,
    state: Mutex<ScreenState>,
}

#[derive(Default)]
struct ScreenState {
    /// The cursor is not at the beginning of a line.
    in_line: bool,
    answer: ShownAnswer,
}

impl Screen {
    pub fn new(verbose: bool) -> Self {
        Screen {
            verbose,
            state: Mutex::default(),
        }
    }

    pub fn ear(screen: &Arc<Self>) -> EventListener {
        let screen = Arc::clone(screen);
        Arc::new(move |event| {
            match event {
                Event::Message(message) => screen.state.lock().message(&message.parts),
                Event::Turn(event) => screen.turn(event),
                // Asked about by whoever reads the answer.
                Event::Approval(_) => {}
            }
            true
        })
    }

    /// A line of its own between what the turn says.
    pub fn line(&self, text: &str) {
        let mut state = self.state.lock();
        state.end_line();
        show::line(text);
    }

    /// The turn is over.
    pub fn end(&self) {
        self.state.lock().end();
    }

    fn turn(&self, event: TurnEvent) {
        let mut state = self.state.lock();
        match event {
            TurnEvent::Round { mode, .. } => {
                state.answer = ShownAnswer::new(!self.verbose && mode == Mode::Code);
            }
            TurnEvent::Text { text } => {
                let ripe = state.answer.add(&text);
                state.show(&ripe);
            }
            TurnEvent::Thought { text } if self.verbose => state.show(&paint(Colour::Dim, &text)),
            TurnEvent::Output { text } if self.verbose => state.show(&paint(Colour::Cyan, &text)),
            TurnEvent::Progress {
                method, progress, ..
            } if self.verbose => state.aside(&far(&method, &progress)),
            TurnEvent::Thought { .. } | TurnEvent::Output { .. } | TurnEvent::Progress { .. } => {}
            TurnEvent::Restarted => {
                state.answer.begin_anew();
                state.aside("[the answer was cut off and begins anew]");
            }
            TurnEvent::Code { code } => {
                let words = state.answer.words_around_code();
                state.show(&words);
                let lines = code.trim_end().lines().count();
                let plural = if lines == 1 { "" } else { "s" };
                state.aside(&format!("[python, {lines} line{plural}]"));
            }
            TurnEvent::Call { call } => {
                let width = if self.verbose { usize::MAX } else { WIDTH };
                state.aside(&show::shortened(&folded(&call), width));
            }
            TurnEvent::Finished { report } => {
                state.end();
                if report.stop == Some(TurnStop::Cancelled) {
                    state.aside("[stopped]");
                }
                if let Some(failure) = &report.failure {
                    state.aside(&format!("[{}]", looked_after(failure)));
                }
            }
        }
    }
}

impl ScreenState {
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
        let rest = match parts {
            [Part::Text { text }] => self.answer.rest_of(text),
            _ => None,
        };
        match rest {
            Some(rest) => self.show(&rest),
            None => {
                self.end();
                show_parts(parts);
            }
        }
        self.end_line();
    }

    /// What was held back as possible code, and did not run.
    fn end(&mut self) {
        let rest = self.answer.rest();
        self.show(&rest);
        self.end_line();
    }
}

/// This round's answer as the model writes it, or a plugin's words, and how much of it was shown.
#[derive(Default)]
struct ShownAnswer {
    /// What is code in it runs, and is not to be seen. A plugin's words never do.
    may_run: bool,
    written: String,
    shown: String,
    /// Its code runs: what was not shown is folded.
    folded: bool,
}

impl ShownAnswer {
    fn new(may_run: bool) -> Self {
        ShownAnswer {
            may_run,
            ..ShownAnswer::default()
        }
    }

    fn begin_anew(&mut self) {
        *self = ShownAnswer::new(self.may_run);
    }

    /// What can be shown with these words.
    fn add(&mut self, text: &str) -> String {
        self.written
            .extend(text.chars().filter(|letter| *letter != '\r'));
        let ripe = if self.may_run {
            sure_words(&self.written)
        } else {
            self.written.as_str()
        };
        let rest = ripe.strip_prefix(self.shown.as_str()).unwrap_or_default();
        let rest = rest.to_owned();
        self.shown.push_str(&rest);
        rest
    }

    /// What people are to read of it.
    fn words(&self) -> String {
        if self.may_run {
            extract(&self.written).text
        } else {
            self.written.trim().to_owned()
        }
    }

    /// Its code is about to run: all else is shown now.
    fn words_around_code(&mut self) -> String {
        self.folded = true;
        self.take(&self.words())
    }

    /// What of `message` was not shown, if it is this answer, perhaps with something added to it.
    fn rest_of(&mut self, message: &str) -> Option<String> {
        let message = message.trim();
        let shown = self.shown.trim();
        let goes_on = !self.folded && !shown.is_empty() && message.starts_with(shown);
        if message.is_empty() || !(goes_on || message == self.words()) {
            return None;
        }
        let rest = self.take(message);
        self.begin_anew();
        Some(rest)
    }

    /// What was held back, and neither ran nor became a message.
    fn rest(&mut self) -> String {
        if self.folded {
            return String::new();
        }
        let written = self.written.trim().to_owned();
        self.take(&written)
    }

    /// What `whole` has beyond what was shown; all of it counts as shown from now on.
    fn take(&mut self, whole: &str) -> String {
        let rest = whole.strip_prefix(self.shown.trim()).unwrap_or(whole);
        let rest = match rest.trim() {
            "" => String::new(),
            _ => rest.to_owned(),
        };
        whole.clone_into(&mut self.shown);
        rest
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of an answer that comes in pieces of any size, and of the message it becomes.
    fn shown(written: &str, may_run: bool, message: Option<&str>) -> Vec<String> {
        let letters: Vec<char> = written.chars().collect();
        let in_pieces = |size| {
            let mut answer = ShownAnswer::new(may_run);
            let pieces = letters.chunks(size).map(|piece| piece.iter().collect());
            let mut shown: String = pieces.map(|piece: String| answer.add(&piece)).collect();
            match message.map(|message| answer.rest_of(message)) {
                Some(Some(rest)) => shown.push_str(&rest),
                Some(None) => panic!("it is not taken for the same"),
                None => shown.push_str(&answer.rest()),
            }
            shown
        };
        [1, 2, 3, 7, 1000].map(in_pieces).to_vec()
    }

    #[test]
    fn an_answer_is_shown_whole_and_once() {
        let other = "Run this now:\n\n```bash\nls -l\n```\n\nThen:\n```json\n{\"a\": 1}\n```";
        let python = "Like this one:\n```python\nprint(1)\n```\nIt prints 1.";
        for (written, may_run) in [(other, true), (other, false), (python, false), ("Hi", true)] {
            for text in shown(written, may_run, Some(written)) {
                assert_eq!(text, written);
            }
            for text in shown(written, may_run, None) {
                assert_eq!(text, written, "also where it was stopped");
            }
        }
    }

    #[test]
    fn what_is_added_to_an_answer_is_all_that_is_shown_of_the_message() {
        let whole = "It is noon now.\n\n(said the clock)";
        for text in shown("It is noon now.", false, Some(whole)) {
            assert_eq!(text, whole);
        }
    }

    #[test]
    fn code_that_runs_is_folded_and_nothing_else() {
        let written = "Let me see now.\n```python\nlook()\n```\nAs in:\n```json\n{}\n```\n";
        let mut answer = ShownAnswer::new(true);
        let mut text = answer.add(written);
        text.push_str(&answer.words_around_code());
        assert_eq!(text, "Let me see now.\n\nAs in:\n```json\n{}\n```");
        assert_eq!(answer.rest(), "");
        let said = "Let me see now.\n\nAs in:\n```json\n{}\n```";
        assert_eq!(answer.rest_of(said), Some(String::new()));
    }

    #[test]
    fn another_message_is_not_taken_for_the_answer() {
        let mut answer = ShownAnswer::new(false);
        answer.add("I will write to them.");
        assert_eq!(answer.rest_of("Hello, Ada"), None);
        assert_eq!(answer.rest(), "");
    }
}
