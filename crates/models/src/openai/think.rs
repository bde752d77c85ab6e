//! Thoughts that a server leaves in the text, `<think>...</think>` at its beginning, told apart
//! from it as they arrive.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

#[derive(Debug)]
pub(super) enum ThinkSplitter {
    /// Nothing but what may become the opening tag.
    Before(String),
    /// The end of the thoughts so far, which may become the closing tag.
    Inside(String),
    After,
}

impl Default for ThinkSplitter {
    fn default() -> Self {
        ThinkSplitter::Before(String::new())
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SplitText {
    pub(super) reasoning: String,
    pub(super) text: String,
}

impl ThinkSplitter {
    pub(super) fn push(&mut self, piece: &str) -> SplitText {
        match self {
            ThinkSplitter::After => SplitText {
                reasoning: String::new(),
                text: piece.to_owned(),
            },
            ThinkSplitter::Before(held) => {
                held.push_str(piece);
                let begun = held.trim_start();
                if let Some(inside) = begun.strip_prefix(OPEN) {
                    let inside = inside.to_owned();
                    *self = ThinkSplitter::Inside(String::new());
                    return self.push(&inside);
                }
                if OPEN.starts_with(begun) {
                    return SplitText::default();
                }
                let text = std::mem::take(held);
                *self = ThinkSplitter::After;
                SplitText {
                    reasoning: String::new(),
                    text,
                }
            }
            ThinkSplitter::Inside(held) => {
                held.push_str(piece);
                if let Some((reasoning, text)) = held.split_once(CLOSE) {
                    let split = SplitText {
                        reasoning: reasoning.to_owned(),
                        text: text.trim_start().to_owned(),
                    };
                    *self = ThinkSplitter::After;
                    return split;
                }
                let kept = (1..CLOSE.len())
                    .rev()
                    .find(|length| CLOSE.get(..*length).is_some_and(|tag| held.ends_with(tag)));
                let tail = held.split_off(held.len() - kept.unwrap_or(0));
                SplitText {
                    reasoning: std::mem::replace(held, tail),
                    text: String::new(),
                }
            }
        }
    }

    /// What was held back, once nothing more will come.
    pub(super) fn end(&mut self) -> SplitText {
        match std::mem::replace(self, ThinkSplitter::After) {
            ThinkSplitter::Before(text) => SplitText {
                reasoning: String::new(),
                text,
            },
            ThinkSplitter::Inside(reasoning) => SplitText {
                reasoning,
                text: String::new(),
            },
            ThinkSplitter::After => SplitText::default(),
        }
    }
}
