//! Laws of `StreamLog`.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use ports::follow::{LogFollower, LogUpdate};
use ports::stream_log::{LogRead, SegmentAppended, TakenOver};
use ports::{Ports, StreamLog};
use protocol::{Segment, Seq, TaskId};

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! stream_log_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, stream_log:
            a_gap_is_refused,
            a_read_is_complete_from_any_cursor,
            an_old_fence_cannot_append,
            a_claim_stops_appends_of_the_previous_holder,
            nothing_follows_a_seal,
            a_read_reports_a_trimmed_start,
            an_appended_segment_survives_a_restart,
            an_unknown_log_is_missing,
            a_read_is_bounded_but_never_empty,
            a_large_segment_is_kept_whole,
            many_logs_can_be_appended_concurrently,
            every_follower_sees_every_chunk_once,
        );
    };
}

async fn taken(ports: &Ports, fence: u64) -> TaskId {
    let task = TaskId::fresh();
    let taken = ports.log.take_over(&task, fence).await.expect("take over");
    assert_eq!(taken, TakenOver::At { last: 0, sealed: false });
    task
}

async fn append(ports: &Ports, task: &TaskId, fence: u64, segment: Segment) -> SegmentAppended {
    ports.log.append(task, fence, segment).await.expect("append")
}

/// A log with segments of three chunks, two, one, …
async fn filled(ports: &Ports, fence: u64) -> TaskId {
    let task = taken(ports, fence).await;
    let mut last = 0;
    for size in [3, 2, 1, 7, 1, 1, 5] {
        let texts: Vec<String> = (0..size).map(|n| format!("chunk {}", last + n + 1)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(
            append(ports, &task, fence, segment(last, &texts)).await,
            SegmentAppended::Stored
        );
        last += size;
    }
    task
}

/// Everything after `after`, in pieces of at most `max_bytes`.
async fn read_all(log: &dyn StreamLog, task: &TaskId, after: Seq, max_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut cursor = after;
    loop {
        let read = log.read(task, cursor, max_bytes).await.expect("read");
        let LogRead::Log { segments, last, missing_to: None, .. } = read else {
            panic!("{read:?}")
        };
        for segment in &segments {
            assert_eq!(segment.first, cursor + 1, "no gap and no overlap");
            cursor = segment.last;
            bytes.extend_from_slice(&segment.bytes);
        }
        if segments.is_empty() {
            assert_eq!(last.max(after), cursor);
            return bytes;
        }
    }
}

pub async fn a_gap_is_refused(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let task = taken(ports, 1).await;
    let gap = SegmentAppended::Gap { last: 0 };
    assert_eq!(append(ports, &task, 1, segment(1, &["too early"])).await, gap);
    assert_eq!(append(ports, &task, 1, segment(0, &["a", "b"])).await, SegmentAppended::Stored);
    for wrong in [0, 1, 3] {
        let refused = append(ports, &task, 1, segment(wrong, &["wrong"])).await;
        assert_eq!(refused, SegmentAppended::Gap { last: 2 });
        let refused = ports.log.seal(&task, 1, segment(wrong, &["wrong"])).await.expect("seal");
        assert_eq!(refused, SegmentAppended::Gap { last: 2 });
    }
    let read = read_all(&*ports.log, &task, 0, 1000).await;
    assert_eq!(read, segment(0, &["a", "b"]).bytes);
}

pub async fn a_read_is_complete_from_any_cursor(fixture: &mut impl BackendFixture) {
    let task = filled(fixture.ports(), 1).await;
    let texts: Vec<String> = (1..=20).map(|n| format!("chunk {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for _ in 0..2 {
        for after in 0..=20 {
            let expected = match texts.get(after..) {
                Some(rest) if !rest.is_empty() => segment(after as Seq, rest).bytes.to_vec(),
                _ => Vec::new(),
            };
            for max_bytes in [1, 100, 100_000] {
                let read = read_all(&*fixture.ports().log, &task, after as Seq, max_bytes).await;
                assert_eq!(read, expected, "after {after} by {max_bytes}");
            }
        }
        let beyond = fixture.ports().log.read(&task, 1000, 100).await.expect("read");
        let end = LogRead::Log { segments: Vec::new(), last: 20, sealed: false, missing_to: None };
        assert_eq!(beyond, end);
        // Once with a warm cache, and once after a restart.
        fixture.restart().await;
    }
}

pub async fn an_old_fence_cannot_append(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let task = taken(ports, 5).await;
    assert_eq!(append(ports, &task, 5, segment(0, &["a"])).await, SegmentAppended::Stored);
    let over = ports.log.take_over(&task, 6).await.expect("take over");
    assert_eq!(over, TakenOver::At { last: 1, sealed: false });
    assert_eq!(append(ports, &task, 5, segment(1, &["late"])).await, SegmentAppended::Stale);
    let sealed = ports.log.seal(&task, 5, segment(1, &["late"])).await.expect("seal");
    assert_eq!(sealed, SegmentAppended::Stale);
    assert_eq!(ports.log.take_over(&task, 5).await.expect("take over"), TakenOver::Stale);
    let again = ports.log.take_over(&task, 6).await.expect("take over");
    assert_eq!(
        again,
        TakenOver::At { last: 1, sealed: false },
        "the same writer may take over again"
    );
    assert_eq!(append(ports, &task, 6, segment(1, &["b"])).await, SegmentAppended::Stored);
}

pub async fn a_claim_stops_appends_of_the_previous_holder(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let task = turn.id.task();
    let old = claim_for(ports, &turn.id, SHORT).await;
    assert_eq!(append(ports, &task, old.fence, segment(0, &["a"])).await, SegmentAppended::Stored);
    let new = claim(ports, &turn.id).await;
    let late = append(ports, &task, old.fence, segment(1, &["late"])).await;
    assert_eq!(late, SegmentAppended::Stale, "before the new holder has written anything");
    let over = ports.log.take_over(&task, new.fence).await.expect("take over");
    assert_eq!(over, TakenOver::At { last: 1, sealed: false });
}

pub async fn nothing_follows_a_seal(fixture: &mut impl BackendFixture) {
    let task = taken(fixture.ports(), 1).await;
    let log = &fixture.ports().log;
    let sealed = log.seal(&task, 1, segment(0, &["only"])).await.expect("seal");
    assert_eq!(sealed, SegmentAppended::Stored);
    for _ in 0..2 {
        let ports = fixture.ports();
        assert_eq!(append(ports, &task, 1, segment(1, &["more"])).await, SegmentAppended::Sealed);
        let again = ports.log.seal(&task, 1, segment(1, &["more"])).await.expect("seal");
        assert_eq!(again, SegmentAppended::Sealed);
        let over = ports.log.take_over(&task, 1).await.expect("take over");
        assert_eq!(over, TakenOver::At { last: 1, sealed: true });
        let end = LogRead::Log { segments: Vec::new(), last: 1, sealed: true, missing_to: None };
        assert_eq!(ports.log.read(&task, 1, 100).await.expect("read"), end);
        fixture.restart().await;
    }
}

pub async fn a_read_reports_a_trimmed_start(fixture: &mut impl BackendFixture) {
    let task = filled(fixture.ports(), 1).await;
    fixture.trim(&task, 5).await;
    for after in [0, 2, 4] {
        let read = fixture.ports().log.read(&task, after, 100_000).await.expect("read");
        let LogRead::Log { segments, missing_to, last: 20, .. } = read else { panic!("{read:?}") };
        assert_eq!(missing_to, Some(5), "after {after}");
        assert_eq!(segments.first().map(|segment| segment.first), Some(6));
    }
    for after in [5, 6, 20] {
        let read = fixture.ports().log.read(&task, after, 100_000).await.expect("read");
        let LogRead::Log { missing_to, .. } = read else { panic!("{read:?}") };
        assert_eq!(missing_to, None, "after {after}");
    }
}

pub async fn an_appended_segment_survives_a_restart(fixture: &mut impl BackendFixture) {
    let task = filled(fixture.ports(), 3).await;
    let before = read_all(&*fixture.ports().log, &task, 0, 64).await;
    fixture.restart().await;
    assert_eq!(read_all(&*fixture.ports().log, &task, 0, 64).await, before);
    let late = append(fixture.ports(), &task, 2, segment(20, &["late"])).await;
    assert_eq!(late, SegmentAppended::Stale, "the fence survives, too");
    let more = append(fixture.ports(), &task, 3, segment(20, &["more"])).await;
    assert_eq!(more, SegmentAppended::Stored);
}

pub async fn an_unknown_log_is_missing(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let task = TaskId::fresh();
    let _watching = ports.log.watch(&task);
    for after in [0, 7] {
        assert_eq!(ports.log.read(&task, after, 100).await.expect("read"), LogRead::Missing);
    }
    assert_eq!(append(ports, &task, 1, segment(0, &["a"])).await, SegmentAppended::Stale);
    assert_eq!(ports.log.read(&task, 0, 100).await.expect("read"), LogRead::Missing);
}

pub async fn a_read_is_bounded_but_never_empty(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let task = taken(ports, 1).await;
    let text = "x".repeat(1000);
    for n in 0..50 {
        append(ports, &task, 1, segment(n, &[&text])).await;
    }
    for (max_bytes, most) in [(1, 1), (5_000, 6), (1_000_000, 50)] {
        let read = ports.log.read(&task, 0, max_bytes).await.expect("read");
        let LogRead::Log { segments, last: 50, .. } = read else { panic!("{read:?}") };
        assert!((1..=most).contains(&segments.len()), "{} of at most {most}", segments.len());
    }
}

pub async fn a_large_segment_is_kept_whole(fixture: &mut impl BackendFixture) {
    let task = taken(fixture.ports(), 1).await;
    let text = "ä".repeat(1_000_000);
    let large = segment(0, &[&text, "small", &text]);
    assert_eq!(append(fixture.ports(), &task, 1, large.clone()).await, SegmentAppended::Stored);
    for _ in 0..2 {
        let log = &*fixture.ports().log;
        assert!(read_all(log, &task, 0, 1).await == large.bytes);
        let rest = large.after(1).expect("two follow");
        assert!(read_all(log, &task, 1, 1).await == rest.bytes);
        fixture.restart().await;
    }
}

pub async fn many_logs_can_be_appended_concurrently(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let tasks = join_all((0..20).map(|_| taken(ports, 1))).await;
    let writing = tasks.iter().enumerate().map(|(n, task)| async move {
        for last in 0..40 {
            let text = format!("log {n} chunk {last}");
            let appended = append(ports, task, 1, segment(2 * last, &[&text, "and"])).await;
            assert_eq!(appended, SegmentAppended::Stored);
        }
    });
    join_all(writing).await;
    for (n, task) in tasks.iter().enumerate() {
        let mut expected = Vec::new();
        for last in 0..40 {
            let text = format!("log {n} chunk {last}");
            expected.extend_from_slice(&segment(2 * last, &[&text, "and"]).bytes);
        }
        assert!(read_all(&*ports.log, task, 0, 500).await == expected);
    }
}

pub async fn every_follower_sees_every_chunk_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let task = taken(ports, 1).await;
    let texts: Vec<String> = (1..=300).map(|n| format!("chunk {n} {}", "x".repeat(n))).collect();
    let follow = |after: Seq| {
        let (log, task): (Arc<dyn StreamLog>, TaskId) = (ports.log.clone(), task.clone());
        async move {
            let mut follower = LogFollower::new(log, task, after, Duration::from_millis(20));
            let mut seen = Vec::new();
            loop {
                match follower.next(LAW / 2).await.expect("follow") {
                    LogUpdate::Segments(segments) => {
                        segments.iter().for_each(|s| seen.extend_from_slice(&s.bytes));
                    }
                    LogUpdate::End => return seen,
                    other => panic!("{other:?}"),
                }
            }
        }
    };
    let writing = async {
        for (last, text) in (0..).zip(&texts) {
            let next = segment(last, &[text]);
            let appended = if last == 299 {
                ports.log.seal(&task, 1, next).await
            } else {
                ports.log.append(&task, 1, next).await
            };
            assert_eq!(appended.expect("append"), SegmentAppended::Stored);
        }
    };
    let readers = join_all([0, 0, 1, 57, 299].map(follow));
    let (seen, ()) = tokio::join!(readers, writing);
    let all: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (after, seen) in [0usize, 0, 1, 57, 299].into_iter().zip(seen) {
        assert!(seen == segment(after as Seq, &all[after..]).bytes, "after {after}");
    }
}
