//! Markup into tags and text, as browsers cut it, without judging how tags nest. What stands
//! between `<script>` and `</script>`, and in the like of it, is one token.

pub(super) enum Token<'a> {
    /// Entities not yet decoded.
    Text(&'a str),
    Open(Tag<'a>),
    /// Lower case.
    Close(String),
    /// A whole element whose content holds no tags, by name.
    Raw(&'static str, &'a str),
}

pub(super) struct Tag<'a> {
    /// Lower case.
    pub(super) name: String,
    /// `<name/>`
    pub(super) closed: bool,
    attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Tag<'a> {
    /// Entities not yet decoded.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a str> {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }
}

const RAW: [&str; 8] = [
    "title", "script", "style", "textarea", "iframe", "noembed", "noframes", "xmp",
];

pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(html: &'a str) -> Self {
        Tokens { rest: html }
    }

    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let Some(markup) = self.rest.strip_prefix('<') else {
                return self.text();
            };
            let is_name = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
            if is_name(markup) {
                return self.open(markup);
            }
            if let Some(closing) = markup.strip_prefix('/').filter(|text| is_name(text)) {
                let (name, rest) = name(closing);
                self.rest = after(rest, ">");
                return Some(Token::Close(name));
            }
            if let Some(comment) = markup.strip_prefix("!--") {
                self.rest = after(comment, "-->");
            } else if markup.starts_with(['!', '?', '/']) {
                self.rest = after(markup, ">");
            } else {
                self.rest = markup;
                return Some(Token::Text("<"));
            }
        }
    }

    /// Up to the next tag; `None` at the end.
    fn text(&mut self) -> Option<Token<'a>> {
        let end = self.rest.find('<').unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!text.is_empty()).then_some(Token::Text(text))
    }

    fn open(&mut self, markup: &'a str) -> Option<Token<'a>> {
        let (name, mut rest) = name(markup);
        let (mut attributes, mut closed) = (Vec::new(), false);
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('>') {
                self.rest = after;
                break;
            } else if let Some(after) = rest.strip_prefix('/') {
                closed = after.starts_with('>');
                rest = after;
            } else if rest.is_empty() {
                // A tag that the page ends in is no tag.
                self.rest = rest;
                return None;
            } else {
                let (key, value, after) = attribute(rest);
                attributes.push((key, value));
                rest = after;
            }
        }
        Some(match RAW.into_iter().find(|raw| *raw == name) {
            Some(raw) => Token::Raw(raw, self.raw(raw)),
            None => Token::Open(Tag {
                name,
                closed,
                attributes,
            }),
        })
    }

    /// What is before `</name>`, which is passed.
    fn raw(&mut self, name: &str) -> &'a str {
        let closes = |at: usize| {
            let tag = self.rest.get(at + 2..).unwrap_or_default();
            let found = tag.split_at_checked(name.len());
            found.is_some_and(|(found, after)| {
                found.eq_ignore_ascii_case(name)
                    && (after.is_empty() || after.starts_with(ends_name))
            })
        };
        let mut candidates = self.rest.match_indices("</").map(|(at, _)| at);
        let end = candidates.find(|at| closes(*at));
        let (text, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = after(rest, ">");
        text
    }
}

fn ends_name(c: char) -> bool {
    c.is_ascii_whitespace() || matches!(c, '/' | '>')
}

/// What follows `mark`; nothing if it never comes.
fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    text.split_once(mark).map_or("", |(_, rest)| rest)
}

fn name(text: &str) -> (String, &str) {
    let end = text.find(ends_name).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (name.to_ascii_lowercase(), rest)
}

/// Name, value and the rest. Takes at least one character.
fn attribute(text: &str) -> (&str, &str, &str) {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let ends = |c: char| ends_name(c) || c == '=';
    let end = text
        .char_indices()
        .find(|(at, c)| *at >= first && ends(*c))
        .map_or(text.len(), |(at, _)| at);
    let (key, rest) = text.split_at(end);
    let Some(value) = rest.trim_start().strip_prefix('=') else {
        return (key, "", rest);
    };
    let value = value.trim_start();
    for quote in ["\"", "'"] {
        if let Some(quoted) = value.strip_prefix(quote) {
            let (value, rest) = quoted.split_once(quote).unwrap_or((quoted, ""));
            return (key, value, rest);
        }
    }
    let unquoted = |c: char| c.is_ascii_whitespace() || c == '>';
    let end = value.find(unquoted).unwrap_or(value.len());
    let (value, rest) = value.split_at(end);
    (key, value, rest)
}
