//! Fenced blocks, as Markdown has them and as models write them: indented, opened after a
//! sentence, closed at the end of a line, left open. A fence inside a Python string is text.

use super::{python::Lexer, split_line};

const PYTHON: [&str; 6] = ["python", "py", "python3", "py3", "ipython", "tool_code"];
/// Languages whose blocks hold fences of their own.
const MARKDOWN: [&str; 4] = ["markdown", "md", "mdx", "rst"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Unnamed,
    Markdown,
    Other,
}

impl Language {
    fn of(info: &str) -> Self {
        let word = info.split_whitespace().next().unwrap_or_default();
        let word = word
            .trim_matches(['{', '}', '.', ',', ':'])
            .to_ascii_lowercase();
        match word.as_str() {
            "" if info.is_empty() => Language::Unnamed,
            word if PYTHON.contains(&word) => Language::Python,
            word if MARKDOWN.contains(&word) => Language::Markdown,
            _ => Language::Other,
        }
    }
}

/// The line that opens a block.
#[derive(Debug)]
pub(super) struct Fence<'a> {
    pub(super) language: Language,
    marker: char,
    length: usize,
    indent: usize,
    info: &'a str,
    /// The whole block, where it begins and ends in one line.
    only_line: Option<&'a str>,
}

/// What a fence holds, and all that follows it.
pub(super) struct Block<'a> {
    pub(super) lines: Vec<&'a str>,
    pub(super) rest: &'a str,
}

impl<'a> Fence<'a> {
    pub(super) fn open(line: &'a str) -> Option<Self> {
        let text = line.trim_start();
        let marker = text.chars().next().filter(|c| ['`', '~'].contains(c))?;
        let info = text.trim_start_matches(marker);
        let fence = Fence {
            language: Language::Other,
            marker,
            length: text.len() - info.len(),
            indent: line.chars().take_while(|c| c.is_whitespace()).count(),
            info: info.trim(),
            only_line: None,
        };
        if fence.length < 3 {
            return None;
        }
        if marker == '`' && info.contains('`') {
            fence.in_one_line()
        } else {
            Some(Fence {
                language: Language::of(fence.info),
                ..fence
            })
        }
    }

    /// A line of prose that ends by opening a Python block, which must be closed in `after`: a
    /// sentence may well end in the name of a fence.
    pub(super) fn open_after_text(line: &'a str, after: &str) -> Option<(&'a str, Self)> {
        let at = line.find("```").or_else(|| line.find("~~~"))?;
        let (before, opening) = line.split_at_checked(at)?;
        let fence = Fence {
            indent: 0,
            ..Fence::open(opening)?
        };
        let alone = !fence.info.contains(char::is_whitespace) && fence.only_line.is_none();
        let usable = alone && fence.language == Language::Python;
        let closed = || after.split('\n').any(|line| fence.closes(line));
        (usable && closed()).then_some((before, fence))
    }

    /// `` ```python f()``` ``
    fn in_one_line(self) -> Option<Self> {
        let body = self.info.trim_end_matches('`');
        let (name, code) = body.split_once(char::is_whitespace)?;
        let closed = self.info.len() - body.len() >= self.length && !code.contains('`');
        let python = Language::of(name) == Language::Python;
        (closed && python).then_some(Fence {
            language: Language::Python,
            only_line: Some(code),
            ..self
        })
    }

    /// The block that begins with `after`, the text after the opening line.
    pub(super) fn block<'t>(&self, after: &'t str) -> Block<'t>
    where
        'a: 't,
    {
        if let Some(line) = self.only_line {
            return Block {
                lines: vec![line],
                rest: after,
            };
        }
        match self.language {
            Language::Python | Language::Unnamed => self.python_block(after),
            Language::Markdown => self.markdown_block(after),
            Language::Other => None,
        }
        .unwrap_or_else(|| self.plain_block(after))
    }

    /// Python never has a fence outside of its strings. `None` if a string is left open: then a
    /// fence that seemed to stand in it may as well have been the end.
    fn python_block<'t>(&self, after: &'t str) -> Option<Block<'t>> {
        let (mut lexer, mut lines, mut rest) = (Lexer::new(), Vec::new(), after);
        while !rest.is_empty() {
            let (line, next) = split_line(rest);
            if !lexer.in_string() {
                if let Some(behind) = self.behind(line) {
                    // `behind` ends its line: what is said there, or the next opening, comes next.
                    let read = if opens(behind) {
                        0
                    } else {
                        line.trim_end().len() - behind.len()
                    };
                    let rest = if behind.is_empty() {
                        next
                    } else {
                        rest.get(read..).unwrap_or(next)
                    };
                    return Some(Block { lines, rest });
                }
                if let Some(code) = self.before(line).filter(|code| lexer.is_code_after(code)) {
                    lines.push(code);
                    return Some(Block { lines, rest: next });
                }
            }
            lexer.line(line, &mut String::new());
            lines.push(line);
            rest = next;
        }
        (!lexer.in_string()).then_some(Block { lines, rest })
    }

    /// Blocks inside the block are part of it. `None` if it is not closed that way.
    fn markdown_block<'t>(&self, after: &'t str) -> Option<Block<'t>> {
        let (mut depth, mut lines, mut rest) = (1usize, Vec::new(), after);
        while !rest.is_empty() {
            let (line, next) = split_line(rest);
            rest = next;
            if self.closes(line) {
                depth -= 1;
            } else if self.behind(line).is_some_and(opens) {
                depth += 1;
            }
            if depth == 0 {
                return Some(Block { lines, rest });
            }
            lines.push(line);
        }
        None
    }

    /// To the first closing fence, as Markdown has it, or to the end.
    fn plain_block<'t>(&self, after: &'t str) -> Block<'t> {
        let (mut lines, mut rest) = (Vec::new(), after);
        while !rest.is_empty() {
            let (line, next) = split_line(rest);
            let opens_python =
                || Fence::open(line).is_some_and(|fence| fence.language == Language::Python);
            // A block of data holds no Python fence: the model forgot to close it.
            if self.language == Language::Other && opens_python() {
                break;
            }
            rest = next;
            if self.closes(line) {
                break;
            }
            lines.push(line);
        }
        Block { lines, rest }
    }

    fn closes(&self, line: &str) -> bool {
        self.behind(line).is_some_and(str::is_empty)
    }

    /// What follows the fence that `line` begins with.
    fn behind<'t>(&self, line: &'t str) -> Option<&'t str> {
        let text = line.trim_start();
        let behind = text.trim_start_matches(self.marker);
        (text.len() - behind.len() >= self.length).then(|| behind.trim_end())
    }

    /// What precedes the fence that `line` ends with.
    fn before<'t>(&self, line: &'t str) -> Option<&'t str> {
        let text = line.trim_end();
        let before = text.trim_end_matches(self.marker);
        (text.len() - before.len() >= self.length).then_some(before)
    }

    /// The lines as Python: without the margin that the fence stands in, and without one of their
    /// own, which Python would refuse.
    pub(super) fn code(&self, lines: &[&str]) -> String {
        let lines = lines.iter().map(|line| without_margin(line, self.indent));
        let lines: Vec<&str> = lines.collect();
        let written = || lines.iter().filter(|line| !line.trim().is_empty());
        let margin = match written().next() {
            Some(first) if first.starts_with([' ', '\t']) => {
                written().map(|line| margin(line)).min()
            }
            _ => None,
        };
        let margin = margin.unwrap_or(0);
        let lines = lines.iter().map(|line| without_margin(line, margin));
        let code = lines.collect::<Vec<&str>>().join("\n");
        code.trim_matches('\n').trim_end().to_owned()
    }

    /// The block as it was written.
    pub(super) fn source(&self, lines: &[&str]) -> String {
        let fence = self.marker.to_string().repeat(self.length);
        let margin = " ".repeat(self.indent);
        let mut source = format!("{margin}{fence}{}\n", self.info);
        for line in lines {
            source.push_str(line);
            source.push('\n');
        }
        source + &margin + &fence
    }
}

/// Does a fence with this behind it open a block? A word does, a sentence does not.
fn opens(behind: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || "+-_.#{}".contains(c);
    !behind.is_empty() && behind.chars().all(word)
}

fn margin(line: &str) -> usize {
    let spaces = line.chars().take_while(|c| [' ', '\t'].contains(c));
    spaces.count()
}

fn without_margin(line: &str, margin: usize) -> &str {
    let mut rest = line;
    for _ in 0..margin {
        match rest.strip_prefix([' ', '\t']) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    rest
}
