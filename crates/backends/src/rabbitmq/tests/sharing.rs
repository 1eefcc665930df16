//! Several processes on one broker.

use std::collections::HashSet;

use futures::future::join_all;
use ports::queue::Queue;
use ports::{BusSignal, PortError};

use super::scratch::{SOON, Scratch, eventually, jobs, pop};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_cancellation_reaches_every_process() {
    let scratch = Scratch::new();
    let (one, mut received_one) = scratch.listening_process().await;
    let (two, mut received_two) = scratch.listening_process().await;
    // A process receives signals once its own queue is declared, which is just after it has connected.
    let probe = jobs(1).remove(0);
    for hearing in [&mut received_one, &mut received_two] {
        let hearing = tokio::sync::Mutex::new(hearing);
        eventually("both listen", || async {
            one.cancel().publish(probe.clone());
            hearing.lock().await.try_recv().is_ok()
        })
        .await;
    }

    let many = jobs(10);
    for job in &many {
        one.cancel().publish(job.clone());
    }
    for hearing in [&mut received_one, &mut received_two] {
        for job in &many {
            let signals = async {
                loop {
                    let signal = hearing.recv().await.expect("a signal");
                    if signal != BusSignal::Cancel(probe.clone()) {
                        return signal;
                    }
                }
            };
            let signals = tokio::time::timeout(SOON, signals).await.expect("a signal in time");
            assert_eq!(signals, BusSignal::Cancel(job.clone()));
        }
    }
    one.close().await;
    two.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_with_free_workers_share_the_jobs() {
    let scratch = Scratch::new();
    let (one, two) = (scratch.process().await, scratch.process().await);
    let (queue_one, queue_two) = (one.queue(), two.queue());
    let many = jobs(40);
    let work = |queue| async move {
        let mut mine = Vec::new();
        for _ in 0..5 {
            let delivery = pop(queue).await;
            mine.push(delivery.job.clone());
            delivery.ack().await.expect("ack");
        }
        mine
    };
    let workers = (0..4).flat_map(|_| [work(&queue_one), work(&queue_two)]);
    let pushes = join_all(many.iter().map(|job| queue_one.push(job)));
    let (shares, pushed) = tokio::join!(join_all(workers), pushes);
    assert!(pushed.iter().all(Result::is_ok));
    let delivered: Vec<_> = shares.into_iter().flatten().collect();
    assert_eq!(delivered.len(), many.len(), "none twice");
    assert_eq!(delivered.into_iter().collect::<HashSet<_>>(), many.into_iter().collect());
    one.close().await;
    two.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_with_busy_workers_holds_no_messages() {
    let scratch = Scratch::new();
    let (busy, free) = (scratch.process().await, scratch.process().await);
    let (busy_queue, free_queue) = (busy.queue(), free.queue());
    // All three workers of the busy process take a job, acknowledge it and then run it for an hour.
    let first = jobs(3);
    for job in &first {
        busy_queue.push(job).await.expect("push");
    }
    let taking = (0..3).map(|_| async { pop(&busy_queue).await.ack().await.expect("ack") });
    join_all(taking).await;

    // The first ones arrive while the busy process may still withhold its acknowledgements from the broker.
    let channel = scratch.channel().await;
    for _ in 0..2 {
        for job in jobs(20) {
            busy_queue.push(&job).await.expect("push");
            let delivery = pop(&free_queue).await;
            assert_eq!(delivery.job, job, "the free process gets each of them, at once");
            delivery.ack().await.expect("ack");
        }
        eventually("no worker waits, so there are no consumers", || async {
            scratch.consumers(&channel).await == 0
        })
        .await;
    }
    busy.close().await;
    free.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closing_process_returns_its_deliveries() {
    let scratch = Scratch::new();
    let (leaving, staying) = (scratch.process().await, scratch.process().await);
    let job = jobs(1).remove(0);
    leaving.queue().push(&job).await.expect("push");
    let unsettled = pop(&leaving.queue()).await;
    leaving.close().await;
    let delivery = pop(&staying.queue()).await;
    assert_eq!(delivery.job, job);
    assert!(unsettled.ack().await.is_err(), "the delivery belongs to the other process now");
    assert!(matches!(leaving.queue().pop().await, Err(PortError::Closed)));
    assert!(matches!(leaving.queue().push(&job).await, Err(PortError::Closed)));
    delivery.ack().await.expect("ack");
    staying.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_delivery_goes_to_another_process() {
    let scratch = Scratch::new();
    let (one, two) = (scratch.process().await, scratch.process().await);
    let job = jobs(1).remove(0);
    one.queue().push(&job).await.expect("push");
    // No worker in this process asks again.
    drop(pop(&one.queue()).await);
    let delivery = pop(&two.queue()).await;
    assert_eq!(delivery.job, job);
    delivery.ack().await.expect("ack");
    one.close().await;
    two.close().await;
}
