//! A broker that stops, freezes or runs out of memory. Each test has its own, which takes seconds to start.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use ports::PortError;
use ports::queue::Queue;
use testkit::conformance::scene::BOUNDED;

use super::private_broker::PrivateBroker;
use super::scratch::{Scratch, eventually, jobs, pop, push_until_taken};
use crate::rabbitmq::connection::ANSWER;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_closed_by_the_broker_are_reopened() {
    let broker = PrivateBroker::start().await;
    let scratch = Scratch::at(broker.url());
    let (rabbit, mut hearing) = scratch.listening_process().await;
    let queue = rabbit.queue();
    let many = jobs(2);
    queue.push(&many[0]).await.expect("push");
    let unsettled = pop(&queue).await;

    broker.control(&["close_all_connections", "a test"]).await;
    let (delivery, ()) = tokio::join!(pop(&queue), push_until_taken(&queue, &many[1]));
    assert!(unsettled.ack().await.is_err(), "the broker has requeued it");
    let mut found = HashSet::from([delivery.job.clone()]);
    delivery.ack().await.expect("ack");
    while found.len() < 2 {
        let delivery = pop(&queue).await;
        found.insert(delivery.job.clone());
        delivery.ack().await.expect("ack");
    }
    eventually("cancellations are received again", || {
        rabbit.cancel().publish(many[0].clone());
        std::future::ready(hearing.try_recv().is_ok())
    })
    .await;
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queue_resumes_after_the_broker_restarts() {
    let mut broker = PrivateBroker::start().await;
    let scratch = Scratch::at(broker.url());
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    let many = jobs(20);
    for job in &many {
        queue.push(job).await.expect("push");
    }
    let half_done = pop(&queue).await;
    // RabbitMQ persists which log belongs to a new queue only after a while, and loses it when killed before that.
    broker.control(&["eval", "[dets:sync(Table) || Table <- dets:all()]."]).await;
    broker.stop();
    eventually("the outage is noticed", || async { rabbit.failing().await.is_some() }).await;
    let since = Instant::now();
    let refused = queue.push(&many[0]).await;
    assert!(matches!(refused, Err(PortError::Unavailable(_))), "{refused:?}");
    assert!(since.elapsed() < ANSWER, "known to be down, so it fails at once");
    drop(half_done);

    let working = async {
        let mut found = HashSet::new();
        while found.len() < many.len() {
            let delivery = pop_patiently(&queue).await;
            found.insert(delivery.job.clone());
            delivery.ack().await.expect("ack");
        }
        found
    };
    let (found, ()) = tokio::join!(working, broker.resume_from_stop());
    assert_eq!(found, many.into_iter().collect(), "no confirmed job is lost");
    assert_eq!(rabbit.failing().await, None);
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_broker_delays_callers_only_briefly_and_is_used_again_after_it_thaws() {
    let broker = PrivateBroker::start().await;
    let scratch = Scratch::at(broker.url());
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    let many = jobs(2);
    queue.push(&many[0]).await.expect("push");
    broker.freeze();
    let since = Instant::now();
    let refused = queue.push(&many[1]).await;
    assert!(matches!(refused, Err(PortError::Unavailable(_))), "{refused:?}");
    assert!(since.elapsed() < BOUNDED, "{:?}", since.elapsed());
    let since = Instant::now();
    assert!(rabbit.failing().await.is_some());
    assert!(since.elapsed() < BOUNDED, "{:?}", since.elapsed());
    eventually("the silence is noticed", || async {
        rabbit.connection_state.connection().is_err()
    })
    .await;
    // Connection attempts fail meanwhile, and leave no threads behind.
    let mut dialed = broker.clients();
    let before = dialed.len();
    eventually("several connection attempts", || {
        dialed.extend(broker.clients());
        std::future::ready(dialed.len() >= before + TRIES)
    })
    .await;
    let threads = client_threads();
    assert!(threads <= 4, "{threads} threads read from a silent broker");
    broker.thaw();
    push_until_taken(&queue, &many[1]).await;
    let mut found = HashSet::new();
    while found.len() < 2 {
        let delivery = pop_patiently(&queue).await;
        found.insert(delivery.job.clone());
        delivery.ack().await.expect("ack");
    }
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_without_memory_still_delivers_its_messages() {
    let broker = PrivateBroker::start().await;
    let scratch = Scratch::at(broker.url());
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    let many = jobs(3);
    for job in &many {
        queue.push(job).await.expect("push");
    }
    broker.control(&["set_vm_memory_high_watermark", "0"]).await;
    let refused = queue.push(&many[0]).await;
    assert!(matches!(refused, Err(PortError::Unavailable(_))), "{refused:?}");
    assert!(rabbit.failing().await.is_some());
    for job in &many {
        let delivery = pop(&queue).await;
        assert_eq!(delivery.job, *job);
        delivery.ack().await.expect("ack");
    }
    broker.control(&["set_vm_memory_high_watermark", "0.4"]).await;
    push_until_taken(&queue, &many[0]).await;
    rabbit.close().await;
}

/// Counted in connections, of which each attempt opens several.
const TRIES: usize = 4;

/// Waits longer than a broker needs to start.
async fn pop_patiently(queue: &impl Queue) -> ports::queue::Delivery {
    let popped = tokio::time::timeout(Duration::from_secs(60), queue.pop()).await;
    popped.expect("a delivery in time").expect("pop")
}

fn client_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("this is Linux");
    let names =
        tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("lapin-io-loop")).count()
}
