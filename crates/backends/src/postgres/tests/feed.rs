//! Notifications from the store about its stream logs.

use std::sync::{Arc, Mutex};

use futures::future::join_all;
use ports::stream_log::{SegmentAppended, StreamLog};
use ports::{Sessions, Turns};
use protocol::turn::TurnStatus;
use protocol::{Segment, Seq, TaskId};
use testkit::conformance::scene;

use super::database::{CAPS, Database};
use super::fixture::ports;
use crate::live::LogEnd;
use crate::local::clock::SystemClock;
use crate::log_feed::{LogEnds, LogFeed, LogPosition};
use crate::postgres::PostgresStore;

/// Discards all notifications.
pub(crate) struct Silent;

impl LogFeed for Silent {
    fn grew(&self, _: &TaskId, _: u64, _: &Segment, _: LogEnd) {}
    fn gone(&self, _: &[TaskId]) {}
}

#[derive(Default)]
struct Heard {
    grew: Mutex<Vec<(TaskId, u64, Seq, LogEnd)>>,
    gone: Mutex<Vec<TaskId>>,
}

impl LogFeed for Heard {
    fn grew(&self, task: &TaskId, fence: u64, segment: &Segment, end: LogEnd) {
        let said = (task.clone(), fence, segment.last, end);
        self.grew.lock().expect("not poisoned").push(said);
    }

    fn gone(&self, tasks: &[TaskId]) {
        self.gone.lock().expect("not poisoned").extend(tasks.iter().cloned());
    }
}

async fn listening(database: &Database) -> (PostgresStore, Arc<Heard>) {
    let heard = Arc::new(Heard::default());
    let clock = Arc::new(SystemClock);
    let store = PostgresStore::connect(&database.url(), 8, None, CAPS, clock, heard.clone()).await;
    (store.expect("it opens"), heard)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_feed_receives_only_stored_segments_and_in_order() {
    let database = Database::create().await;
    let (store, heard) = listening(&database).await;
    let tasks: Vec<TaskId> = (0..8).map(|_| TaskId::fresh()).collect();
    let writing = tasks.iter().map(|task| async {
        store.take_over(task, 7).await.expect("take over");
        for last in 0..20 {
            let next = scene::segment(last, &["word"]);
            assert_eq!(store.append(task, 7, next).await.expect("append"), SegmentAppended::Stored);
            let late = store.append(task, 6, scene::segment(last + 1, &["late"])).await;
            assert_eq!(late.expect("append"), SegmentAppended::Stale);
        }
        store.seal(task, 7, scene::segment(20, &["end"])).await.expect("seal");
    });
    join_all(writing).await;
    let grew = heard.grew.lock().expect("not poisoned").clone();
    for task in &tasks {
        let mine: Vec<_> = grew.iter().filter(|said| said.0 == *task).cloned().collect();
        let end = |seq| if seq == 21 { LogEnd::Sealed } else { LogEnd::Open };
        let expected: Vec<_> = (1..=21).map(|seq| (task.clone(), 7, seq, end(seq))).collect();
        assert_eq!(mine, expected);
    }
    let mut ends = store.ends(&tasks).await.expect("ends");
    ends.sort_by_key(|at| tasks.iter().position(|task| *task == at.task));
    let at = |task: &TaskId| LogPosition { task: task.clone(), last: 21, end: LogEnd::Sealed };
    assert_eq!(ends, tasks.iter().map(at).collect::<Vec<_>>());
    assert_eq!(store.ends(&["no such log".into()]).await.expect("ends"), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_feed_receives_the_end_of_a_turn_and_a_deletion() {
    let database = Database::create().await;
    let (store, heard) = listening(&database).await;
    let folder = tempfile::tempdir().expect("a folder");
    let ports = ports(store.clone(), folder.path()).await;
    let (ann, mine, turn) = scene::first_turn(&ports).await;
    let claim = scene::claim(&ports, &turn.id).await;
    let ending = scene::ending(TurnStatus::Completed, 0, Vec::new());
    store.finish(&claim, ending).await.expect("finish");
    let task = turn.id.task();
    let sealed = (task.clone(), claim.fence, 1, LogEnd::Sealed);
    assert_eq!(*heard.grew.lock().expect("not poisoned"), [sealed]);
    assert!(store.delete(&ann, &mine.id).await.expect("delete"));
    assert_eq!(*heard.gone.lock().expect("not poisoned"), [task]);
    let left = database.sql("SELECT (SELECT count(*) FROM segment) + (SELECT count(*) FROM log)");
    assert_eq!(left.await[0].get::<_, i64>(0), 0);
}
