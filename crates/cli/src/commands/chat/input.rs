//! Where lines come from, and which of them belong together.

use std::{collections::VecDeque, io::BufRead, path::PathBuf, sync::Arc};

use callgate_contract::Part;
use parking_lot::Mutex;
use rustyline::{Config, DefaultEditor, Editor, ExternalPrinter, error::ReadlineError};
use tokio::sync::mpsc;

use super::questions::is_answer;

use crate::{commands::run::part, show};

const PROMPT: &str = "> ";
const MORE: &str = "… ";

pub enum InputEvent {
    Message(String),
    End,
}

/// Lines are read on a thread of their own, since reading cannot be interrupted; one line is read
/// for each that is asked for, so that an answer is not written over a prompt.
pub struct Input {
    ask: std::sync::mpsc::Sender<LineRequest>,
    lines: mpsc::UnboundedReceiver<InputLine>,
    asked: Option<LineRequest>,
    draft: Draft,
    /// What came while an answer was looked for.
    kept: VecDeque<String>,
    printer: Option<Printer>,
    terminal: bool,
}

/// What a line is read for, with the words before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineRequest {
    Message(&'static str),
    /// Read as it is typed, without an editor: the turn goes on around it.
    Answer(&'static str),
}

enum InputLine {
    Text(String),
    /// Ctrl-C: what was typed is dropped.
    Dropped,
    End,
}

/// Prints above the line that is being typed. A mutex, since messages come from any thread.
#[derive(Clone)]
pub struct Printer(Arc<Mutex<Print>>);

type Print = Box<dyn FnMut(String) + Send>;

impl Printer {
    pub fn print(&self, parts: &[Part]) {
        let lines: Vec<String> = parts.iter().map(part).collect();
        self.print_text(&lines.join("\n"));
    }

    pub fn print_text(&self, text: &str) {
        let mut print = self.0.lock();
        print(format!("{text}\n"));
    }
}

impl Input {
    /// With editing, and a history that is kept in `history`.
    pub fn terminal(history: PathBuf) -> Self {
        let (ask, asked) = std::sync::mpsc::channel();
        let (tell, lines) = mpsc::unbounded_channel();
        let (give, given) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let Some(mut editor) = editor() else {
                drop(give);
                return read_lines(&asked, &tell);
            };
            // The first time there is none.
            let _ = editor.load_history(&history);
            let printer = editor.create_external_printer().ok();
            let _ = give.send(printer.map(|mut printer| {
                Printer(Arc::new(Mutex::new(Box::new(move |text| {
                    // Nobody to tell if this fails.
                    let _ = printer.print(text);
                }))))
            }));
            while let Ok(wanted) = asked.recv() {
                let line = match wanted {
                    LineRequest::Message(prompt) => edited(&mut editor, prompt, &history),
                    LineRequest::Answer(question) => plain(question),
                };
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        let printer = given.recv().ok().flatten();
        Input {
            printer,
            terminal: true,
            ..Input::new(ask, lines)
        }
    }

    /// Of a pipe or a file.
    pub fn lines() -> Self {
        let (ask, asked) = std::sync::mpsc::channel();
        let (tell, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || read_lines(&asked, &tell));
        Input::new(ask, lines)
    }

    fn new(
        ask: std::sync::mpsc::Sender<LineRequest>,
        lines: mpsc::UnboundedReceiver<InputLine>,
    ) -> Self {
        Input {
            ask,
            lines,
            asked: None,
            draft: Draft::default(),
            kept: VecDeque::new(),
            printer: None,
            terminal: false,
        }
    }

    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    pub fn printer(&self) -> Option<Printer> {
        self.printer.clone()
    }

    /// The next whole message. Dropping this future loses nothing.
    pub async fn next(&mut self) -> InputEvent {
        if let Some(message) = self.kept.pop_front() {
            return InputEvent::Message(message);
        }
        if self.terminal && matches!(self.asked, Some(LineRequest::Answer(_))) {
            // The question is over, the line that was read for it is not.
            show::data(PROMPT);
        }
        loop {
            let prompt = if self.draft.is_empty() { PROMPT } else { MORE };
            let (wanted, line) = self.read(LineRequest::Message(prompt)).await;
            match line {
                InputLine::Text(text)
                    if matches!(wanted, LineRequest::Answer(_)) && is_answer(&text) =>
                {
                    show::note("that was no longer asked");
                }
                InputLine::Text(text) => {
                    if let Some(message) = self.draft.add(&text) {
                        return InputEvent::Message(message);
                    }
                }
                InputLine::Dropped => self.draft = Draft::default(),
                InputLine::End => match self.draft.take() {
                    Some(rest) => return InputEvent::Message(rest),
                    None => return InputEvent::End,
                },
            }
        }
    }

    /// One line as it was typed after `question`; none at the end. Dropping this future loses nothing.
    pub async fn answer(&mut self, question: &'static str) -> Option<String> {
        match self.read(LineRequest::Answer(question)).await {
            (_, InputLine::Text(text)) => Some(text),
            (_, InputLine::Dropped | InputLine::End) => None,
        }
    }

    /// No message has begun that the next line goes on with.
    pub fn is_between_messages(&self) -> bool {
        self.draft.is_empty()
    }

    /// A line that is no answer is part of what is said next.
    pub fn keep(&mut self, line: &str) {
        self.kept.extend(self.draft.add(line));
    }

    /// The next line, and what it was asked for.
    async fn read(&mut self, wanted: LineRequest) -> (LineRequest, InputLine) {
        let wanted = *self.asked.get_or_insert_with(|| {
            // A reader that is gone is noticed below.
            let _ = self.ask.send(wanted);
            wanted
        });
        let line = self.lines.recv().await.unwrap_or(InputLine::End);
        self.asked = None;
        (wanted, line)
    }
}

fn editor() -> Option<DefaultEditor> {
    let config = Config::builder().auto_add_history(true).build();
    Editor::with_config(config).ok()
}

fn edited(editor: &mut DefaultEditor, prompt: &str, history: &std::path::Path) -> InputLine {
    match editor.readline(prompt) {
        Ok(text) => {
            // A history that cannot be kept is no reason not to talk.
            let _ = editor.append_history(history);
            InputLine::Text(text)
        }
        Err(ReadlineError::Interrupted) => InputLine::Dropped,
        Err(_) => InputLine::End,
    }
}

fn plain(question: &str) -> InputLine {
    show::data(question);
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => InputLine::End,
        Ok(_) => InputLine::Text(line.trim_end_matches(['\r', '\n']).to_owned()),
    }
}

fn read_lines(
    asked: &std::sync::mpsc::Receiver<LineRequest>,
    tell: &mpsc::UnboundedSender<InputLine>,
) {
    let mut lines = std::io::stdin().lock().lines();
    while asked.recv().is_ok() {
        let line = match lines.next() {
            Some(Ok(text)) => InputLine::Text(text),
            _ => InputLine::End,
        };
        if tell.send(line).is_err() {
            return;
        }
    }
}

/// Lines that are not a message yet.
#[derive(Default)]
struct Draft {
    lines: Vec<String>,
    in_block: bool,
}

impl Draft {
    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The message, if this line ends it.
    fn add(&mut self, line: &str) -> Option<String> {
        if line.trim_start().starts_with("```") {
            self.in_block = !self.in_block;
        }
        if !self.in_block
            && let Some(begun) = line.strip_suffix('\\')
        {
            self.lines.push(begun.to_owned());
            return None;
        }
        self.lines.push(line.to_owned());
        if self.in_block { None } else { self.take() }
    }

    fn take(&mut self) -> Option<String> {
        let whole = self.lines.join("\n");
        let empty = self.is_empty();
        *self = Draft::default();
        (!empty).then_some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_belong_together_are_one_message() {
        let mut draft = Draft::default();
        let lines = [
            "one",
            "two \\",
            "and three",
            "look:\\",
            "```",
            "a\\",
            "b",
            "```",
            "/help",
        ];
        let messages: Vec<String> = lines.iter().filter_map(|line| draft.add(line)).collect();
        assert_eq!(
            messages,
            ["one", "two \nand three", "look:\n```\na\\\nb\n```", "/help"]
        );
        assert!(draft.is_empty());
    }

    #[test]
    fn what_was_begun_is_not_lost_at_the_end() {
        let mut draft = Draft::default();
        assert_eq!(draft.add("```"), None);
        assert_eq!(draft.add("half"), None);
        assert_eq!(draft.take().as_deref(), Some("```\nhalf"));
        assert_eq!(draft.take(), None);
    }
}
