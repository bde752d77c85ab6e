//! Bytes of a stream to its lines and the data in them, whatever the chunks' borders.

/// Holds the line that has not ended yet. Characters cut by a chunk's border stay bytes here.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    buffer: Vec<u8>,
    /// How much of the buffer is known to hold no line's end.
    searched: usize,
}

impl Lines {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line without its end.
    pub(crate) fn next(&mut self) -> Option<String> {
        let rest = &self.buffer[self.searched..];
        let Some(found) = rest.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let line: Vec<u8> = self.buffer.drain(..=self.searched + found).collect();
        self.searched = 0;
        Some(text(&line))
    }

    /// What is left when the stream has ended: some servers leave out the last line's end.
    pub(crate) fn rest(&mut self) -> String {
        self.searched = 0;
        text(&std::mem::take(&mut self.buffer))
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line)
        .trim_end_matches(['\n', '\r'])
        .to_owned()
}

/// What one line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StreamLine<'a> {
    Data(&'a str),
    /// The blank line after an event.
    End,
    /// A comment, an event's name or id, a retry time.
    Other,
}

pub(crate) fn line(text: &str) -> StreamLine<'_> {
    if text.is_empty() {
        return StreamLine::End;
    }
    if let Some(data) = text.strip_prefix("data:") {
        return StreamLine::Data(data.strip_prefix(' ').unwrap_or(data));
    }
    // Some servers write a failure in the middle of a stream as a bare object.
    if text.starts_with('{') {
        StreamLine::Data(text)
    } else {
        StreamLine::Other
    }
}
