//! Counts deltas and bytes of an event stream without decoding it, and checks that it is complete.

use memchr::memmem;

const DELTA: &[u8] = br#""type":"text-delta""#;
const DONE: &[u8] = b"data: [DONE]\n\n";
/// The end of one piece that may be the beginning of a delta marker in the next.
const CARRY: usize = DELTA.len() - 1;

pub(crate) struct Counter {
    pub(crate) deltas: u64,
    pub(crate) bytes: u64,
    /// The last bytes; at the end of a complete stream they are its last event.
    tail: [u8; CARRY],
    delta: memmem::Finder<'static>,
}

impl Counter {
    pub(crate) fn new() -> Self {
        Self { deltas: 0, bytes: 0, tail: [0; CARRY], delta: memmem::Finder::new(DELTA) }
    }

    pub(crate) fn feed(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let head = piece.len().min(CARRY);
        let mut seam = [0; 2 * CARRY];
        seam[..CARRY].copy_from_slice(&self.tail);
        seam[CARRY..CARRY + head].copy_from_slice(&piece[..head]);
        self.deltas += self.delta.find_iter(&seam[..CARRY + head]).count() as u64;
        self.deltas += self.delta.find_iter(piece).count() as u64;
        match piece.last_chunk() {
            Some(last) => self.tail = *last,
            None => self.tail.copy_from_slice(&seam[head..CARRY + head]),
        }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.tail.ends_with(DONE)
    }
}

const _: () = assert!(DONE.len() <= CARRY);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_are_counted_in_any_chunking() {
        let event = "id: 7\ndata: {\"type\":\"text-delta\",\"id\":\"t1\",\"delta\":\"xx\"}\n\n";
        let stream = format!("retry: 1000\n\n{}data: [DONE]\n\n", event.repeat(9));
        for size in 1..stream.len() {
            let mut counter = Counter::new();
            for piece in stream.as_bytes().chunks(size) {
                assert!(!counter.is_whole());
                counter.feed(piece);
            }
            assert_eq!((counter.deltas, counter.is_whole()), (9, true), "pieces of {size}");
            assert_eq!(counter.bytes, stream.len() as u64);
        }
    }
}
