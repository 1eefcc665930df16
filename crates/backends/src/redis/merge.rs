//! Merges consecutive segments into fewer, larger ones: an entry costs Redis about the same, whatever its size.

use bytes::BytesMut;
use protocol::Segment;

/// Size limit of a merged entry.
pub(crate) const ENTRY_BYTES: usize = 64 * 1024;

/// Segments that are not consecutive stay separate.
pub(crate) fn merged(segments: impl IntoIterator<Item = Segment>) -> Vec<Segment> {
    let mut merged = Vec::new();
    let mut run: Vec<Segment> = Vec::new();
    let mut bytes = 0;
    for segment in segments {
        let follows = run.last().is_none_or(|before| before.last + 1 == segment.first);
        if !follows || (bytes > 0 && bytes + segment.bytes.len() > ENTRY_BYTES) {
            merged.extend(joined(&mut run));
            bytes = 0;
        }
        bytes += segment.bytes.len();
        run.push(segment);
    }
    merged.extend(joined(&mut run));
    merged
}

fn joined(run: &mut Vec<Segment>) -> Option<Segment> {
    if run.len() < 2 {
        return run.pop();
    }
    let (first, last) = (run.first()?.first, run.last()?.last);
    let mut bytes = BytesMut::with_capacity(run.iter().map(|segment| segment.bytes.len()).sum());
    for segment in run.drain(..) {
        bytes.extend_from_slice(&segment.bytes);
    }
    Some(Segment { first, last, bytes: bytes.freeze() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(first: u64, last: u64, size: usize) -> Segment {
        Segment { first, last, bytes: vec![first as u8; size].into() }
    }

    fn spans(segments: &[Segment]) -> Vec<(u64, u64, usize)> {
        segments.iter().map(|s| (s.first, s.last, s.bytes.len())).collect()
    }

    #[test]
    fn consecutive_segments_are_merged_up_to_the_size_limit() {
        let half = ENTRY_BYTES / 2;
        let all = [segment(1, 2, half), segment(3, 3, half), segment(4, 9, 1), segment(10, 10, 7)];
        let merged = merged(all);
        assert_eq!(spans(&merged), [(1, 3, 2 * half), (4, 10, 8)]);
        assert_eq!(&merged[1].bytes[..], [4, 10, 10, 10, 10, 10, 10, 10]);
    }

    #[test]
    fn segments_around_a_gap_are_not_merged_and_a_large_one_stays_whole() {
        let all = [segment(1, 1, 5), segment(3, 3, 5), segment(4, 4, 3 * ENTRY_BYTES)];
        assert_eq!(spans(&merged(all)), [(1, 1, 5), (3, 3, 5), (4, 4, 3 * ENTRY_BYTES)]);
    }
}
