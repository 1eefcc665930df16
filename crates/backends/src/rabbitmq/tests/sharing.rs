//! Several processes on one broker.

use std::collections::HashSet;

use futures::future::join_all;
use ports::queue::Queue;
use ports::{BusSignal, PortError};

use super::scratch::{SOON, Scratch, eventually, jobs, pop};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_cancellation_reaches_every_process() {
    let scratch = Scratch::new();
    let (one, mut hearing_one) = scratch.listening_process().await;
    let (two, mut hearing_two) = scratch.listening_process().await;
    // A process hears from the moment its own queue is there, which is just after it has connected.
    let probe = jobs(1).remove(0);
    for hearing in [&mut hearing_one, &mut hearing_two] {
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
    for hearing in [&mut hearing_one, &mut hearing_two] {
        for job in &many {
            let heard = async {
                loop {
                    let signal = hearing.recv().await.expect("a signal");
                    if signal != BusSignal::Cancel(probe.clone()) {
                        return signal;
                    }
                }
            };
            let heard = tokio::time::timeout(SOON, heard).await.expect("it is heard");
            assert_eq!(heard, BusSignal::Cancel(job.clone()));
        }
    }
    one.close().await;
    two.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_with_free_workers_share_what_comes() {
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
async fn a_process_whose_workers_are_busy_holds_nothing() {
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

    // The first come while the broker may not have been told yet that the busy process is done with its own.
    let channel = scratch.channel().await;
    for _ in 0..2 {
        for job in jobs(20) {
            busy_queue.push(&job).await.expect("push");
            let delivery = pop(&free_queue).await;
            assert_eq!(delivery.job, job, "the free process gets each of them, at once");
            delivery.ack().await.expect("ack");
        }
        eventually("nobody waits, so nobody consumes", || async {
            scratch.consumers(&channel).await == 0
        })
        .await;
    }
    busy.close().await;
    free.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_closes_gives_back_what_it_has() {
    let scratch = Scratch::new();
    let (leaving, staying) = (scratch.process().await, scratch.process().await);
    let job = jobs(1).remove(0);
    leaving.queue().push(&job).await.expect("push");
    let in_hand = pop(&leaving.queue()).await;
    leaving.close().await;
    let delivery = pop(&staying.queue()).await;
    assert_eq!(delivery.job, job);
    assert!(in_hand.ack().await.is_err(), "it is no longer in this process's hand");
    assert!(matches!(leaving.queue().pop().await, Err(PortError::Closed)));
    assert!(matches!(leaving.queue().push(&job).await, Err(PortError::Closed)));
    delivery.ack().await.expect("ack");
    staying.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_worker_leaves_behind_goes_to_another_process() {
    let scratch = Scratch::new();
    let (one, two) = (scratch.process().await, scratch.process().await);
    let job = jobs(1).remove(0);
    one.queue().push(&job).await.expect("push");
    // Nobody in this process comes for it again.
    drop(pop(&one.queue()).await);
    let delivery = pop(&two.queue()).await;
    assert_eq!(delivery.job, job);
    delivery.ack().await.expect("ack");
    one.close().await;
    two.close().await;
}
