//! Collects the segments of a stream log behind a cursor.

use ports::stream_log::LogRead;
use protocol::{Segment, Seq};

pub(crate) struct LogReader {
    after: Seq,
    next: Seq,
    segments: Vec<Segment>,
    missing_to: Option<Seq>,
    bytes: usize,
}

impl LogReader {
    pub(crate) fn new(after: Seq) -> Self {
        let next = after.saturating_add(1);
        Self { after, next, segments: Vec::new(), missing_to: None, bytes: 0 }
    }

    /// The next segment of the log, in order. Those before the cursor are skipped, which happens when the ones around
    /// it were trimmed.
    pub(crate) fn push(&mut self, segment: &Segment) {
        let Some(segment) = segment.after(self.after) else { return };
        if segment.first > self.next {
            self.missing_to = Some(segment.first - 1);
        }
        self.next = segment.last + 1;
        self.bytes += segment.bytes.len();
        self.segments.push(segment);
    }

    /// Bytes collected so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn finish(self, last: Seq, sealed: bool) -> LogRead {
        let Self { after, segments, mut missing_to, .. } = self;
        if segments.is_empty() && after < last {
            missing_to = Some(last);
        }
        LogRead::Log { segments, last, sealed, missing_to }
    }
}
