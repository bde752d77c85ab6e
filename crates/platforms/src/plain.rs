//! Markdown as plain text, for platforms that show it as it is written: models write it unasked. Only marks
//! go that nobody would write otherwise; what stands in a block of code stays letter by letter.

/// `**bold**`, `` `code` ``, headings and fences lose their marks, and `[text](url)` shows its address.
pub(crate) fn plain(text: &str) -> String {
    let mut lines = Vec::new();
    let mut fence: Option<String> = None;
    for line in text.split('\n') {
        let bare = line.trim_start();
        let ticks: String = bare.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if ticks.len() >= open.len() && bare.trim_end() == ticks => fence = None,
            Some(_) => lines.push(line.to_owned()),
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => lines.push(inline(heading(line))),
        }
    }
    lines.join("\n")
}

fn heading(line: &str) -> &str {
    let rest = line.trim_start_matches('#');
    let marks = line.len() - rest.len();
    match rest.strip_prefix(' ') {
        Some(title) if (1..=6).contains(&marks) => title.trim_start(),
        _ => line,
    }
}

fn inline(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['*', '`', '[']) {
        let (before, marked) = rest.split_at(at);
        plain.push_str(before);
        let found = if marked.starts_with("**") {
            enclosed(marked, "**").map(|(inner, after)| (inline(inner), after))
        } else if marked.starts_with('`') {
            enclosed(marked, "`").map(|(inner, after)| (inner.to_owned(), after))
        } else {
            link(marked)
        };
        match found {
            Some((inner, after)) => {
                plain.push_str(&inner);
                rest = after;
            }
            None => {
                let mut letters = marked.chars();
                plain.extend(letters.next());
                rest = letters.as_str();
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// What stands between two marks, hard by them, and what comes after.
fn enclosed<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let (inner, after) = text.strip_prefix(mark)?.split_once(mark)?;
    let is_tight = !inner.is_empty() && inner.trim() == inner;
    is_tight.then_some((inner, after))
}

fn link(text: &str) -> Option<(String, &str)> {
    let (label, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (url, after) = rest.split_once(')')?;
    let is_link =
        url.starts_with("http") && !url.contains(char::is_whitespace) && !label.contains('[');
    let shown = if label == url {
        url.to_owned()
    } else {
        format!("{label} ({url})")
    };
    is_link.then_some((shown, after))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn marks_go_and_words_stay() {
        for (text, expected) in [
            ("A **plain** answer.", "A plain answer."),
            ("## Title\n- **a**: `b`", "Title\n- a: b"),
            (
                "```python\nx = a ** b # `c`\n```\ndone",
                "x = a ** b # `c`\ndone",
            ),
            (
                "see [the docs](https://h/a_b)!",
                "see the docs (https://h/a_b)!",
            ),
            ("[https://h](https://h)", "https://h"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn what_is_no_markdown_stays() {
        for text in [
            "2 * 3 * 4",
            "2 ** 3 ** 4",
            "* item",
            "#topic",
            "####### seven",
            "snake_case __init__",
            "[1](2)",
            "[CQ:at,qq=1]",
            "it's `open",
            "** **",
            "",
        ] {
            assert_eq!(plain(text), text);
        }
    }
}
