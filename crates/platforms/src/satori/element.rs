//! [`Element`]: what Satori's messages are made of, a little XML. Reading never fails: what is no tag is text.

/// Deeper than anybody writes; what is nested deeper stands beside instead of inside.
const DEEPEST: usize = 32;
/// They hold nothing, also where somebody forgot the slash.
const EMPTY: [&str; 4] = ["br", "img", "image", "at"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Text(String),
    Element(Element),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    /// A flag has no text; one that is denied (`no-forward`) is left out.
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Node>,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let mut found = self.attributes.iter().filter(|(key, _)| key == name);
        found
            .next()
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    pub(super) fn is(&self, flag: &str) -> bool {
        let mut found = self.attributes.iter().filter(|(key, _)| key == flag);
        found.next().is_some_and(|(_, value)| value != "false")
    }

    /// The first of that name right inside.
    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find_map(|node| match node {
            Node::Element(child) if child.name == name => Some(child),
            _ => None,
        })
    }
}

pub(super) fn parse(source: &str) -> Vec<Node> {
    // The first is the message itself.
    let mut open = vec![Element::default()];
    let mut text = String::new();
    let mut rest = source;
    while let Some(at) = rest.find('<') {
        let (before, tagged) = rest.split_at(at);
        text.push_str(before);
        let Some((tag, after)) = read_tag(tagged) else {
            text.push('<');
            rest = tagged.get(1..).unwrap_or_default();
            continue;
        };
        push_text(&mut open, &mut text);
        rest = after;
        match tag {
            Tag::Comment => {}
            Tag::Open(element) if open.len() <= DEEPEST => open.push(element),
            Tag::Open(element) | Tag::Empty(element) => push(&mut open, Node::Element(element)),
            Tag::Close(name) => {
                // One that was never opened closes nothing.
                if open.iter().skip(1).any(|element| element.name == name) {
                    while close(&mut open).is_some_and(|closed| closed != name) {}
                }
            }
        }
    }
    text.push_str(rest);
    push_text(&mut open, &mut text);
    while close(&mut open).is_some() {}
    open.pop().map(|root| root.children).unwrap_or_default()
}

/// Puts the innermost element into the one around it; its name.
fn close(open: &mut Vec<Element>) -> Option<String> {
    if open.len() < 2 {
        return None;
    }
    let element = open.pop()?;
    let name = element.name.clone();
    push(open, Node::Element(element));
    Some(name)
}

fn push(open: &mut [Element], node: Node) {
    if let Some(last) = open.last_mut() {
        last.children.push(node);
    }
}

/// Line breaks beside tags are how it was typed, and none of the message.
fn push_text(open: &mut [Element], text: &mut String) {
    let text = std::mem::take(text);
    let solid = text.trim();
    let (before, after) = match text.split_once(solid) {
        Some(around) if !solid.is_empty() => around,
        _ => (text.as_str(), ""),
    };
    let spaces = |text: &str| {
        if text.contains('\n') {
            String::new()
        } else {
            text.to_owned()
        }
    };
    let text = format!("{}{solid}{}", spaces(before), spaces(after));
    if !text.is_empty() {
        push(open, Node::Text(unescape(&text)));
    }
}

enum Tag {
    Comment,
    Open(Element),
    Empty(Element),
    Close(String),
}

/// The tag that the text begins with, and what follows it.
fn read_tag(text: &str) -> Option<(Tag, &str)> {
    if let Some(comment) = text.strip_prefix("<!--") {
        let (_, after) = comment.split_once("-->")?;
        return Some((Tag::Comment, after));
    }
    if let Some(close) = text.strip_prefix("</") {
        let (name, after) = close.split_once('>')?;
        let name = name.trim();
        return is_name(name).then(|| (Tag::Close(name.to_owned()), after));
    }
    let text = text.strip_prefix('<')?;
    let end = text.find(|c: char| !is_in_name(c))?;
    let (name, mut rest) = text.split_at(end);
    let ends = rest.starts_with(|c: char| c.is_whitespace() || "/>".contains(c));
    if !ends || !is_name(name) {
        return None;
    }
    let mut element = Element {
        name: name.to_owned(),
        ..Element::default()
    };
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("/>") {
            return Some((Tag::Empty(element), after));
        }
        if let Some(after) = rest.strip_prefix('>') {
            let is_empty = EMPTY.contains(&element.name.as_str());
            let tag = if is_empty {
                Tag::Empty(element)
            } else {
                Tag::Open(element)
            };
            return Some((tag, after));
        }
        rest = read_attribute(rest, &mut element.attributes)?;
    }
}

fn read_attribute<'a>(text: &'a str, into: &mut Vec<(String, String)>) -> Option<&'a str> {
    let end = text.find(|c: char| c.is_whitespace() || "=/>\"'<".contains(c))?;
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        return None;
    }
    let Some(value) = rest.strip_prefix('=') else {
        if !name.starts_with("no-") {
            into.push((name.to_owned(), String::new()));
        }
        return Some(rest);
    };
    let quote = value.chars().next().filter(|c| "\"'".contains(*c))?;
    let (value, rest) = value.get(1..)?.split_once(quote)?;
    into.push((name.to_owned(), unescape(value)));
    Some(rest)
}

/// Nothing at all is a name too: `<>` only holds together.
fn is_name(name: &str) -> bool {
    let begins = name.chars().next().is_none_or(|c| c.is_ascii_alphabetic());
    begins && name.chars().all(is_in_name)
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || "-_:.".contains(c)
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, marked) = rest.split_at(at);
        plain.push_str(before);
        let entity = marked.get(1..).and_then(|text| text.split_once(';'));
        match entity.and_then(|(name, after)| Some((letter(name)?, after))) {
            Some((letter, after)) => {
                plain.push(letter);
                rest = after;
            }
            None => {
                plain.push('&');
                rest = marked.get(1..).unwrap_or_default();
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn letter(entity: &str) -> Option<char> {
    Some(match entity {
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "amp" => '&',
        _ => {
            let number = entity.strip_prefix('#')?;
            let number = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(number.ok()?)?
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Node {
        Node::Text(text.to_owned())
    }

    fn element(name: &str, attributes: &[(&str, &str)], children: Vec<Node>) -> Node {
        let attributes = attributes
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Node::Element(Element {
            name: name.to_owned(),
            attributes: attributes.collect(),
            children,
        })
    }

    #[test]
    fn a_message_is_a_tree() {
        let source = "a &lt;b&gt; &#x4f60;<at id=\"1\" name='A &amp; B'/> <b>bold <i>both</i></b>\
                      <message forward no-x><!-- hidden --><author id=\"2\"/>hi</message>";
        let bold = vec![text("bold "), element("i", &[], vec![text("both")])];
        let forward = vec![element("author", &[("id", "2")], Vec::new()), text("hi")];
        assert_eq!(
            parse(source),
            [
                text("a <b> 你"),
                element("at", &[("id", "1"), ("name", "A & B")], Vec::new()),
                text(" "),
                element("b", &[], bold),
                element("message", &[("forward", "")], forward),
            ]
        );
    }

    #[test]
    fn what_is_no_tag_is_text() {
        for source in [
            "1 < 2", "<", "</", "<3", "a <b", "<at id=>", "<a b='c>", "&;&x;&#;",
        ] {
            assert_eq!(parse(source), [text(source)], "{source}");
        }
        assert_eq!(parse("a</b>c"), [text("a"), text("c")]);
        let unclosed = element(
            "b",
            &[],
            vec![text("a"), element("br", &[], vec![]), text("c")],
        );
        assert_eq!(parse("<b>a<br>c"), [unclosed]);
        assert_eq!(
            parse("<p>\n  a\n b\n</p>"),
            [element("p", &[], vec![text("a\n b")])]
        );
        assert!(parse("").is_empty());
    }

    #[test]
    fn depth_has_an_end() {
        fn depth(nodes: &[Node]) -> usize {
            let inner = nodes.iter().map(|node| match node {
                Node::Element(element) => 1 + depth(&element.children),
                Node::Text(_) => 0,
            });
            inner.max().unwrap_or(0)
        }
        assert!(depth(&parse(&"<b>".repeat(100_000))) <= DEEPEST + 1);
    }

    proptest! {
        #[test]
        fn text_comes_back(words in "[ -~你]{0,40}") {
            let read = parse(&escape(&words));
            let expected = if words.is_empty() { vec![] } else { vec![text(&words)] };
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn nothing_is_refused(source in "[<>/a-c \"'=&;!-]{0,60}") {
            parse(&source);
        }
    }
}
