//! Does unmarked text read as Python? A judgement on the safe side: what is refused here is shown
//! to people instead of being run.

use super::python::{self, Logical};

/// Statements that stand alone.
const ALONE: [&str; 4] = ["pass", "break", "continue", "return"];
/// Statements with something after them.
const LEADING: [&str; 9] = [
    "return", "raise", "del", "assert", "global", "nonlocal", "yield", "await", "type",
];
/// Statements that end in a colon and own the lines below.
const BLOCKS: [&str; 14] = [
    "if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class",
    "async", "match", "case",
];
/// Functions of Python that scripts call for what they do.
const EFFECTS: [&str; 4] = ["print", "exit", "quit", "call"];

/// How sure a statement makes one that its text is Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    /// `x = 5`: Python, but formulas look the same.
    Weak,
    /// `x = "five"`.
    AssignsText,
    /// `f(2)`, which with a text assigned before is a script.
    Calls,
    /// An import, a definition, a call with a text or a named argument.
    Strong,
}

/// Every statement could be Python, and there is one. For text in a fence that names no language.
pub(super) fn is_plausible(text: &str) -> bool {
    evidence(text).is_some_and(|found| !found.is_empty())
}

/// Every statement could be Python, and one can hardly be anything else. For text with no fence at
/// all, where the likeliest thing is a message.
pub(super) fn is_unmistakable(text: &str) -> bool {
    let Some(found) = evidence(text) else {
        return false;
    };
    let has = |evidence| found.contains(&evidence);
    has(Evidence::Strong) || (has(Evidence::AssignsText) && has(Evidence::Calls))
}

/// Of each statement; `None` as soon as one is not Python.
fn evidence(text: &str) -> Option<Vec<Evidence>> {
    let statements = python::statements(text)?;
    if statements.first().is_some_and(|first| first.indent > 0) {
        return None;
    }
    let mut found = Vec::with_capacity(statements.len());
    for (at, statement) in statements.iter().enumerate() {
        let owns_next = statements
            .get(at + 1)
            .is_some_and(|next| next.indent > statement.indent);
        found.push(judge(statement, owns_next)?);
    }
    Some(found)
}

fn judge(statement: &Logical, owns_next: bool) -> Option<Evidence> {
    let code = statement.code.as_str();
    if owns_next {
        return block(code);
    }
    simple(code).or_else(|| {
        // `if ready: go()`
        let (head, body) = split_at_depth_zero(code, ':')?;
        block(&format!("{head}:"))?;
        simple(body.trim())
    })
}

fn block(code: &str) -> Option<Evidence> {
    let head = code.strip_suffix(':')?;
    let word = first_word(head);
    let rest = head.get(word.len()..)?.trim();
    let fits = match word {
        "else" | "try" | "finally" => rest.is_empty(),
        "for" => rest.contains(" in "),
        "def" => is_call(rest.split("->").next()?.trim()),
        "class" => is_name(rest) || is_call(rest),
        "async" => return block(&format!("{rest}:")),
        "except" => true,
        _ => !rest.is_empty(),
    };
    let strong = ["def", "class", "for", "while", "try", "with"].contains(&word);
    let evidence = if strong {
        Evidence::Strong
    } else {
        Evidence::Weak
    };
    (BLOCKS.contains(&word) && fits).then_some(evidence)
}

fn simple(code: &str) -> Option<Evidence> {
    if let Some((first, rest)) = split_at_depth_zero(code, ';') {
        let rest = rest.trim();
        let first = simple(first.trim())?;
        return if rest.is_empty() {
            Some(first)
        } else {
            simple(rest).map(|second| first.max(second))
        };
    }
    let word = first_word(code);
    let rest = code.get(word.len()..).unwrap_or_default().trim();
    match word {
        "import" => return names(rest).then_some(Evidence::Strong),
        "from" => {
            let (module, imported) = rest.split_once(" import ")?;
            let imported = imported.trim().trim_matches(['(', ')']);
            let fits = is_dotted(module.trim().trim_start_matches('.')) || module.trim() == ".";
            return (fits && (imported == "*" || names(imported))).then_some(Evidence::Strong);
        }
        word if ALONE.contains(&word) && rest.is_empty() => return Some(Evidence::Weak),
        word if LEADING.contains(&word) => return expression(rest).then_some(Evidence::Weak),
        _ => {}
    }
    if let Some(decorator) = code.strip_prefix('@') {
        return (is_dotted(decorator) || is_call(decorator)).then_some(Evidence::Weak);
    }
    if is_call(code) {
        return Some(call_evidence(code));
    }
    if code.chars().all(|c| "\"frbuFRBU".contains(c)) {
        // A text alone: a docstring.
        return Some(Evidence::Weak);
    }
    if code.starts_with('[') && code.contains(" for ") && code.contains('(') {
        return Some(Evidence::Weak);
    }
    assignment(code)
}

/// Nobody writes `f("x")` or `f(x=1)` by chance; `f(2)` is mathematics as well.
fn call_evidence(code: &str) -> Evidence {
    let name = code.split('(').next().unwrap_or_default();
    let arguments = code.get(name.len()..).unwrap_or_default();
    let telling = arguments.contains("\"\"") || arguments.contains('=');
    if telling || EFFECTS.contains(&name) {
        Evidence::Strong
    } else {
        Evidence::Calls
    }
}

fn assignment(code: &str) -> Option<Evidence> {
    let (target, value) = split_at_depth_zero(code, '=')?;
    let target = target.trim_end_matches(['+', '-', '*', '/', '%', '&', '|', '^', '@', '<', '>']);
    // `name: type = value`
    let target = split_at_depth_zero(target, ':').map_or(target, |(name, _)| name);
    let targets = target.trim().trim_matches(['(', ')', '[', ']']);
    let is_target = |part: &str| {
        let part = part.trim().trim_start_matches('*');
        let name = part.split('[').next().unwrap_or_default();
        part.is_empty() || is_dotted(name)
    };
    let targets = !targets.is_empty() && targets.split(',').all(is_target);
    let value = value.trim();
    let chained = assignment(value).is_some();
    let evidence = if value.contains("\"\"") {
        Evidence::AssignsText
    } else {
        Evidence::Weak
    };
    (targets && (chained || expression(value))).then_some(evidence)
}

/// Could this be a value? Two words side by side, where neither is an operator, cannot.
fn expression(code: &str) -> bool {
    const OPERATORS: [&str; 13] = [
        "and", "or", "not", "in", "is", "if", "else", "for", "lambda", "await", "from", "async",
        "yield",
    ];
    let mut after_operand = false;
    for word in
        code.split_inclusive(|c: char| c.is_whitespace() || "()[]{},:+-*/%=<>|&^@~.".contains(c))
    {
        let operand = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '"');
        let separated = !word.ends_with(char::is_whitespace) && operand.len() < word.len();
        if operand.is_empty() {
            after_operand &= !separated;
            continue;
        }
        let operator = OPERATORS.contains(&operand);
        if after_operand && !operator {
            return false;
        }
        after_operand = !operator && !separated;
    }
    let ascii_marks = !code.contains(['，', '。', '？', '！', '“', '”', '’', '…', '?', '!', '$'])
        || code.contains("!=");
    !code.is_empty() && ascii_marks
}

/// `a.b(...)`, `a(...)[0].c(...)`, `await f()`: the whole of `code`.
fn is_call(code: &str) -> bool {
    let Some((name, _)) = code.split_once('(') else {
        return false;
    };
    let receiver = name.trim_start_matches(['"', 'f', 'r', 'b']);
    let named = is_dotted(name) || receiver.strip_prefix('.').is_some_and(is_dotted);
    named && code.ends_with(')') && {
        let arguments = code.get(name.len()..).unwrap_or_default();
        expression(arguments)
    }
}

fn names(list: &str) -> bool {
    let named = |part: &str| match part.trim().split_once(" as ") {
        Some((name, alias)) => is_dotted(name.trim()) && is_name(alias.trim()),
        None => is_dotted(part.trim()),
    };
    let list = list.trim().trim_end_matches(',');
    list.split(',').all(named)
}

fn is_dotted(text: &str) -> bool {
    text.split('.').all(is_name)
}

/// ASCII only: `你好(笑)` is chat.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && letters.all(|c| c == '_' || c.is_ascii_alphanumeric())
}

fn first_word(code: &str) -> &str {
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_');
    end.map_or(code, |end| code.get(..end).unwrap_or_default())
}

/// Splits at the first `mark` outside of brackets that is no part of `==`, `!=`, `<=`, `>=`, `:=`.
fn split_at_depth_zero(code: &str, mark: char) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    let mut before = ' ';
    let mut letters = code.char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            c if c == mark && depth == 0 => {
                let doubled = letters.peek().is_some_and(|&(_, next)| next == '=');
                let compares = mark == '=' && (doubled || "=!<>:".contains(before));
                if !(compares || mark == ':' && doubled) {
                    let rest = code.get(at..)?.strip_prefix(mark)?;
                    return Some((code.get(..at)?, rest));
                }
            }
            _ => {}
        }
        before = c;
    }
    None
}
