//! What of a model's answer is code. Nothing that was fenced as Python is lost, and nothing that
//! was written as prose is run; where the two rules leave room, the answer is a message.
#![doc = include_str!("docs/extract.md")]

mod fence;
mod python;
mod script;
mod think;
mod words;

use fence::{Fence, Language};
use think::Tag;

pub use words::sure_words;

/// A model's answer, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// What stood between `<think>` and `</think>`.
    pub thought: Option<String>,
    /// What is said around the code; the whole message where there is none.
    pub text: String,
    /// Python to run, never blank.
    pub code: Option<String>,
}

pub fn extract(answer: &str) -> Answer {
    let answer = line_feeds(answer);
    let mut reader = Reader::new(&answer);
    while !reader.rest.is_empty() {
        reader.step();
    }
    reader.finish()
}

/// A piece of the answer outside of thoughts, in the order written.
enum Piece<'a> {
    Text(&'a str),
    Code(String),
    /// In a fence that names no language: code only if nothing else is, and it reads as such.
    Unnamed {
        code: String,
        source: String,
    },
    /// Text that stays in its fence, which is how people will read it.
    Quoted(String),
}

struct Reader<'a> {
    answer: &'a str,
    /// Invariant: a suffix of `answer` that begins a line, or follows a tag.
    rest: &'a str,
    pieces: Vec<Piece<'a>>,
    thoughts: Vec<&'a str>,
    /// Where the last `</think>` begins.
    last_close: Option<usize>,
}

impl<'a> Reader<'a> {
    fn new(answer: &'a str) -> Self {
        Reader {
            answer,
            rest: answer,
            pieces: Vec::new(),
            thoughts: Vec::new(),
            last_close: think::last_close(answer),
        }
    }

    fn step(&mut self) {
        let (line, after) = split_line(self.rest);
        if let Some(fence) = Fence::open(line) {
            return self.block(fence, after);
        }
        let last_close = self.last_close.and_then(|close| {
            let read = self.answer.len() - self.rest.len();
            close.checked_sub(read)
        });
        match think::find(line, last_close) {
            Some((before, Tag::Open)) => {
                self.text(before);
                let inside = self.skip(before.len());
                let (thought, rest) = think::inside(inside);
                self.thoughts.push(thought);
                self.rest = rest;
            }
            Some((before, Tag::Close)) => self.stray_close(before, after),
            None => match Fence::open_after_text(line, after) {
                Some((before, fence)) => {
                    self.text(before);
                    self.block(fence, after);
                }
                None => {
                    self.text(line);
                    self.rest = after;
                }
            },
        }
    }

    fn text(&mut self, text: &'a str) {
        self.pieces.push(Piece::Text(text));
    }

    fn block(&mut self, fence: Fence<'a>, after: &'a str) {
        let block = fence.block(after);
        self.rest = block.rest;
        let source = || fence.source(&block.lines);
        self.pieces.push(match fence.language {
            Language::Python => Piece::Code(fence.code(&block.lines)),
            Language::Unnamed => Piece::Unnamed {
                code: fence.code(&block.lines),
                source: source(),
            },
            Language::Markdown | Language::Other => Piece::Quoted(source()),
        });
    }

    /// Some templates open the thought in the prompt, so that the answer holds only its end: then
    /// all that came before was thought, drafts of code included.
    fn stray_close(&mut self, before: &'a str, after: &'a str) {
        let tag_and_rest = self.skip(before.len());
        let rest = think::after_tag(tag_and_rest).unwrap_or(after);
        if self.thoughts.is_empty() && !rest.trim().is_empty() {
            let thought = self.answer.len() - tag_and_rest.len();
            self.thoughts
                .extend(self.answer.split_at_checked(thought).map(|(head, _)| head));
            self.pieces.clear();
        } else {
            self.text(before);
        }
        self.rest = rest;
    }

    fn skip(&self, bytes: usize) -> &'a str {
        self.rest.get(bytes..).unwrap_or_default()
    }

    fn finish(self) -> Answer {
        let thoughts: Vec<&str> = self.thoughts.iter().map(|thought| thought.trim()).collect();
        let thought = thoughts.join("\n\n").trim().to_owned();
        let (text, code) = assemble(self.pieces);
        Answer {
            thought: (!thought.is_empty()).then_some(thought),
            text,
            code,
        }
    }
}

fn assemble(pieces: Vec<Piece>) -> (String, Option<String>) {
    let named = pieces.iter().any(|piece| match piece {
        Piece::Code(code) => !code.trim().is_empty(),
        _ => false,
    });
    let plain = pieces.iter().all(|piece| matches!(piece, Piece::Text(_)));
    let (mut text, mut blocks) = (String::new(), Vec::new());
    let push = |text: &mut String, line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    for piece in pieces {
        match piece {
            Piece::Text(line) => push(&mut text, line),
            Piece::Quoted(source) => push(&mut text, &source),
            Piece::Unnamed { source, code } if named || !script::is_plausible(&code) => {
                push(&mut text, &source);
            }
            Piece::Code(code) | Piece::Unnamed { code, .. } => {
                blocks.push(code);
                let kept = text.trim_end().len();
                text.truncate(kept);
                text.push_str("\n\n");
            }
        }
    }
    let text = text.trim().to_owned();
    if plain && script::is_unmistakable(&text) {
        return (String::new(), Some(text));
    }
    blocks.retain(|code| !code.trim().is_empty());
    (text, (!blocks.is_empty()).then(|| blocks.join("\n\n")))
}

/// The first line and all after it.
fn split_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// Every end of line as one line feed.
fn line_feeds(text: &str) -> String {
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    lines.join("\n")
}
