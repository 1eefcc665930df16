//! Measures throughput and latency; run by hand, with `--ignored --nocapture`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use ports::queue::Queue;

use super::scratch::{Scratch, jobs, pop};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement, asserts nothing"]
async fn throughput_and_latency() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let queue = Arc::new(rabbit.queue());

    let mut waits = Vec::new();
    for job in jobs(200) {
        let popping = async { (pop(&*queue).await, Instant::now()) };
        let pushing = async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let since = Instant::now();
            queue.push(&job).await.expect("push");
            since
        };
        let ((delivery, popped), since) = tokio::join!(popping, pushing);
        waits.push(popped.duration_since(since));
        delivery.ack().await.expect("ack");
    }
    waits.sort();
    tell(&format!("push to waiting pop: median {:?}, p95 {:?}", waits[100], waits[190]));

    for workers in [16, 128] {
        let many = jobs(4_000);
        let since = Instant::now();
        let pushing = join_all(many.iter().map(|job| queue.push(job)));
        let pushed = async {
            pushing.await.into_iter().for_each(|pushed| pushed.expect("push"));
            since.elapsed()
        };
        let working = (0..workers).map(|_| async {
            for _ in 0..many.len() / workers {
                pop(&*queue).await.ack().await.expect("ack");
            }
        });
        let (pushed, _) = tokio::join!(pushed, join_all(working));
        let done = many.len() / workers * workers;
        let rate = done as f64 / since.elapsed().as_secs_f64();
        tell(&format!(
            "{workers} workers: pushed in {pushed:?}, {rate:.0} push-pop-ack per second"
        ));
        for _ in done..many.len() {
            pop(&*queue).await.ack().await.expect("ack");
        }
    }
    rabbit.close().await;
}

#[expect(clippy::disallowed_macros, reason = "prints the measurement")]
fn tell(connection_state: &str) {
    println!("{connection_state}");
}
