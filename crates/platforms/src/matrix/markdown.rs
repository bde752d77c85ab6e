//! Markdown, as models write it, in the HTML that Matrix clients show; and where a long text is cut within a
//! block of code, that block in both pieces.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// `None` for a text that reads the same without.
pub(super) fn html(text: &str) -> Option<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events: Vec<Event<'_>> = Parser::new_ext(text, options).map(shown).collect();
    if plain(&events).is_some_and(|plain| plain == text.trim()) {
        return None;
    }
    let mut shown = String::with_capacity(text.len() * 2);
    html::push_html(&mut shown, events.into_iter());
    Some(shown.trim_end().to_owned())
}

/// A line ends where its writer ended it, HTML is shown as it is written, and a picture from elsewhere is a
/// link: clients load none.
fn shown(event: Event<'_>) -> Event<'_> {
    match event {
        Event::SoftBreak => Event::HardBreak,
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        Event::Start(Tag::Image {
            link_type,
            dest_url,
            title,
            id,
        }) => Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        event => event,
    }
}

/// What it says, if there is nothing in it but paragraphs.
fn plain(events: &[Event<'_>]) -> Option<String> {
    let mut plain = String::new();
    for event in events {
        match event {
            Event::Text(CowStr::Borrowed(text)) => plain.push_str(text),
            Event::Text(text) => plain.push_str(text),
            Event::HardBreak => plain.push('\n'),
            Event::Start(Tag::Paragraph) if plain.is_empty() => {}
            Event::Start(Tag::Paragraph) => plain.push_str("\n\n"),
            Event::End(TagEnd::Paragraph) => {}
            _ => return None,
        }
    }
    Some(plain)
}

/// A block of code that a cut went through ends in one piece and begins again in the next.
pub(super) fn mend_fences(pieces: &mut [String]) {
    let mut open: Option<String> = None;
    for piece in pieces {
        if let Some(fence) = &open {
            piece.insert_str(0, &format!("{fence}\n"));
        }
        open = open_fence(piece);
        if let Some(fence) = &open {
            let ticks: String = fence.chars().take_while(|c| *c == '`').collect();
            piece.push_str(&format!("\n{ticks}"));
        }
    }
}

/// The line that began the block in which the text ends.
fn open_fence(text: &str) -> Option<String> {
    let mut open: Option<(usize, &str)> = None;
    for line in text.lines() {
        let bare = line.trim();
        let ticks = bare.chars().take_while(|c| *c == '`').count();
        open = match open {
            Some((length, _)) if ticks >= length && ticks == bare.len() => None,
            None if ticks >= 3 => Some((ticks, bare)),
            open => open,
        };
    }
    open.map(|(_, line)| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_html() {
        for (text, expected) in [
            ("**tea**", "<p><strong>tea</strong></p>"),
            (
                "# Tea\n- a\n- b",
                "<h1>Tea</h1>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>",
            ),
            ("a\n`b`", "<p>a<br />\n<code>b</code></p>"),
            (
                "```rust\nx < y\n```",
                "<pre><code class=\"language-rust\">x &lt; y\n</code></pre>",
            ),
            ("<b>x</b> *y*", "<p>&lt;b&gt;x&lt;/b&gt; <em>y</em></p>"),
            (
                "![cat](https://h/c.png)",
                "<p><a href=\"https://h/c.png\">cat</a></p>",
            ),
            ("~~no~~ 好", "<p><del>no</del> 好</p>"),
        ] {
            assert_eq!(html(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_has_no_marks_needs_none() {
        for text in [
            "tea",
            "one\ntwo",
            "one\n\ntwo",
            "a < b & c",
            "snake_case_name",
            "2 * 3",
            "",
        ] {
            assert_eq!(html(text), None, "{text}");
        }
    }

    #[test]
    fn a_block_of_code_that_is_cut_is_one_in_both_pieces() {
        let mut pieces = ["see\n```rust\na", "b\n```\nand", "done"].map(str::to_owned);
        mend_fences(&mut pieces);
        assert_eq!(
            pieces,
            ["see\n```rust\na\n```", "```rust\nb\n```\nand", "done"]
        );
    }
}
