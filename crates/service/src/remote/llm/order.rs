//! [`Order`]: pieces of an answer in the order in which they were said. Compat(newage): every token is
//! a stream of its own, cut into numbered chunks; chunks may be repeated and come out of turn, and
//! nothing but the streams' beginnings says which token comes first.

use std::collections::{BTreeMap, VecDeque};

/// Streams that have begun and not ended, and chunks that wait; a client that leaves more open is
/// not taken seriously.
const MAX_OPEN: usize = 1_024;
const MAX_CHUNKS: usize = 4_096;

#[derive(Default)]
pub(super) struct Order {
    /// The first one's chunks pass; those of the others wait for it to end.
    streams: VecDeque<OpenStream>,
    waiting: usize,
}

struct OpenStream {
    id: String,
    next: u64,
    chunks: BTreeMap<u64, String>,
    ended: bool,
}

impl Order {
    /// Everything that began has ended.
    pub(super) fn is_settled(&self) -> bool {
        self.streams.is_empty()
    }

    pub(super) fn start(&mut self, id: &str) {
        if self.streams.len() < MAX_OPEN && self.stream(id).is_none() {
            self.streams.push_back(OpenStream {
                id: id.to_owned(),
                next: 0,
                chunks: BTreeMap::new(),
                ended: false,
            });
        }
    }

    /// What can be said now. A chunk of no stream that has begun begins it.
    pub(super) fn chunk(&mut self, id: &str, index: u64, text: &str) -> String {
        self.start(id);
        let room = self.waiting < MAX_CHUNKS;
        if let Some(stream) = self.stream(id)
            && index >= stream.next
            && !stream.ended
            && room
            && stream.chunks.insert(index, text.to_owned()).is_none()
        {
            self.waiting += 1;
        }
        self.sayable()
    }

    /// What can be said now: chunks that never came are not waited for.
    pub(super) fn end(&mut self, id: &str) -> String {
        if let Some(stream) = self.stream(id) {
            stream.ended = true;
        }
        self.sayable()
    }

    fn stream(&mut self, id: &str) -> Option<&mut OpenStream> {
        self.streams.iter_mut().find(|stream| stream.id == id)
    }

    fn sayable(&mut self) -> String {
        let mut said = String::new();
        while let Some(first) = self.streams.front_mut() {
            while let Some(entry) = first.chunks.first_entry() {
                if *entry.key() != first.next && !first.ended {
                    break;
                }
                first.next = entry.key() + 1;
                said.push_str(&entry.remove());
                self.waiting -= 1;
            }
            if !first.ended {
                break;
            }
            self.streams.pop_front();
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_pass_in_order_and_once() {
        let mut order = Order::default();
        order.start("a");
        assert_eq!(order.chunk("a", 1, "B"), "");
        assert_eq!(order.chunk("a", 0, "A"), "AB");
        assert_eq!(order.chunk("a", 0, "again"), "");
        assert_eq!(order.chunk("a", 2, "C"), "C");
        assert_eq!(order.end("a"), "");
        assert!(order.is_settled());
        assert_eq!(order.chunk("a", 0, "D"), "D", "it begins anew");
    }

    #[test]
    fn a_later_token_waits_for_the_one_before() {
        let mut order = Order::default();
        order.start("first");
        order.start("second");
        assert_eq!(order.chunk("second", 0, "2"), "");
        assert_eq!(order.end("second"), "");
        assert_eq!(order.chunk("first", 0, "1"), "1");
        assert_eq!(order.end("first"), "2");
        assert!(order.is_settled());
    }

    #[test]
    fn what_never_came_is_not_waited_for_at_the_end() {
        let mut order = Order::default();
        order.start("a");
        assert_eq!(order.chunk("a", 2, "c"), "");
        assert_eq!(order.chunk("a", 0, "a"), "a");
        assert_eq!(order.end("a"), "c");
        assert_eq!(order.end("never"), "");
    }

    #[test]
    fn a_flood_is_bounded() {
        let mut order = Order::default();
        for number in 0..3 * MAX_OPEN {
            order.start(&number.to_string());
        }
        for index in 1..3 * MAX_CHUNKS as u64 {
            assert_eq!(order.chunk("0", index, "x"), "");
        }
        assert_eq!(order.streams.len(), MAX_OPEN);
        assert_eq!(order.waiting, MAX_CHUNKS);
    }
}
