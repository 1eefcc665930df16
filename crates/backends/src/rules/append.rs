//! Whether a segment continues a stream log.

use ports::stream_log::SegmentAppended;
use protocol::{Segment, Seq};

use super::error::CheckError;
use super::fenced_writes::count_fenced;
use crate::rows::StoreRow;

/// The writer and the end of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogState {
    fence: u64,
    pub(crate) last: Seq,
    sealed: bool,
}

impl LogState {
    /// From the columns `fence`, `last_seq` and `sealed`.
    pub(crate) fn read<R: StoreRow>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            fence: row.number("fence")?,
            last: row.number("last_seq")?,
            sealed: row.flag("sealed")?,
        })
    }
}

/// Positions must be below `end`, the limit of the database.
pub(crate) fn check_segment(segment: &Segment, end: u64) -> Result<(), CheckError> {
    let Segment { first, last, .. } = segment;
    if *first == 0 || last < first || *last >= end {
        return Err(CheckError::new(format!("a segment from {first} to {last} is invalid")));
    }
    Ok(())
}

/// Why a segment does not continue the log, or `Stored` if it does. A missing log was deleted with its session, which
/// its writer treats like a newer fence.
pub(crate) fn judge(log: Option<LogState>, fence: u64, first: Seq) -> SegmentAppended {
    match log {
        Some(log) if log.fence != fence => SegmentAppended::Stale,
        Some(log) if log.sealed => SegmentAppended::Sealed,
        Some(log) if log.last + 1 == first => SegmentAppended::Stored,
        Some(log) => SegmentAppended::Gap { last: log.last },
        None => SegmentAppended::Stale,
    }
}

/// The reply to a segment that was not stored.
pub(crate) fn refusal(log: Option<LogState>, fence: u64, first: Seq) -> SegmentAppended {
    match judge(log, fence, first) {
        // It did not fit when it was tried; another append may have changed the log since.
        SegmentAppended::Stored => SegmentAppended::Gap { last: first.saturating_sub(1) },
        SegmentAppended::Stale => {
            count_fenced();
            SegmentAppended::Stale
        }
        refused => refused,
    }
}

/// The closing chunks without those already stored by an append whose reply was lost.
pub(crate) fn unstored(closing: &Segment, stored: Seq) -> Segment {
    closing.after(stored).unwrap_or_else(|| closing.clone())
}

/// The closing chunks of a turn do not continue its log.
pub(crate) fn refused_end(refused: &SegmentAppended) -> CheckError {
    CheckError::new(format!("the last chunks of a turn were refused: {refused:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_next_segment_under_the_current_fence_continues_an_open_log() {
        let log = |fence, sealed| Some(LogState { fence, last: 7, sealed });
        let cases = [
            (log(3, false), 8, SegmentAppended::Stored),
            (log(3, false), 9, SegmentAppended::Gap { last: 7 }),
            (log(3, false), 7, SegmentAppended::Gap { last: 7 }),
            (log(3, true), 8, SegmentAppended::Sealed),
            (log(4, false), 8, SegmentAppended::Stale),
            (log(4, true), 8, SegmentAppended::Stale),
            (None, 1, SegmentAppended::Stale),
        ];
        for (log, first, expected) in cases {
            assert_eq!(judge(log, 3, first), expected, "{log:?} {first}");
        }
        assert_eq!(refusal(log(3, false), 3, 8), SegmentAppended::Gap { last: 7 });
    }
}
