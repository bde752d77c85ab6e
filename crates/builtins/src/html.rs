//! A page's markup as text to read: title, paragraphs, lists, tables by row, links in Markdown.
//! Reads anything without failing, in one pass, and bounds what comes out.

mod entities;
mod tokens;
mod writer;

use reqwest::Url;

use tokens::{Tag, Token, Tokens};
use writer::{Gap, TextWriter};

/// Bytes of text; a page that unfolds into more (by links made absolute) is cut.
const MAX_TEXT: usize = 2 << 20;
const MAX_TITLE: usize = 300;

pub(crate) struct Article {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    pub(crate) cut: bool,
}

/// `base` is the page's own address; its links are relative to that.
pub(crate) fn read(html: &str, base: Url) -> Article {
    let mut reader = PageReader {
        base,
        title: None,
        writer: TextWriter::default(),
        skipped: None,
    };
    let mut tokens = Tokens::new(html);
    while reader.writer.len() < MAX_TEXT
        && let Some(token) = tokens.next()
    {
        reader.token(token);
    }
    Article {
        title: reader.title,
        text: reader.writer.finish(),
        cut: tokens.next().is_some(),
    }
}

struct PageReader {
    base: Url,
    title: Option<String>,
    writer: TextWriter,
    /// An element whose content is not text, and how many of its name are open.
    skipped: Option<(String, usize)>,
}

impl PageReader {
    fn token(&mut self, token: Token<'_>) {
        if let Some((name, depth)) = &mut self.skipped {
            match token {
                Token::Open(tag) if tag.name == *name && !tag.closed => *depth += 1,
                Token::Close(closed) if closed == *name => *depth -= 1,
                _ => {}
            }
            if *depth == 0 {
                self.skipped = None;
            }
            return;
        }
        match token {
            Token::Text(text) => self.writer.text(&entities::decoded(text)),
            Token::Raw("title", text) if self.title.is_none() => self.title = title(text),
            Token::Raw(..) => {}
            Token::Open(tag) => self.open(tag),
            Token::Close(name) => self.close(&name),
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        let name = tag.name.as_str();
        if let Some(gap) = gap(name) {
            self.writer.open(gap);
        }
        match name {
            "svg" | "math" | "template" if !tag.closed => {
                self.skipped = Some((tag.name, 1));
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = name.bytes().last().map_or(1, |digit| digit - b'0');
                self.writer.mark(&format!("{} ", "#".repeat(level.into())));
            }
            "li" => self.writer.mark("- "),
            "td" | "th" => self.writer.cell(),
            "pre" => self.writer.preformatted(true),
            "base" => {
                if let Some(base) = tag.attribute("href").and_then(|href| self.link(href)) {
                    self.base = base;
                }
            }
            "a" => {
                let link = tag.attribute("href").filter(|href| !href.starts_with('#'));
                let link = link.and_then(|href| self.link(href));
                self.writer.link(link.map(String::from));
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "a" => self.writer.link(None),
            "pre" => self.writer.preformatted(false),
            _ => {}
        }
        if let Some(gap) = gap(name) {
            self.writer.close(gap);
        }
    }

    fn link(&self, href: &str) -> Option<Url> {
        let link = self.base.join(&entities::decoded(href)).ok()?;
        matches!(link.scheme(), "http" | "https").then_some(link)
    }
}

fn title(text: &str) -> Option<String> {
    let text = entities::decoded(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let title: String = words.join(" ").chars().take(MAX_TITLE).collect();
    (!title.is_empty()).then_some(title)
}

/// What separates an element from what is around it; nothing for one inside a line.
fn gap(name: &str) -> Option<Gap> {
    match name {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "dl" | "table" | "pre"
        | "blockquote" | "article" | "section" | "main" | "header" | "footer" | "nav" | "aside"
        | "figure" | "form" | "hr" | "details" => Some(Gap::Paragraph),
        "div" | "li" | "tr" | "dt" | "dd" | "br" | "figcaption" | "summary" | "address"
        | "caption" | "option" | "fieldset" | "legend" | "body" => Some(Gap::Line),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn article(html: &str) -> Article {
        read(html, Url::parse("https://example.com/a/b.html").unwrap())
    }

    fn check(html: &str, expect: &str) {
        assert_eq!(article(html).text, expect, "{html}");
    }

    #[test]
    fn a_page_reads_as_text() {
        let page = article(
            "<!DOCTYPE html><html><head><title> A &amp; B\n </title>
             <style>p { color: red }</style><script>if (a<b) alert('</p>')</script></head>
             <body><h1>Hello</h1><p>First   line<br>second.</p><p>你好，<b>世界</b>。</p>
             <ul><li>one<li>two</ul></body></html>",
        );
        assert_eq!(page.title.as_deref(), Some("A & B"));
        assert_eq!(
            page.text,
            "# Hello\n\nFirst line\nsecond.\n\n你好，世界。\n\n- one\n- two"
        );
        assert!(!page.cut);
    }

    #[test]
    fn links_are_absolute() {
        check(
            "see <a href='c.html?x=1&amp;y=2'>this <i>page</i></a>.",
            "see [this page](https://example.com/a/c.html?x=1&y=2).",
        );
        check("<a href=/top>top</a>", "[top](https://example.com/top)");
        check("<a href='#x'>here</a> <a name=x>there</a>", "here there");
        check("<a href='javascript:alert(1)'>press</a>", "press");
        check("<a href='mailto:a@b.c'>mail</a>", "mail");
        check("<a href=x><img src=y></a>after", "after");
        check(
            "<a href=1>one<a href=2>two</a>",
            "[one](https://example.com/a/1)[two](https://example.com/a/2)",
        );
        check(
            "<a href=x><div>in</div><div>out</div></a>",
            "[in out](https://example.com/a/x)",
        );
        check(
            "<a href=x>never closed",
            "[never closed](https://example.com/a/x)",
        );
        check("<pre><a href=x> </a>a</pre>", "a");
        let long = "word ".repeat(100);
        let both = format!("{0}\n\n{0}", long.trim());
        check(&format!("<a href=x><p>{long}<p>{long}"), &both);
        check(
            "<base href='//other.org/'><a href=x>y</a>",
            "[y](https://other.org/x)",
        );
    }

    #[test]
    fn tables_and_preformatted_text_keep_their_shape() {
        check(
            "<table><tr><th>a<th>b</tr><tr><td>1</td><td>2</td></tr></table>end",
            "a | b\n1 | 2\n\nend",
        );
        check(
            "<pre>fn  x() {\n    1\n}</pre>y",
            "fn  x() {\n    1\n}\n\ny",
        );
    }

    #[test]
    fn what_is_not_text_is_left_out() {
        for html in [
            "a<script>b</script>",
            "a<SCRIPT src=x>b</Script >",
            "a<style>b",
            "a<!-- b <p> -->",
            "a<!-- b",
            "a<textarea>b</textarea>",
            "a<svg><title>b</title><svg></svg><text>b</text></svg>",
            "a<template><p>b</p></template>",
            "a<iframe>b</iframe>",
            "a<?php b ?>",
            "a<p title=\"b > c\">",
            "a<img alt='b",
            "a<script>b</scripty></script>",
        ] {
            check(html, "a");
        }
    }

    #[test]
    fn stray_signs_are_text() {
        check("1 < 2 && 3 <> 4", "1 < 2 && 3 <> 4");
        check("a </> b", "a b");
        check("x<", "x<");
    }

    #[test]
    fn blocks_are_parted_by_one_empty_line() {
        check(
            "<ul><li><p>a</p></li><li></li><li><div>b</div></ul>c",
            "- a\n\n- b\n\nc",
        );
        check("<h2><div>a</div></h2><h3></h3><p>b", "## a\n\nb");
        check(
            "<p>a</p><div><a href=x><img></a></div><p></p><p>b",
            "a\n\nb",
        );
        check(
            "<a href=x><h2>a</h2></a>",
            "## [a](https://example.com/a/x)",
        );
        check("<tr><td>a<td><tr><td>b", "a\nb");
    }

    #[test]
    fn output_is_bounded() {
        let base = format!("<base href='/{}/'>", "long".repeat(400));
        let page = article(&(base + &"<a href=x>y</a>".repeat(20_000)));
        assert!(page.cut);
        assert!(page.text.len() < MAX_TEXT + 2000);
    }

    const PIECES: &[&str] = &[
        "<",
        ">",
        "</",
        "/",
        "a",
        "p",
        "pre",
        "script",
        "svg",
        "<!--",
        "-->",
        "&",
        "#",
        ";",
        "x",
        "\"",
        "'",
        "=",
        " ",
        "\n",
        "字",
        "<td>",
        "<li>",
        "<a href=x>",
        "</a>",
        "<svg>",
        "</svg>",
    ];
    const TAGS: &[&str] = &[
        "<p>", "</p>", "<b>", "</div>", "<br/>", "<td>", "<li>", "<!--x-->", "</a>", "<h2>",
    ];

    proptest! {
        #[test]
        fn anything_is_read(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
            let page = article(&pieces.concat());
            prop_assert!(!page.cut);
            prop_assert_eq!(page.text.trim(), page.text.as_str());
        }

        /// Text between elements is never lost.
        #[test]
        fn words_survive(
            pieces in prop::collection::vec((prop::sample::select(TAGS), "[a-z字]{1,8}"), 1..20),
        ) {
            let html = |(tag, word): &(&str, String)| format!("{tag} {word} ");
            let text = article(&pieces.iter().map(html).collect::<String>()).text;
            let is_word = |word: &&str| !matches!(*word, "|" | "-" | "##");
            let seen: Vec<&str> = text.split_whitespace().filter(is_word).collect();
            let words: Vec<&str> = pieces.iter().map(|(_, word)| word.as_str()).collect();
            prop_assert_eq!(seen, words);
        }
    }
}
