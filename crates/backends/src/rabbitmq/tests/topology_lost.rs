//! Queues and exchanges that are deleted or purged while they are in use.

use lapin::options::{ExchangeDeleteOptions, QueueDeleteOptions, QueuePurgeOptions};
use ports::queue::Queue;

use super::scratch::{Scratch, eventually, jobs, pop, push_until_taken};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_queue_is_declared_again_while_a_worker_waits() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    let job = jobs(1).remove(0);
    let deleting = async {
        let channel = scratch.channel().await;
        eventually("the worker waits", || async { scratch.consumers(&channel).await == 1 }).await;
        delete_queue(&scratch).await;
        push_until_taken(&queue, &job).await;
    };
    let (delivery, ()) = tokio::join!(pop(&queue), deleting);
    assert_eq!(delivery.job, job);
    delivery.ack().await.expect("ack");
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_queue_is_declared_again_on_push() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    delete_queue(&scratch).await;
    let job = jobs(1).remove(0);
    assert!(queue.push(&job).await.is_err(), "a push without a queue fails");
    push_until_taken(&queue, &job).await;
    assert_eq!(pop(&queue).await.job, job);
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_exchange_is_declared_again() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    let exchange = scratch.names.execution.as_str().into();
    let deleting = scratch.channel().await;
    deleting.exchange_delete(exchange, ExchangeDeleteOptions::default()).await.expect("deleted");
    let job = jobs(1).remove(0);
    push_until_taken(&queue, &job).await;
    assert_eq!(pop(&queue).await.job, job);
    eventually("the broker is healthy", || async { rabbit.failing().await.is_none() }).await;
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purged_queue_delivers_later_jobs() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    for job in jobs(5) {
        queue.push(&job).await.expect("push");
    }
    let (channel, name) = (scratch.channel().await, scratch.names.queue.as_str().into());
    channel.queue_purge(name, QueuePurgeOptions::default()).await.expect("purged");
    let job = jobs(1).remove(0);
    queue.push(&job).await.expect("push");
    assert_eq!(pop(&queue).await.job, job);
    rabbit.close().await;
}

async fn delete_queue(scratch: &Scratch) {
    let (channel, name) = (scratch.channel().await, scratch.names.queue.as_str().into());
    channel.queue_delete(name, QueueDeleteOptions::default()).await.expect("deleted");
}
