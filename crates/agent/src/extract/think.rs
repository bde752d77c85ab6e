//! Where a model thinks aloud. A tag counts outside of fences and of `inline code` only.

const NAMES: [&str; 2] = ["think", "thinking"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Open,
    Close,
}

/// The first tag in `line` that counts, and what stands before it. One that opens in the middle of
/// a line counts only if an end comes after it, the last being `last_close` bytes from the line's
/// start: a sentence about `<think>` must not hide the rest. One that closes counts only at either
/// end of its line.
pub(super) fn find(line: &str, last_close: Option<usize>) -> Option<(&str, Tag)> {
    let mut from = 0;
    while let Some((before, tag, end)) = next(line, from) {
        from = end;
        let at_start = before.trim().is_empty();
        let in_code = before.matches('`').count() % 2 == 1;
        let counts = match tag {
            Tag::Open => at_start || last_close.is_some_and(|close| close >= end),
            Tag::Close => at_start || line.get(end..).is_some_and(|rest| rest.trim().is_empty()),
        };
        if counts && !in_code {
            return Some((before, tag));
        }
    }
    None
}

/// `text` begins with an opening tag: what it holds, to the end that matches, and what follows.
/// Where not every tag is closed the last end counts; where none is, all of it is thought.
pub(super) fn inside(text: &str) -> (&str, &str) {
    let start = tag_at(text).map_or(0, |(_, len)| len);
    let (mut depth, mut from, mut last) = (1usize, start, None);
    while let Some((before, tag, end)) = next(text, from) {
        from = end;
        match tag {
            Tag::Open => depth += 1,
            Tag::Close => {
                depth -= 1;
                last = Some((before.len(), end));
                if depth == 0 {
                    break;
                }
            }
        }
    }
    let (close, end) = last.unwrap_or((text.len(), text.len()));
    let thought = text.get(start..close).unwrap_or_default();
    (thought, text.get(end..).unwrap_or_default())
}

/// What follows the tag that `text` begins with.
pub(super) fn after_tag(text: &str) -> Option<&str> {
    tag_at(text).and_then(|(_, len)| text.get(len..))
}

/// Where the last closing tag begins.
pub(super) fn last_close(text: &str) -> Option<usize> {
    let closes = |at: &usize| {
        let tag = text.get(*at..).and_then(tag_at);
        tag.is_some_and(|(tag, _)| tag == Tag::Close)
    };
    text.rmatch_indices('<').map(|(at, _)| at).find(closes)
}

/// The next tag at or after `from`: all text before it, what it is, and where it ends.
fn next(text: &str, from: usize) -> Option<(&str, Tag, usize)> {
    let rest = text.get(from..)?;
    rest.match_indices('<').find_map(|(at, _)| {
        let (tag, len) = tag_at(rest.get(at..)?)?;
        Some((text.get(..from + at)?, tag, from + at + len))
    })
}

/// The tag that `text` begins with, and its length.
fn tag_at(text: &str) -> Option<(Tag, usize)> {
    let body = text.strip_prefix('<')?;
    let (tag, body) = match body.strip_prefix('/') {
        Some(body) => (Tag::Close, body),
        None => (Tag::Open, body),
    };
    let rest = NAMES.iter().find_map(|name| {
        let (found, rest) = body.split_at_checked(name.len())?;
        let rest = rest.strip_prefix('>')?;
        found.eq_ignore_ascii_case(name).then_some(rest)
    })?;
    Some((tag, text.len() - rest.len()))
}
