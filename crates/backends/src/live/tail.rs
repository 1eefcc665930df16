//! The last part of one log, in memory: what most readers want, without touching the database.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use ports::stream_log::LogRead;
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
    /// Counts the times it was doubted: what was read before one must not be learnt after it.
    doubts: u64,
    /// Whether it grew since it was last compared with the store.
    grew: bool,
    /// Looks in a row that found nobody watching.
    unwatched: u32,
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
    pub(crate) fn read(&self, after: Seq, max_bytes: usize) -> Option<LogRead> {
        let state = self.state();
        let known = state.known.as_ref()?;
        let first = known.segments.front().map_or(known.last + 1, |segment| segment.first);
        // A cursor beyond the end may come from a reader who has seen more than this process was told.
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

    /// A segment was committed. Gives the bytes held before and after.
    pub(crate) fn grow(&self, segment: Segment, end: LogEnd, touched: u64) -> (usize, usize) {
        let last = segment.last;
        let mut state = self.state();
        state.touched = touched;
        state.grew = true;
        let known = state
            .known
            .get_or_insert_with(|| Known::at(segment.first.saturating_sub(1), LogEnd::Open));
        let before = known.bytes;
        if segment.first > known.last + 1 {
            // What lies between was never heard. It is stored, so whoever needs it reads it there.
            *known = Known::at(segment.first - 1, known.end);
        }
        // A reader of the database may have been quicker to learn of this segment, or of a part of it; then those
        // bytes stay out, because what is held must be without gaps.
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

    pub(crate) fn doubts(&self) -> u64 {
        self.state().doubts
    }

    /// What a look at the database said, unless more is known already or the look was before a doubt.
    pub(crate) fn learn(&self, doubts: u64, last: Seq, end: LogEnd) {
        let mut state = self.state();
        if state.doubts == doubts {
            state.known.get_or_insert_with(|| Known::at(last, end));
        }
    }

    /// Whether the store should be asked where this log ends: nobody has said so since the last time, and it may
    /// still grow.
    pub(crate) fn wants_check(&self) -> bool {
        let mut state = self.state();
        let sealed = state.known.as_ref().is_some_and(|known| known.end == LogEnd::Sealed);
        !sealed && !std::mem::take(&mut state.grew)
    }

    /// The store says that the log ends here. Gives the bytes that were let go because this tail did not know.
    pub(crate) fn check(&self, last: Seq, end: LogEnd) -> usize {
        match &self.state().known {
            Some(known) if known.last > last || (known.last, known.end) == (last, end) => return 0,
            _ => {}
        }
        self.doubt()
    }

    /// Forgets where the log ends and makes every watcher look. Gives how many bytes were held.
    pub(crate) fn doubt(&self) -> usize {
        let mut state = self.state();
        state.doubts += 1;
        let held = state.known.take().map_or(0, |known| known.bytes);
        drop(state);
        self.wake();
        held
    }

    pub(crate) fn knows_its_end(&self) -> bool {
        self.state().known.is_some()
    }

    /// Notes whether anybody watches. Gives for how many such looks in a row nobody did.
    pub(crate) fn note_watchers(&self) -> u32 {
        let watched = self.is_watched();
        let mut state = self.state();
        state.unwatched = if watched { 0 } else { state.unwatched + 1 };
        state.unwatched
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

    /// Wakes watchers, unless they were woken for this position before.
    fn wake_for(&self, last: Seq) {
        self.grown.send_if_modified(|woken| {
            let news = last > *woken;
            *woken = last.max(*woken);
            news
        });
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
        tail.learn(0, 7, LogEnd::Open);
        tail.grow(segment(5, 7, 10), LogEnd::Open, 1);
        assert_eq!(tail.read(4, 1000), None);
        tail.grow(segment(8, 9, 10), LogEnd::Sealed, 2);
        assert_eq!(ends_at(tail.read(7, 1000)), Some((1, 9, true)));
        assert_eq!(ends_at(tail.read(9, 1000)), Some((0, 9, true)));
    }

    #[test]
    fn a_tail_that_missed_something_sends_the_reader_to_the_database() {
        let tail = Tail::unknown();
        tail.grow(segment(1, 2, 10), LogEnd::Open, 1);
        tail.grow(segment(5, 6, 10), LogEnd::Open, 2);
        assert_eq!(tail.read(2, 1000), None);
        assert_eq!(tail.read(7, 1000), None, "a cursor it has not heard of");
        assert_eq!(ends_at(tail.read(4, 1000)), Some((1, 6, false)));
        tail.grow(segment(1, 2, 10), LogEnd::Open, 3);
        assert_eq!(
            ends_at(tail.read(6, 1000)),
            Some((0, 6, false)),
            "an old piece changes nothing"
        );
    }

    #[test]
    fn a_tail_that_is_behind_the_store_forgets_and_wakes() {
        let tail = Tail::unknown();
        let mut watching = tail.watch();
        tail.grow(segment(1, 2, 10), LogEnd::Open, 1);
        watching.mark_unchanged();
        assert!(!tail.wants_check(), "it has just grown");
        assert!(tail.wants_check());
        assert_eq!(tail.check(2, LogEnd::Open), 0);
        assert_eq!(tail.check(1, LogEnd::Open), 0, "an answer that is older than the news");
        assert!(!watching.has_changed().expect("open"));
        let before = tail.doubts();
        assert_eq!(tail.check(3, LogEnd::Open), 10);
        assert!(watching.has_changed().expect("open"));
        assert_eq!(tail.read(1, 1000), None);
        tail.learn(before, 2, LogEnd::Open);
        assert_eq!(tail.read(2, 1000), None, "what was read before the doubt is not learnt");
        tail.learn(tail.doubts(), 3, LogEnd::Sealed);
        assert_eq!(ends_at(tail.read(3, 1000)), Some((0, 3, true)));
        assert!(!tail.wants_check(), "nothing follows a seal");
    }
}
