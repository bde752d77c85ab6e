//! A message's elements in a row: what only shapes text (bold, paragraphs, links) becomes text, all else stays an
//! element between texts.

use super::element::{Element, Node};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Element(Element),
}

/// They shape the text inside them, and stand in its line.
const INLINE: [&str; 23] = [
    "",
    "template",
    "b",
    "strong",
    "bold",
    "i",
    "em",
    "italic",
    "u",
    "ins",
    "underline",
    "s",
    "del",
    "strike",
    "spl",
    "spoiler",
    "code",
    "sup",
    "superscript",
    "sub",
    "subscript",
    "span",
    "text",
];
/// They stand on lines of their own.
const BLOCK: [&str; 16] = [
    "p",
    "paragraph",
    "div",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "section",
    "message",
];

pub(super) fn flatten(nodes: &[Node]) -> Vec<Piece> {
    let mut row = Row::default();
    row.push_all(nodes);
    row.pieces
}

/// In words, mentions as `@` and what `whom` makes of them.
pub(super) fn words(nodes: &[Node], whom: fn(&Element) -> Option<&str>) -> String {
    let words = flatten(nodes).into_iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Element(element) => match element.name.as_str() {
            "at" => format!("@{}", whom(&element).unwrap_or_default()),
            "sharp" => format!("#{}", name_or_id(&element).unwrap_or_default()),
            "emoji" | "face" => format!("[{}]", name_or_id(&element).unwrap_or_default()),
            "quote" => String::new(),
            "image" => "[img]".to_owned(),
            name => format!("[{name}]"),
        },
    });
    words.collect()
}

pub(super) fn name_or_id(element: &Element) -> Option<&str> {
    element
        .attribute("name")
        .or(element.attribute("id"))
        .or(element.attribute("role"))
        .or(element.attribute("type"))
}

#[derive(Default)]
struct Row {
    pieces: Vec<Piece>,
    /// What comes next begins a line.
    breaks: bool,
}

impl Row {
    fn push_all(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Text(text) => self.push_text(text),
                Node::Element(element) => self.push(element),
            }
        }
    }

    fn push(&mut self, element: &Element) {
        match element.name.as_str() {
            "br" => {
                self.push_text("\n");
            }
            "a" | "link" => self.push_link(element),
            // Whom a message is shown as from; that is no part of what it says.
            "author" => {}
            // Passed on: a thing of its own.
            "message" if element.is("forward") => self.push_element(element),
            name if INLINE.contains(&name) => {
                if let Some(text) = element.attribute("content").filter(|_| name == "text") {
                    self.push_text(text);
                }
                self.push_all(&element.children);
            }
            name if BLOCK.contains(&name) => {
                self.breaks = true;
                self.push_all(&element.children);
                self.breaks = true;
            }
            _ => self.push_element(element),
        }
    }

    fn push_link(&mut self, element: &Element) {
        let before = self.pieces.len();
        self.push_all(&element.children);
        let Some(href) = element.attribute("href") else {
            return;
        };
        let says_so = matches!(&element.children[..], [Node::Text(text)] if text == href);
        if self.pieces.len() == before && element.children.is_empty() {
            self.push_text(href);
        } else if !says_so {
            self.push_text(&format!(" ({href})"));
        }
    }

    fn push_element(&mut self, element: &Element) {
        self.begin();
        self.pieces.push(Piece::Element(element.clone()));
    }

    fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.begin();
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    fn begin(&mut self) {
        if !std::mem::take(&mut self.breaks) {
            return;
        }
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) if last.ends_with('\n') => {}
            Some(Piece::Text(last)) => last.push('\n'),
            // Pictures and quotes stand apart anyway.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::element::parse, *};

    #[test]
    fn shapes_become_text_and_the_rest_stays() {
        for (source, expected) in [
            ("a <b>b <i>c</i></b> d", "a b c d"),
            (
                "<p>one</p><p>two</p>three<br/>four",
                "one\ntwo\nthree\nfour",
            ),
            ("<a href=\"http://h\">there</a>", "there (http://h)"),
            (
                "<a href=\"http://h\"/> <a href=\"http://h\">http://h</a>",
                "http://h http://h",
            ),
            (
                "hi <at id=\"1\" name=\"Ann\"/>!<img src=\"x\"/>",
                "hi @Ann![img]",
            ),
            ("<quote id=\"3\">old</quote>new", "new"),
            ("<message>a</message><message>b</message>", "a\nb"),
            (
                "<message forward><message>a</message></message>",
                "[message]",
            ),
            (
                "<author id=\"1\"/><emoji id=\"5\"/><sharp id=\"7\" name=\"all\"/>",
                "[5]#all",
            ),
        ] {
            assert_eq!(words(&parse(source), name_or_id), expected, "{source}");
        }
    }
}
