//! Measures streaming throughput: asserts only that it works.

use std::time::Instant;

use futures::future::join_all;
use ports::stream_log::{SegmentAppended, StreamLog};
use protocol::TaskId;
use testkit::conformance::scene;

use super::database::Database;

const ROUNDS: u64 = 40;
const CHUNKS: u64 = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_macros, reason = "prints the measurement with --no-capture")]
async fn many_logs_share_their_commits() {
    let database = Database::create().await;
    let store = database.connect().await;
    let text = "x".repeat(50);
    let texts = vec![text.as_str(); CHUNKS as usize];
    for logs in [1, 16, 128] {
        let tasks: Vec<TaskId> = (0..logs).map(|_| TaskId::fresh()).collect();
        join_all(tasks.iter().map(|task| store.take_over(task, 1))).await;
        let started = Instant::now();
        let writing = tasks.iter().map(|task| async {
            for round in 0..ROUNDS {
                let next = scene::segment(round * CHUNKS, &texts);
                let appended = store.append(task, 1, next).await.expect("append");
                assert_eq!(appended, SegmentAppended::Stored);
            }
        });
        join_all(writing).await;
        let rate = (logs * ROUNDS) as f64 / started.elapsed().as_secs_f64();
        println!("{logs} logs: {rate:.0} segments/s, {:.0} chunks/s", rate * CHUNKS as f64);
    }
}
