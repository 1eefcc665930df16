//! The last part of one stream log, cached in memory: what most readers need, without a database read.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use ports::stream_log::LogRead;
use protocol::{Segment, Seq};
use tokio::sync::watch;

use super::LogEnd;

/// Bytes kept of one log.
const BYTES: usize = 256 * 1024;

pub(crate) struct LogTail {
    state: Mutex<TailState>,
    grown: watch::Sender<Seq>,
}

#[derive(Default)]
struct TailState {
    /// `None` until a commit or a database read determines where the log ends.
    known: Option<KnownPart>,
    /// When it last grew, on the step counter of the whole cache.
    touched: u64,
    /// Number of invalidations: a read that began before one must not fill the cache after it.
    invalidations: u64,
    /// Whether it grew since it was last compared with the store.
    grew: bool,
    /// Consecutive sweeps without a watcher.
    unwatched: u32,
}

struct KnownPart {
    segments: VecDeque<Segment>,
    bytes: usize,
    last: Seq,
    end: LogEnd,
}

impl LogTail {
    pub(crate) fn unknown() -> Self {
        Self { state: Mutex::default(), grown: watch::Sender::new(0) }
    }

    /// What follows `after`, or `None` when this part of the log is not cached.
    pub(crate) fn read(&self, after: Seq, max_bytes: usize) -> Option<LogRead> {
        let state = self.state();
        let known = state.known.as_ref()?;
        let first = known.segments.front().map_or(known.last + 1, |segment| segment.first);
        // A cursor beyond the end may come from a reader that has seen more than this process.
        if after > known.last || after + 1 < first {
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
        Some(LogRead::Log { segments, last: known.last, sealed, missing_to: None })
    }

    /// Adds a committed segment. Returns the cached bytes before and after.
    pub(crate) fn grow(&self, segment: Segment, end: LogEnd, touched: u64) -> (usize, usize) {
        let last = segment.last;
        let mut state = self.state();
        state.touched = touched;
        state.grew = true;
        let known = state
            .known
            .get_or_insert_with(|| KnownPart::at(segment.first.saturating_sub(1), LogEnd::Open));
        let before = known.bytes;
        if segment.first > known.last + 1 {
            // The segments in between were missed. They are in the store, where readers find them.
            *known = KnownPart::at(segment.first - 1, known.end);
        }
        // A database read may already have advanced the known end past this segment, or into it. Those bytes are not
        // cached, because the cached segments must have no gaps.
        if let Some(rest) = segment.after(known.last) {
            known.push(rest);
        }
        if end == LogEnd::Sealed {
            known.end = end;
        }
        let after = known.bytes;
        drop(state);
        self.wake_for(last);
        (before, after)
    }

    pub(crate) fn invalidations(&self) -> u64 {
        self.state().invalidations
    }

    /// Sets the end found by a database read, unless it is known already or the read began before an invalidation.
    pub(crate) fn set_end(&self, invalidations: u64, last: Seq, end: LogEnd) {
        let mut state = self.state();
        if state.invalidations == invalidations {
            state.known.get_or_insert_with(|| KnownPart::at(last, end));
        }
    }

    /// Whether to ask the store for the end of this log: there was no update since the last call, and it may still
    /// grow.
    pub(crate) fn needs_check(&self) -> bool {
        let mut state = self.state();
        let sealed = state.known.as_ref().is_some_and(|known| known.end == LogEnd::Sealed);
        !sealed && !std::mem::take(&mut state.grew)
    }

    /// Compares with the end that the store reports. Returns the bytes freed because the cache was behind.
    pub(crate) fn check(&self, last: Seq, end: LogEnd) -> usize {
        match &self.state().known {
            Some(known) if known.last > last || (known.last, known.end) == (last, end) => return 0,
            _ => {}
        }
        self.invalidate()
    }

    /// Invalidates the cache and wakes every watcher. Returns the freed bytes.
    pub(crate) fn invalidate(&self) -> usize {
        let mut state = self.state();
        state.invalidations += 1;
        let held = state.known.take().map_or(0, |known| known.bytes);
        drop(state);
        self.wake();
        held
    }

    pub(crate) fn knows_end(&self) -> bool {
        self.state().known.is_some()
    }

    /// Records whether there are watchers. Returns the number of consecutive calls without any.
    pub(crate) fn note_watchers(&self) -> u32 {
        let watched = self.is_watched();
        let mut state = self.state();
        state.unwatched = if watched { 0 } else { state.unwatched + 1 };
        state.unwatched
    }

    /// Frees the cached bytes and keeps the rest. Returns their number.
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

    /// Wakes every watcher.
    pub(crate) fn wake(&self) {
        self.grown.send_modify(|_| ());
    }

    /// Wakes the watchers, unless they were already woken for this position.
    fn wake_for(&self, last: Seq) {
        self.grown.send_if_modified(|woken| {
            let news = last > *woken;
            *woken = last.max(*woken);
            news
        });
    }

    fn state(&self) -> MutexGuard<'_, TailState> {
        // Every change above is complete before anything in it can panic.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl KnownPart {
    fn at(last: Seq, end: LogEnd) -> Self {
        Self { segments: VecDeque::new(), bytes: 0, last, end }
    }

    fn push(&mut self, segment: Segment) {
        self.last = segment.last;
        self.bytes += segment.bytes.len();
        self.segments.push_back(segment);
        while self.bytes > BYTES {
            let Some(oldest) = self.segments.pop_front() else { break };
            self.bytes -= oldest.bytes.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(first: Seq, last: Seq, size: usize) -> Segment {
        Segment { first, last, bytes: vec![b'x'; size].into() }
    }

    fn ends_at(read: Option<LogRead>) -> Option<(usize, Seq, bool)> {
        match read? {
            LogRead::Log { segments, last, sealed, .. } => Some((segments.len(), last, sealed)),
            LogRead::Missing => None,
        }
    }

    #[test]
    fn a_reader_before_the_cached_part_goes_to_the_database() {
        let tail = LogTail::unknown();
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
    fn a_cache_filled_by_a_database_read_has_no_gap() {
        let tail = LogTail::unknown();
        tail.set_end(0, 7, LogEnd::Open);
        tail.grow(segment(5, 7, 10), LogEnd::Open, 1);
        assert_eq!(tail.read(4, 1000), None);
        tail.grow(segment(8, 9, 10), LogEnd::Sealed, 2);
        assert_eq!(ends_at(tail.read(7, 1000)), Some((1, 9, true)));
        assert_eq!(ends_at(tail.read(9, 1000)), Some((0, 9, true)));
    }

    #[test]
    fn a_cache_that_missed_a_segment_sends_the_reader_to_the_database() {
        let tail = LogTail::unknown();
        tail.grow(segment(1, 2, 10), LogEnd::Open, 1);
        tail.grow(segment(5, 6, 10), LogEnd::Open, 2);
        assert_eq!(tail.read(2, 1000), None);
        assert_eq!(tail.read(7, 1000), None, "a cursor beyond the known end");
        assert_eq!(ends_at(tail.read(4, 1000)), Some((1, 6, false)));
        tail.grow(segment(1, 2, 10), LogEnd::Open, 3);
        assert_eq!(
            ends_at(tail.read(6, 1000)),
            Some((0, 6, false)),
            "an old segment changes nothing"
        );
    }

    #[test]
    fn a_cache_behind_the_store_is_invalidated_and_wakes_watchers() {
        let tail = LogTail::unknown();
        let mut watching = tail.watch();
        tail.grow(segment(1, 2, 10), LogEnd::Open, 1);
        watching.mark_unchanged();
        assert!(!tail.needs_check(), "it has just grown");
        assert!(tail.needs_check());
        assert_eq!(tail.check(2, LogEnd::Open), 0);
        assert_eq!(tail.check(1, LogEnd::Open), 0, "a reply that is older than the cache");
        assert!(!watching.has_changed().expect("open"));
        let before = tail.invalidations();
        assert_eq!(tail.check(3, LogEnd::Open), 10);
        assert!(watching.has_changed().expect("open"));
        assert_eq!(tail.read(1, 1000), None);
        tail.set_end(before, 2, LogEnd::Open);
        assert_eq!(tail.read(2, 1000), None, "a read from before the invalidation is ignored");
        tail.set_end(tail.invalidations(), 3, LogEnd::Sealed);
        assert_eq!(ends_at(tail.read(3, 1000)), Some((0, 3, true)));
        assert!(!tail.needs_check(), "nothing follows a seal");
    }
}
