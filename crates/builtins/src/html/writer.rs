//! Lays out the text of a page: one space between words, one or two line ends between blocks.

/// What separates two pieces of text, the stronger the greater.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

impl Gap {
    fn written(self) -> &'static str {
        match self {
            Gap::None => "",
            Gap::Space => " ",
            Gap::Line => "\n",
            Gap::Paragraph => "\n\n",
        }
    }
}

#[derive(Default)]
pub(super) struct TextWriter {
    out: String,
    /// Owed before the next text, so that none stands at either end.
    gap: Gap,
    /// Owed likewise: what begins a heading, an item or a cell.
    mark: String,
    preformatted: bool,
    link: Option<Link>,
}

struct Link {
    url: String,
    /// Where its words begin in `out`, once there are any.
    start: Option<usize>,
}

const CELL: &str = "| ";

/// Bytes. What is longer is a part of the page inside a link, or a link never closed.
const MAX_LABEL: usize = 500;

impl TextWriter {
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.preformatted {
            if !text.is_empty() {
                self.settle();
                self.out.push_str(text);
            }
            return;
        }
        if text.starts_with(is_space) {
            self.gap = self.gap.max(Gap::Space);
        }
        for word in text.split(is_space).filter(|word| !word.is_empty()) {
            self.settle();
            self.out.push_str(word);
            self.gap = Gap::Space;
        }
        if !text.ends_with(is_space) && self.gap == Gap::Space {
            self.gap = Gap::None;
        }
    }

    /// A block begins. The first one of an item or a heading stays on its line.
    pub(super) fn open(&mut self, gap: Gap) {
        if self.mark.is_empty() || self.mark == CELL {
            self.close(gap);
        }
    }

    pub(super) fn close(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
        self.mark.clear();
    }

    /// `mark` begins the line that comes next.
    pub(super) fn mark(&mut self, mark: &str) {
        mark.clone_into(&mut self.mark);
    }

    pub(super) fn cell(&mut self) {
        let begins_line = self.out.is_empty() || self.gap > Gap::Space;
        if !begins_line {
            self.gap = Gap::Space;
            self.mark(CELL);
        }
    }

    pub(super) fn preformatted(&mut self, begins: bool) {
        self.preformatted = begins;
    }

    /// Ends the link before, if any; `None` begins none.
    pub(super) fn link(&mut self, link: Option<String>) {
        if let Some(Link {
            url,
            start: Some(start),
        }) = self.link.take()
        {
            let words = self.out.split_off(start);
            self.out += &linked(words, &url);
        }
        self.link = link.map(|url| Link { url, start: None });
    }

    pub(super) fn finish(mut self) -> String {
        self.link(None);
        self.out.trim().to_owned()
    }

    /// Pays what is owed before text.
    fn settle(&mut self) {
        if !self.out.is_empty() {
            self.out += self.gap.written();
        }
        self.out += &self.mark;
        self.gap = Gap::None;
        self.mark.clear();
        if let Some(link) = &mut self.link {
            link.start.get_or_insert(self.out.len());
        }
    }
}

fn linked(label: String, url: &str) -> String {
    let words: Vec<&str> = label.split_whitespace().collect();
    match label.len() {
        ..=MAX_LABEL if !words.is_empty() => format!("[{}]({url})", words.join(" ")),
        _ => label,
    }
}

/// Not the no-break spaces, which are characters of their own.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C')
}
