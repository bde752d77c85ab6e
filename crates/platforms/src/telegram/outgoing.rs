//! Messages as Telegram takes them: which parts go together, and how long a text may be. Lengths are
//! counted in UTF-16 units, as Telegram does.

use callgate_contract::Part;

use super::html::fence;
use crate::split::split_by;

/// Of a text beside a picture or a file.
const LONGEST_CAPTION: usize = 1_024;
/// Room for the fences of a block of code that is cut.
const FENCES: usize = 32;

/// `longest` counts UTF-16 units of text in one message.
pub(super) fn pieces(parts: &[Part], longest: usize) -> Vec<Vec<Part>> {
    let mut made = Pieces {
        done: Vec::new(),
        open: Vec::new(),
        longest,
    };
    for part in parts {
        match part {
            Part::Text { .. } | Part::Mention { .. } | Part::Reply { .. } => {
                made.open.push(part.clone());
            }
            Part::Forward { .. } => {
                let text = part.words().unwrap_or_default().into_owned();
                made.open.push(Part::Text { text });
            }
            Part::Image { .. } | Part::Audio { .. } | Part::Video { .. } | Part::File { .. } => {
                made.media(part, true);
            }
            // A sticker, a place, dice: nothing stands beside them.
            Part::Face { .. } | Part::Other { .. } => made.media(part, false),
        }
    }
    made.close();
    made.done
}

struct Pieces {
    done: Vec<Vec<Part>>,
    /// Text that waits for what it goes with.
    open: Vec<Part>,
    longest: usize,
}

impl Pieces {
    fn media(&mut self, part: &Part, has_caption: bool) {
        let fits = length(&self.open) <= LONGEST_CAPTION.min(self.longest);
        if !(has_caption && fits || !says_something(&self.open)) {
            self.close();
        }
        let mut piece = std::mem::take(&mut self.open);
        piece.retain(|it| !matches!(it, Part::Text { text } if text.trim().is_empty()));
        piece.push(part.clone());
        self.done.push(piece);
    }

    /// Text goes with the picture before it where that has none, else by itself.
    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        if !says_something(&open) {
            return;
        }
        if let Some(last) = self.done.last_mut()
            && let [.., part] = last.as_slice()
            && part.media().is_some()
            && !says_something(last)
            && length(&open) <= LONGEST_CAPTION.min(self.longest)
        {
            let at = last.len() - 1;
            last.splice(at..at, open);
            return;
        }
        if length(&open) <= self.longest {
            self.done.push(open);
            return;
        }
        let mut piece = Vec::new();
        let mut used = 0;
        for part in open {
            let texts = match part {
                Part::Text { text } if units(&text) > self.longest - used => {
                    cut(&text, self.longest)
                }
                part => {
                    used += length(std::slice::from_ref(&part));
                    piece.push(part);
                    continue;
                }
            };
            for text in texts {
                let more = units(&text);
                if used + more > self.longest && says_something(&piece) {
                    self.done.push(std::mem::take(&mut piece));
                    used = 0;
                }
                used += more;
                piece.push(Part::Text { text });
            }
        }
        if says_something(&piece) {
            self.done.push(piece);
        }
    }
}

/// A block of code that is cut is closed, and opened again in the next piece.
fn cut(text: &str, longest: usize) -> Vec<String> {
    let has_code = text.lines().any(|line| fence(line).is_some());
    if !has_code {
        return split_by(text, longest, char::len_utf16);
    }
    let mut opened: Option<String> = None;
    let pieces = split_by(text, longest.saturating_sub(FENCES).max(1), char::len_utf16);
    let pieces = pieces.into_iter().map(|piece| {
        let mut made = match &opened {
            Some(line) => format!("{line}\n{piece}"),
            None => piece.clone(),
        };
        for line in piece.lines() {
            let Some(ticks) = fence(line) else { continue };
            opened = match opened.take() {
                Some(_) => None,
                // A long name of a language would not fit again.
                None if line.len() <= FENCES / 2 => Some(line.trim().to_owned()),
                None => Some(ticks.to_owned()),
            };
        }
        if let Some(line) = &opened {
            let ticks = fence(line).unwrap_or("```");
            made.push('\n');
            made.push_str(ticks);
        }
        made
    });
    pieces.collect()
}

fn says_something(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Text { text } => !text.trim().is_empty(),
        Part::Mention { .. } => true,
        _ => false,
    })
}

pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn length(parts: &[Part]) -> usize {
    let lengths = parts.iter().map(|part| match part {
        Part::Text { text } => units(text),
        // With the blank after it.
        Part::Mention { id, name } => units(if name.is_empty() { id } else { name }) + 2,
        _ => 0,
    });
    lengths.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Part {
        Part::Image {
            url: "data:".into(),
        }
    }

    fn shown(parts: &[Part], longest: usize) -> Vec<String> {
        let words = |part: &Part| part.words().unwrap_or("*".into()).into_owned();
        let pieces = pieces(parts, longest);
        let pieces = pieces.iter();
        pieces.map(|it| it.iter().map(words).collect()).collect()
    }

    #[test]
    fn a_text_goes_with_its_picture_where_it_fits() {
        let reply = Part::Reply {
            to: "5".into(),
            text: None,
        };
        let see = Part::text("see");
        assert_eq!(
            shown(&[reply.clone(), see.clone(), image()], 4096),
            ["[reply to 5]see*"]
        );
        assert_eq!(shown(&[image(), see.clone()], 4096), ["see*"]);
        assert_eq!(shown(&[image(), image(), see.clone()], 4096), ["*", "see*"]);
        let long = Part::text("a".repeat(1_025));
        assert_eq!(shown(&[long, image()], 4096).len(), 2);
        let dice = Part::Other {
            kind: "dice".into(),
            data: serde_json::Map::new(),
        };
        assert_eq!(
            shown(&[see.clone(), dice, see], 4096),
            ["see", "[dice]", "see"]
        );
        assert_eq!(shown(&[reply.clone(), image()], 4096), ["[reply to 5]*"]);
        assert!(pieces(&[reply, Part::text(" ")], 4096).is_empty());
    }

    #[test]
    fn long_texts_are_several_messages() {
        // Each is two units.
        let faces = "😀".repeat(60);
        let made = pieces(&[Part::text(faces)], 50);
        let lengths: Vec<usize> = made.iter().map(|piece| length(piece)).collect();
        assert_eq!(lengths, [50, 50, 20]);
        let parts = [Part::text("One is. Two is. "), Part::text("Three is.")];
        assert_eq!(shown(&parts, 9), ["One is.", "Two is.", "Three is."]);
    }

    #[test]
    fn code_that_is_cut_is_code_in_each_piece() {
        let code = format!("```py\n{}\n```\nend", vec!["line"; 30].join("\n"));
        let made = shown(&[Part::text(code)], 100);
        assert!(made.len() > 2, "{made:?}");
        let (last, others) = made.split_last().unwrap();
        for piece in others {
            assert!(
                piece.starts_with("```py\n") && piece.ends_with("\n```"),
                "{piece}"
            );
            assert!(units(piece) <= 100);
        }
        assert!(
            last.starts_with("```py\n") && last.ends_with("```\nend"),
            "{last}"
        );
    }
}
