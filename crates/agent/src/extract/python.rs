//! Just enough of Python's lexer to know where its strings, brackets and lines end. It judges no
//! grammar and never fails: what does not end is said to be open.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Code,
    Comment,
    /// Within quotes that end at the line's end at the latest.
    Short(char),
    /// Within triple quotes.
    Long(char),
}

/// Reads text in pieces and remembers what is open.
#[derive(Clone, Debug)]
pub(super) struct Lexer {
    state: State,
    depth: usize,
    unbalanced: bool,
}

impl Lexer {
    pub(super) fn new() -> Self {
        Lexer {
            state: State::Code,
            depth: 0,
            unbalanced: false,
        }
    }

    /// Reads one line without its end. Code is handed to `seen`; a string as an empty one.
    pub(super) fn line(&mut self, line: &str, seen: &mut String) {
        self.part(line, seen);
        if !matches!(self.state, State::Long(_)) {
            self.state = State::Code;
        }
    }

    /// Would the text after `part` of a line be code?
    pub(super) fn is_code_after(&self, part: &str) -> bool {
        let mut lexer = self.clone();
        lexer.part(part, &mut String::new());
        lexer.state == State::Code
    }

    pub(super) fn in_string(&self) -> bool {
        matches!(self.state, State::Long(_))
    }

    pub(super) fn in_brackets(&self) -> bool {
        self.depth > 0
    }

    /// A bracket was closed that had not been opened.
    pub(super) fn is_unbalanced(&self) -> bool {
        self.unbalanced
    }

    fn part(&mut self, part: &str, seen: &mut String) {
        let mut rest = part;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            rest = match self.state {
                State::Comment => return,
                State::Code => self.code(c, rest, after, seen),
                State::Short(quote) | State::Long(quote) => self.string(c, quote, rest, after),
            };
        }
    }

    fn code<'a>(&mut self, c: char, rest: &'a str, after: &'a str, seen: &mut String) -> &'a str {
        match c {
            '#' => self.state = State::Comment,
            '"' | '\'' => {
                seen.push_str("\"\"");
                if let Some(after) = triple(rest, c) {
                    self.state = State::Long(c);
                    return after;
                }
                self.state = State::Short(c);
            }
            _ => {
                match c {
                    '(' | '[' | '{' => self.depth += 1,
                    ')' | ']' | '}' => match self.depth.checked_sub(1) {
                        Some(depth) => self.depth = depth,
                        None => self.unbalanced = true,
                    },
                    _ => {}
                }
                seen.push(c);
            }
        }
        after
    }

    fn string<'a>(&mut self, c: char, quote: char, rest: &'a str, after: &'a str) -> &'a str {
        if c == '\\' {
            let mut escaped = after.chars();
            escaped.next();
            return escaped.as_str();
        }
        match self.state {
            State::Long(_) => {
                if let Some(after) = triple(rest, quote) {
                    self.state = State::Code;
                    return after;
                }
            }
            _ if c == quote => self.state = State::Code,
            _ => {}
        }
        after
    }
}

fn triple(text: &str, quote: char) -> Option<&str> {
    let text = text.strip_prefix(quote)?.strip_prefix(quote)?;
    text.strip_prefix(quote)
}

/// A statement, however many lines it takes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Logical {
    /// Width of the white space it begins with, in characters.
    pub(super) indent: usize,
    /// Without comments, each string as `""`, on one line.
    pub(super) code: String,
}

/// The statements of `text`; `None` if a string or a bracket is left open. Blank lines and comments
/// are none.
pub(super) fn statements(text: &str) -> Option<Vec<Logical>> {
    let (mut lexer, mut found) = (Lexer::new(), Vec::new());
    let mut open: Option<Logical> = None;
    for line in text.split('\n') {
        let mut logical = open.take().unwrap_or_else(|| Logical {
            indent: line.chars().take_while(|c| c.is_whitespace()).count(),
            code: String::new(),
        });
        lexer.line(line, &mut logical.code);
        let continued = logical.code.ends_with('\\') && logical.code.pop().is_some();
        if lexer.in_string() || lexer.in_brackets() || continued {
            logical.code.push(' ');
            open = Some(logical);
        } else if !logical.code.trim().is_empty() {
            logical.code = logical.code.trim().to_owned();
            found.push(logical);
        }
    }
    (open.is_none() && !lexer.is_unbalanced()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Option<Vec<String>> {
        let found = statements(text)?;
        Some(found.into_iter().map(|logical| logical.code).collect())
    }

    #[test]
    fn statements_end_where_python_ends_them() {
        let check = |text: &str, expect: &[&str]| {
            let expect: Vec<String> = expect.iter().map(|&code| code.to_owned()).collect();
            assert_eq!(codes(text), Some(expect), "{text}");
        };
        check("a = 1  # one\n\n# none\nb()", &["a = 1", "b()"]);
        check("f(\n  1,\n  'x)',\n)", &["f(   1,   \"\", )"]);
        check("s = '''\n# no comment '\n\\'''\n'''\nt", &["s = \"\"", "t"]);
        check("a = \\\n  1", &["a =    1"]);
        check("'it\\'s' + \"#\"", &["\"\" + \"\""]);
        check("don't\nb", &["don\"\"", "b"]);
    }

    #[test]
    fn what_is_left_open_is_said() {
        for text in ["f(", "x = '''a", "a)", "s = \"\"\"\\\"\"\""] {
            assert_eq!(codes(text), None, "{text}");
        }
    }
}
