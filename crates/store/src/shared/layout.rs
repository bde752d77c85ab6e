//! [`Splice`]: where a request has words that a row shares in the place of its own.

use serde::{Deserialize, Serialize};

use super::known::Place;

/// The row that a request is in, whose number it is written without.
pub(super) const THIS: i64 = 0;

/// In JSON its four numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Numbers", into = "Numbers")]
pub(super) struct Splice {
    /// How many bytes of the request's own come first.
    own: usize,
    pub(super) row: i64,
    from: usize,
    length: usize,
}

type Numbers = (usize, i64, usize, usize);

impl From<Numbers> for Splice {
    fn from((own, row, from, length): Numbers) -> Self {
        Splice {
            own,
            row,
            from,
            length,
        }
    }
}

impl From<Splice> for Numbers {
    fn from(splice: Splice) -> Self {
        (splice.own, splice.row, splice.from, splice.length)
    }
}

/// A request as it is written: words of its own, and what lies between them.
#[derive(Default)]
pub(super) struct Layout {
    pub(super) own: String,
    pub(super) splices: Vec<Splice>,
    /// Own bytes after the last splice.
    rest: usize,
}

impl Layout {
    pub(super) fn push_own(&mut self, text: &str) {
        self.own.push_str(text);
        self.rest += text.len();
    }

    /// What follows one another there too is one splice.
    pub(super) fn push_shared(&mut self, place: &Place) {
        let (from, length) = (place.range.start, place.range.len());
        match self.splices.last_mut() {
            Some(last)
                if self.rest == 0 && (last.row, last.from + last.length) == (place.row, from) =>
            {
                last.length += length;
            }
            _ => self.splices.push(Splice {
                own: std::mem::take(&mut self.rest),
                row: place.row,
                from,
                length,
            }),
        }
    }
}

/// The text that was laid out; `None` where it does not fit together.
pub(super) fn join<'a>(
    own: &str,
    splices: &[Splice],
    shared: impl Fn(i64) -> Option<&'a str>,
) -> Option<String> {
    let (mut text, mut rest) = (String::new(), own);
    for splice in splices {
        let (before, after) = rest.split_at_checked(splice.own)?;
        let end = splice.from.checked_add(splice.length)?;
        text.push_str(before);
        text.push_str(shared(splice.row)?.get(splice.from..end)?);
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}
