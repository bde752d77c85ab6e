//! Markdown, which models write unasked, as the HTML that Telegram takes. Whatever the text is, the marks
//! that come out are closed in their order; what is no Markdown stays as it was.

/// `**bold**`, `*italic*`, `~~struck~~`, `||hidden||`, code, links, headings, quotations, lists and tables.
pub(super) fn html(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut blocks = Vec::new();
    let mut rest = lines.as_slice();
    while let Some((line, after)) = rest.split_first() {
        let (block, taken) = if let Some(ticks) = fence(line) {
            code(line, ticks, after)
        } else if is_table(rest) {
            let rows = count(rest, |line| line.trim_start().starts_with('|'));
            let table = rest.get(..rows).unwrap_or_default().join("\n");
            (format!("<pre>{}</pre>", escaped(&table)), rows)
        } else if quoted(line).is_some() {
            let lines = count(rest, |line| quoted(line).is_some());
            let inner = rest.iter().take(lines).filter_map(|line| quoted(line));
            let inner: Vec<String> = inner.map(one).collect();
            let inner = inner.join("\n");
            (format!("<blockquote>{inner}</blockquote>"), lines)
        } else {
            (one(line), 1)
        };
        blocks.push(block);
        rest = rest.get(taken..).unwrap_or_default();
    }
    blocks.join("\n")
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The ticks that open or close a block of code.
pub(super) fn fence(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    let ticks = bare.len() - bare.trim_start_matches('`').len();
    let (ticks, rest) = bare.split_at(ticks);
    (ticks.len() >= 3 && !rest.contains('`')).then_some(ticks)
}

/// The block that begins with the line, and how many lines it has. One that is not closed goes to the end.
fn code(line: &str, ticks: &str, after: &[&str]) -> (String, usize) {
    let is_end = |line: &str| {
        fence(line).is_some_and(|end| end.len() >= ticks.len())
            && line.trim().chars().all(|c| c == '`')
    };
    let lines = count(after, |line| !is_end(line));
    let code = escaped(&after.get(..lines).unwrap_or_default().join("\n"));
    let language = line.trim().trim_start_matches('`');
    let language = language.split_whitespace().next().unwrap_or_default();
    let block = if language.is_empty() {
        format!("<pre>{code}</pre>")
    } else {
        let language = escaped(language);
        format!("<pre><code class=\"language-{language}\">{code}</code></pre>")
    };
    let is_closed = lines < after.len();
    (block, 1 + lines + usize::from(is_closed))
}

fn count(lines: &[&str], belongs: impl Fn(&str) -> bool) -> usize {
    lines.iter().take_while(|line| belongs(line)).count()
}

/// A first row, and under it one of dashes.
fn is_table(lines: &[&str]) -> bool {
    let [first, second, ..] = lines else {
        return false;
    };
    let rules = second.trim();
    first.trim_start().starts_with('|')
        && rules.starts_with('|')
        && rules.contains('-')
        && rules.chars().all(|c| "|-: ".contains(c))
}

fn quoted(line: &str) -> Option<&str> {
    let inner = line.strip_prefix('>')?;
    Some(inner.strip_prefix(' ').unwrap_or(inner))
}

/// A line of its own.
fn one(line: &str) -> String {
    let title = line.trim_start_matches('#');
    let marks = line.len() - title.len();
    if (1..=6).contains(&marks)
        && let Some(title) = title.strip_prefix(' ')
    {
        let title = title.trim().replace("**", "");
        return format!("<b>{}</b>", inline(&title));
    }
    let bare = line.trim_start();
    let indent = line.len() - bare.len();
    let item = ["- ", "* ", "+ "].into_iter();
    let item = item.filter_map(|mark| bare.strip_prefix(mark)).next();
    match item {
        Some(item) => format!("{}• {}", " ".repeat(indent), inline(item)),
        None => inline(line),
    }
}

const PAIRS: [(&str, &str, &str); 6] = [
    ("***", "<b><i>", "</i></b>"),
    ("**", "<b>", "</b>"),
    ("~~", "<s>", "</s>"),
    ("||", "<tg-spoiler>", "</tg-spoiler>"),
    ("*", "<i>", "</i>"),
    ("_", "<i>", "</i>"),
];

fn inline(line: &str) -> String {
    let mut made = String::with_capacity(line.len());
    let mut rest = line;
    let mut last = None;
    while let Some(at) = rest.find(['*', '_', '~', '|', '`', '[']) {
        let (before, marked) = rest.split_at(at);
        made.push_str(&escaped(before));
        last = before.chars().next_back().or(last);
        match marked_up(marked, last) {
            Some((found, after)) => {
                made.push_str(&found);
                let taken = marked.len() - after.len();
                last = marked.split_at(taken).0.chars().next_back();
                rest = after;
            }
            None => {
                let mut letters = marked.chars();
                last = letters.next();
                made.extend(last);
                rest = letters.as_str();
            }
        }
    }
    made.push_str(&escaped(rest));
    made
}

/// What begins with a mark, and what comes after it. `before` is the letter in front.
fn marked_up(text: &str, before: Option<char>) -> Option<(String, &str)> {
    if text.starts_with('`') {
        let ticks = text.len() - text.trim_start_matches('`').len();
        let (mark, _) = text.split_at(ticks);
        let (inner, after) = text.strip_prefix(mark)?.split_once(mark)?;
        return (!inner.is_empty()).then(|| (format!("<code>{}</code>", escaped(inner)), after));
    }
    if text.starts_with('[') {
        return link(text);
    }
    PAIRS.into_iter().find_map(|(mark, open, close)| {
        let (inner, after) = text.strip_prefix(mark)?.split_once(mark)?;
        let is_tight = !inner.is_empty() && inner.trim() == inner;
        // One letter alone marks many things: names, products.
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_inside = mark.len() == 1 && (is_word(before) || is_word(after.chars().next()));
        (is_tight && !is_inside).then(|| (format!("{open}{}{close}", inline(inner)), after))
    })
}

fn link(text: &str) -> Option<(String, &str)> {
    let (label, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (url, after) = rest.split_once(')')?;
    let schemes = ["http://", "https://", "tg://", "mailto:"];
    let is_link = schemes.iter().any(|scheme| url.starts_with(scheme))
        && !url.contains(char::is_whitespace)
        && !label.contains('[')
        && !label.trim().is_empty();
    let made = || format!("<a href=\"{}\">{}</a>", escaped(url), inline(label));
    is_link.then(|| (made(), after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::html;

    #[test]
    fn markdown_is_shown_as_it_is_meant() {
        for (text, expected) in [
            ("a **b** *c* _d_", "a <b>b</b> <i>c</i> <i>d</i>"),
            ("***both***", "<b><i>both</i></b>"),
            (
                "**重点**是 ~~旧~~ ||x||",
                "<b>重点</b>是 <s>旧</s> <tg-spoiler>x</tg-spoiler>",
            ),
            ("1 < 2 & `a<b`", "1 &lt; 2 &amp; <code>a&lt;b</code>"),
            (
                "## **Title**\n- one\n  * two",
                "<b>Title</b>\n• one\n  • two",
            ),
            ("> a\n> **b**\nc", "<blockquote>a\n<b>b</b></blockquote>\nc"),
            (
                "```python\nx = a ** b # <c>\n```\ndone",
                "<pre><code class=\"language-python\">x = a ** b # &lt;c&gt;</code></pre>\ndone",
            ),
            ("```\nopen *x*", "<pre>open *x*</pre>"),
            (
                "| a | b |\n|---|---|\n| 1 | 2 |\nx",
                "<pre>| a | b |\n|---|---|\n| 1 | 2 |</pre>\nx",
            ),
            (
                "[**docs**](https://h/?a=1&b=\"x\")!",
                "<a href=\"https://h/?a=1&amp;b=&quot;x&quot;\"><b>docs</b></a>!",
            ),
        ] {
            assert_eq!(html(text), expected);
        }
    }

    #[test]
    fn what_is_no_markdown_stays() {
        for text in [
            "2 * 3 * 4",
            "2*3*4",
            "2 ** 3 ** 4",
            "snake_case_name __init__",
            "[1](2)",
            "[x](javascript:1)",
            "it's `open",
            "** **",
            "#topic",
            "a || b || c",
            "",
            "```",
        ] {
            let expected = if text == "```" { "<pre></pre>" } else { text };
            assert_eq!(html(text), expected);
        }
    }

    /// Tags in their order, as Telegram wants them.
    fn is_balanced(made: &str) -> bool {
        let mut open = Vec::new();
        for tag in made.split('<').skip(1) {
            let Some((tag, _)) = tag.split_once('>') else {
                return false;
            };
            match tag.strip_prefix('/') {
                Some(name) if open.pop() == Some(name) => {}
                Some(_) => return false,
                None => open.push(tag.split(' ').next().unwrap_or_default()),
            }
        }
        open.is_empty()
    }

    proptest! {
        #[test]
        fn marks_are_closed_in_their_order(text in "[a<>&\"*_~|`\\[\\]()#> \n-]{0,60}") {
            let made = html(&text);
            prop_assert!(is_balanced(&made), "{made}");
        }
    }
}
