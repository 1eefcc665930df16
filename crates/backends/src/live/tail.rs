//! The last part of one log, in memory: what most readers want, without touching the database.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use ports::stream_log::Read;
use protocol::{Segment, Seq};
use tokio::sync::watch;

use super::LogEnd;

/// Bytes kept of one log.
const BYTES: usize = 256 * 1024;

pub(crate) struct Tail {
    state: Mutex<State>,
    grown: watch::Sender<Seq>,
}

#[derive(Default)]
struct State {
    /// Absent until a commit or a read of the database says where the log ends.
    known: Option<Known>,
    /// When it last grew, in steps of the whole cache.
    touched: u64,
}

struct Known {
    segments: VecDeque<Segment>,
    bytes: usize,
    last: Seq,
    end: LogEnd,
}

impl Tail {
    pub(crate) fn unknown() -> Self {
        Self { state: Mutex::default(), grown: watch::Sender::new(0) }
    }

    /// What follows `after`, or nothing when this part of the log is not here.
    pub(crate) fn read(&self, after: Seq, max_bytes: usize) -> Option<Read> {
        let state = self.state();
        let known = state.known.as_ref()?;
        let first = known.segments.front().map_or(known.last + 1, |segment| segment.first);
        if after < known.last && after + 1 < first {
            return None;
        }
        let start = known.segments.partition_point(|segment| segment.last <= after);
        let mut segments = Vec::new();
        let mut bytes = 0;
        for segment in known.segments.range(start..) {
            segments.extend(segment.after(after));
            bytes += segment.bytes.len();
            if bytes >= max_bytes {
                break;
            }
        }
        let sealed = known.end == LogEnd::Sealed;
        Some(Read::Log { segments, last: known.last, sealed, missing_to: None })
    }

    /// A segment was committed. Gives the bytes held before and after.
    pub(crate) fn grow(&self, segment: Segment, end: LogEnd, touched: u64) -> (usize, usize) {
        let last = segment.last;
        let mut state = self.state();
        state.touched = touched;
        let known = state.known.get_or_insert_with(|| Known::at(segment.first - 1, LogEnd::Open));
        let before = known.bytes;
        // A reader of the database may have been quicker to learn of this segment; then its bytes stay
        // out, because what is held must be without gaps.
        if segment.first == known.last + 1 {
            known.last = last;
            known.bytes += segment.bytes.len();
            known.segments.push_back(segment);
            while known.bytes > BYTES {
                let Some(oldest) = known.segments.pop_front() else { break };
                known.bytes -= oldest.bytes.len();
            }
        }
        if end == LogEnd::Sealed {
            known.end = end;
        }
        let after = known.bytes;
        drop(state);
        self.grown.send_replace(last);
        (before, after)
    }

    /// What a look at the database said, unless more is known already.
    pub(crate) fn learn(&self, last: Seq, end: LogEnd) {
        self.state().known.get_or_insert_with(|| Known::at(last, end));
    }

    /// Lets the bytes go and keeps the rest. Gives how many they were.
    pub(crate) fn shrink(&self) -> usize {
        let mut state = self.state();
        let Some(known) = state.known.as_mut() else { return 0 };
        known.segments = VecDeque::new();
        std::mem::take(&mut known.bytes)
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Seq> {
        self.grown.subscribe()
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.grown.receiver_count() > 0
    }

    pub(crate) fn touched(&self) -> u64 {
        self.state().touched
    }

    /// Makes every watcher look again.
    pub(crate) fn wake(&self) {
        self.grown.send_modify(|_| ());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change above is complete before anything in it can panic.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Known {
    fn at(last: Seq, end: LogEnd) -> Self {
        Self { segments: VecDeque::new(), bytes: 0, last, end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(first: Seq, last: Seq, size: usize) -> Segment {
        Segment { first, last, bytes: vec![b'x'; size].into() }
    }

    fn ends_at(read: Option<Read>) -> Option<(usize, Seq, bool)> {
        match read? {
            Read::Log { segments, last, sealed, .. } => Some((segments.len(), last, sealed)),
            Read::Missing => None,
        }
    }

    #[test]
    fn a_tail_that_lost_its_beginning_sends_the_reader_to_the_database() {
        let tail = Tail::unknown();
        assert_eq!(tail.read(0, 1000), None);
        for n in 1..=5 {
            tail.grow(segment(n, n, BYTES / 3), LogEnd::Open, n);
        }
        assert_eq!(tail.read(0, 1000), None);
        assert_eq!(ends_at(tail.read(4, 1000)), Some((1, 5, false)));
        assert_eq!(ends_at(tail.read(5, 1000)), Some((0, 5, false)));
        assert_eq!(tail.shrink(), 3 * (BYTES / 3));
        assert_eq!(tail.read(4, 1000), None);
        assert_eq!(ends_at(tail.read(5, 1000)), Some((0, 5, false)));
    }

    #[test]
    fn a_tail_that_learnt_from_the_database_first_keeps_no_gap() {
        let tail = Tail::unknown();
        tail.learn(7, LogEnd::Open);
        tail.grow(segment(5, 7, 10), LogEnd::Open, 1);
        assert_eq!(tail.read(4, 1000), None);
        tail.grow(segment(8, 9, 10), LogEnd::Sealed, 2);
        assert_eq!(ends_at(tail.read(7, 1000)), Some((1, 9, true)));
        assert_eq!(ends_at(tail.read(9, 1000)), Some((0, 9, true)));
    }
}
