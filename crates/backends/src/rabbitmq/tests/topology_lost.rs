//! Somebody deletes or empties our queues while we use them.

use lapin::options::{ExchangeDeleteOptions, QueueDeleteOptions, QueuePurgeOptions};
use ports::queue::Queue;

use super::scratch::{Scratch, eventually, pop, push_until_taken, turns};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_queue_comes_back_under_a_worker_that_waits() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    let turn = turns(1).remove(0);
    let deleting = async {
        let channel = scratch.channel().await;
        eventually("the worker waits", || async { scratch.consumers(&channel).await == 1 }).await;
        delete_queue(&scratch).await;
        push_until_taken(&queue, &turn).await;
    };
    let (delivery, ()) = tokio::join!(pop(&queue), deleting);
    assert_eq!(delivery.turn_id, turn);
    delivery.ack().await.expect("ack");
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_queue_comes_back_when_somebody_pushes() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    delete_queue(&scratch).await;
    let turn = turns(1).remove(0);
    assert!(queue.push(&turn).await.is_err(), "a push into nothing is not taken for done");
    push_until_taken(&queue, &turn).await;
    assert_eq!(pop(&queue).await.turn_id, turn);
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_exchange_comes_back() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    let exchange = scratch.names.execution.as_str().into();
    let deleting = scratch.channel().await;
    deleting.exchange_delete(exchange, ExchangeDeleteOptions::default()).await.expect("deleted");
    let turn = turns(1).remove(0);
    push_until_taken(&queue, &turn).await;
    assert_eq!(pop(&queue).await.turn_id, turn);
    eventually("all is well", || async { rabbit.failing().await.is_none() }).await;
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purged_queue_goes_on_with_what_comes_next() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let queue = rabbit.queue();
    for turn in turns(5) {
        queue.push(&turn).await.expect("push");
    }
    let (channel, name) = (scratch.channel().await, scratch.names.queue.as_str().into());
    channel.queue_purge(name, QueuePurgeOptions::default()).await.expect("purged");
    let turn = turns(1).remove(0);
    queue.push(&turn).await.expect("push");
    assert_eq!(pop(&queue).await.turn_id, turn);
    rabbit.close().await;
}

async fn delete_queue(scratch: &Scratch) {
    let (channel, name) = (scratch.channel().await, scratch.names.queue.as_str().into());
    channel.queue_delete(name, QueueDeleteOptions::default()).await.expect("deleted");
}
