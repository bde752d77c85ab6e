//! What a run printed: the head and the tail are kept, all of it is counted and streamed. The text
//! is data; nothing in it is ever interpreted.

use std::collections::VecDeque;

use callgate_contract::OutputListener;

pub(crate) struct OutputBuffer {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    pub(crate) total: u64,
    listener: Option<OutputListener>,
    /// The bytes of a character that is not complete yet.
    unfinished: Vec<u8>,
}

impl OutputBuffer {
    pub(crate) fn new(kept: usize, listener: Option<OutputListener>) -> Self {
        OutputBuffer {
            head: Vec::new(),
            tail: VecDeque::new(),
            half: kept / 2,
            total: 0,
            listener,
            unfinished: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.tell(bytes);
    }

    fn tell(&mut self, bytes: &[u8]) {
        let Some(listener) = &mut self.listener else {
            return;
        };
        self.unfinished.extend_from_slice(bytes);
        let complete = match std::str::from_utf8(&self.unfinished) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.unfinished.len(),
        };
        let rest = self.unfinished.split_off(complete);
        if !self.unfinished.is_empty() {
            listener(&String::from_utf8_lossy(&self.unfinished));
        }
        self.unfinished = rest;
    }

    pub(crate) fn into_text(self) -> (String, u64) {
        let kept = self.head.len() + self.tail.len();
        let left_out = self.total - kept as u64;
        let head = String::from_utf8_lossy(&self.head);
        let tail: Vec<u8> = self.tail.into();
        let text = if left_out == 0 {
            let mut whole = self.head;
            whole.extend(tail);
            String::from_utf8_lossy(&whole).into_owned()
        } else {
            let tail = String::from_utf8_lossy(&tail);
            format!("{head}\n[... {left_out} bytes left out ...]\n{tail}")
        };
        (text, self.total)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn head_and_tail_are_kept() {
        let mut output = OutputBuffer::new(8, None);
        for chunk in [b"abc".as_slice(), b"defgh", b"ijklmnop"] {
            output.push(chunk);
        }
        let (text, total) = output.into_text();
        assert_eq!(text, "abcd\n[... 8 bytes left out ...]\nmnop");
        assert_eq!(total, 16);
    }

    #[test]
    fn a_split_character_reaches_the_listener_whole() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = heard.clone();
        let listener = move |text: &str| sink.lock().unwrap().push(text.to_owned());
        let mut output = OutputBuffer::new(100, Some(Box::new(listener)));
        let bytes = "a门b".as_bytes();
        output.push(&bytes[..2]);
        output.push(&bytes[2..]);
        assert_eq!(*heard.lock().unwrap(), ["a", "门b"]);
        assert_eq!(output.into_text().0, "a门b");
    }
}
