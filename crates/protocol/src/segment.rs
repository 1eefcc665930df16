//! Consecutive chunks as the bytes sent over the wire. A chunk is serialized once; the same bytes are stored, cached and
//! sent to every reader.

use bytes::{BufMut, Bytes, BytesMut};

use crate::chunk::Chunk;

/// The position of a chunk in its log: 1, 2, 3, … without gaps. 0 is before the first.
pub type Seq = u64;

/// Consecutive events `first..=last`, each `id: N\ndata: {json}\n\n`. JSON contains no raw line breaks, so only an empty
/// line ends an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub first: Seq,
    pub last: Seq,
    pub bytes: Bytes,
}

/// One event of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentFrame<'a> {
    pub seq: Seq,
    /// The chunk's JSON.
    pub json: &'a [u8],
    /// The whole event with its id and the empty line.
    pub event: &'a [u8],
}

impl Segment {
    pub fn frames(&self) -> SegmentFrames<'_> {
        SegmentFrames { rest: &self.bytes, next: self.first }
    }

    /// The part of this segment after `cursor`, if any. Shares the bytes.
    pub fn after(&self, cursor: Seq) -> Option<Self> {
        if cursor >= self.last {
            return None;
        }
        if cursor < self.first {
            return Some(self.clone());
        }
        let skipped: usize =
            self.frames().take_while(|frame| frame.seq <= cursor).map(|f| f.event.len()).sum();
        Some(Self { first: cursor + 1, last: self.last, bytes: self.bytes.slice(skipped..) })
    }
}

pub struct SegmentFrames<'a> {
    rest: &'a [u8],
    next: Seq,
}

impl<'a> Iterator for SegmentFrames<'a> {
    type Item = SegmentFrame<'a>;

    fn next(&mut self) -> Option<SegmentFrame<'a>> {
        let end = memchr::memmem::find(self.rest, b"\n\n")? + 2;
        let (event, rest) = self.rest.split_at(end);
        let data = memchr::memmem::find(event, b"\ndata: ")? + "\ndata: ".len();
        let frame = SegmentFrame { seq: self.next, json: &event[data..end - 2], event };
        self.rest = rest;
        self.next += 1;
        Some(frame)
    }
}

/// Serializes chunks into the next segment of a log.
#[derive(Clone, Debug)]
pub struct SegmentBuilder {
    first: Seq,
    next: Seq,
    buffer: BytesMut,
}

impl SegmentBuilder {
    /// A builder whose first chunk follows `last`.
    pub fn following(last: Seq) -> Self {
        Self { first: last + 1, next: last + 1, buffer: BytesMut::new() }
    }

    pub fn push(&mut self, chunk: &Chunk) -> Seq {
        let seq = self.next;
        event(&mut self.buffer, seq, chunk);
        self.next += 1;
        seq
    }

    /// The position of the next chunk.
    pub fn next_seq(&self) -> Seq {
        self.next
    }

    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Bytes written since the last `take`.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// The chunks pushed since the last call, if any.
    pub fn take(&mut self) -> Option<Segment> {
        if self.buffer.is_empty() {
            return None;
        }
        let segment =
            Segment { first: self.first, last: self.next - 1, bytes: self.buffer.split().freeze() };
        self.first = self.next;
        Some(segment)
    }
}

/// Appends one event to `buffer`.
pub fn event(buffer: &mut BytesMut, seq: Seq, chunk: &Chunk) {
    use std::fmt::Write;
    write!(buffer, "id: {seq}\ndata: ").expect("writing to a growing buffer cannot fail");
    serde_json::to_writer(buffer.writer(), chunk).expect("a chunk has only string keys");
    buffer.put_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn delta(text: &str) -> Chunk {
        Chunk::TextDelta { id: "t1".into(), delta: text.into() }
    }

    fn segment(texts: &[String]) -> Segment {
        let mut builder = SegmentBuilder::following(4);
        for text in texts {
            builder.push(&delta(text));
        }
        builder.take().expect("not empty")
    }

    #[test]
    fn a_builder_continues_its_numbering_after_a_take() {
        let mut builder = SegmentBuilder::following(0);
        assert_eq!(builder.push(&Chunk::StartStep), 1);
        let first = builder.take().expect("one chunk");
        assert_eq!((first.first, first.last), (1, 1));
        assert!(builder.take().is_none());
        assert_eq!(builder.push(&Chunk::FinishStep), 2);
        assert_eq!(
            &builder.take().expect("one chunk").bytes[..],
            b"id: 2\ndata: {\"type\":\"finish-step\"}\n\n"
        );
    }

    proptest! {
        #[test]
        fn no_text_can_imitate_an_event(texts in prop::collection::vec("(\\PC|\n|\r|\n\ndata: x|id: 9|\u{2028}){0,12}", 1..8)) {
            let segment = segment(&texts);
            let read: Vec<Chunk> = segment
                .frames()
                .map(|f| serde_json::from_slice(f.json).expect("each frame is one chunk"))
                .collect();
            prop_assert_eq!(read, texts.iter().map(|t| delta(t)).collect::<Vec<_>>());
        }

        #[test]
        fn the_part_after_a_cursor_is_exactly_the_rest(n in 1usize..9, cursor in 0u64..16) {
            let texts: Vec<String> = (0..n).map(|i| i.to_string()).collect();
            let whole = segment(&texts);
            let want: Vec<Seq> = (whole.first..=whole.last).filter(|s| *s > cursor).collect();
            let got: Vec<Seq> = whole.after(cursor).map(|s| s.frames().map(|f| f.seq).collect()).unwrap_or_default();
            prop_assert_eq!(got, want);
        }
    }
}
