//! Merges a whole turn into few events: consecutive deltas of one part become one delta with the id of the last one, and
//! transient parts, which a client must not see twice, are omitted.

use bytes::{Bytes, BytesMut};

use crate::chunk::Chunk;
use crate::segment::{Segment, Seq, event};

/// Maximum size of a merged delta, so that a replay never buffers a whole turn.
const MERGED_BYTES: usize = 64 * 1024;

/// Takes segments in order and returns the events to send.
#[derive(Default)]
pub struct DeltaMerger {
    open: Option<(Seq, Chunk)>,
}

impl DeltaMerger {
    /// The events that are complete after `segment`; the last sequence of deltas is held back.
    pub fn feed(&mut self, segment: &Segment) -> Bytes {
        let mut out = BytesMut::new();
        for frame in segment.frames() {
            match serde_json::from_slice::<Chunk>(frame.json) {
                Ok(chunk) => self.take(frame.seq, chunk, &mut out),
                // An unknown chunk of a newer version is passed on unchanged.
                Err(_) => {
                    self.flush(&mut out);
                    out.extend_from_slice(frame.event);
                }
            }
        }
        out.freeze()
    }

    /// The deltas that were held back.
    pub fn finish(&mut self) -> Bytes {
        let mut out = BytesMut::new();
        self.flush(&mut out);
        out.freeze()
    }

    fn take(&mut self, seq: Seq, chunk: Chunk, out: &mut BytesMut) {
        if matches!(chunk, Chunk::DataStatus { transient: true, .. }) {
            return;
        }
        if let Some((last, run)) = &mut self.open
            && join(run, &chunk)
        {
            *last = seq;
            return;
        }
        self.flush(out);
        if is_delta(&chunk) {
            self.open = Some((seq, chunk));
        } else {
            event(out, seq, &chunk);
        }
    }

    fn flush(&mut self, out: &mut BytesMut) {
        if let Some((seq, chunk)) = self.open.take() {
            event(out, seq, &chunk);
        }
    }
}

fn is_delta(chunk: &Chunk) -> bool {
    matches!(
        chunk,
        Chunk::TextDelta { .. } | Chunk::ReasoningDelta { .. } | Chunk::ToolInputDelta { .. }
    )
}

/// Appends `next` to `run` if it continues the same part.
fn join(run: &mut Chunk, next: &Chunk) -> bool {
    let (text, more) = match (run, next) {
        (Chunk::TextDelta { id: a, delta: text }, Chunk::TextDelta { id: b, delta: more })
        | (
            Chunk::ReasoningDelta { id: a, delta: text },
            Chunk::ReasoningDelta { id: b, delta: more },
        ) if a == b => (text, more),
        (
            Chunk::ToolInputDelta { tool_call_id: a, input_text_delta: text },
            Chunk::ToolInputDelta { tool_call_id: b, input_text_delta: more },
        ) if a == b => (text, more),
        _ => return false,
    };
    if text.len() >= MERGED_BYTES {
        return false;
    }
    text.push_str(more);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::SegmentBuilder;

    fn delta(id: &str, delta: &str) -> Chunk {
        Chunk::TextDelta { id: id.into(), delta: delta.into() }
    }

    #[test]
    fn a_replay_merges_deltas_of_one_part_and_omits_transient_parts() {
        let mut log = SegmentBuilder::following(0);
        let mut merger = DeltaMerger::default();
        let mut got = BytesMut::new();
        for chunks in [
            vec![Chunk::TextStart { id: "a".into() }, delta("a", "Hel"), Chunk::status("working")],
            vec![
                delta("a", "lo"),
                delta("b", "x"),
                Chunk::TextEnd { id: "a".into() },
                delta("b", "y"),
            ],
        ] {
            for chunk in &chunks {
                log.push(chunk);
            }
            got.extend_from_slice(&merger.feed(&log.take().expect("chunks")));
        }
        got.extend_from_slice(&merger.finish());
        let want = concat!(
            "id: 1\ndata: {\"type\":\"text-start\",\"id\":\"a\"}\n\n",
            "id: 4\ndata: {\"type\":\"text-delta\",\"id\":\"a\",\"delta\":\"Hello\"}\n\n",
            "id: 5\ndata: {\"type\":\"text-delta\",\"id\":\"b\",\"delta\":\"x\"}\n\n",
            "id: 6\ndata: {\"type\":\"text-end\",\"id\":\"a\"}\n\n",
            "id: 7\ndata: {\"type\":\"text-delta\",\"id\":\"b\",\"delta\":\"y\"}\n\n",
        );
        assert_eq!(std::str::from_utf8(&got).expect("text"), want);
    }

    #[test]
    fn an_unknown_chunk_is_passed_on_unchanged() {
        let event = "id: 1\ndata: {\"type\":\"data-new\",\"data\":1}\n\n";
        let segment = Segment { first: 1, last: 1, bytes: Bytes::from_static(event.as_bytes()) };
        assert_eq!(&DeltaMerger::default().feed(&segment)[..], event.as_bytes());
    }
}
