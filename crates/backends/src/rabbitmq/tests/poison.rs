//! Messages that cannot be processed.

use futures::StreamExt;
use lapin::BasicProperties;
use lapin::options::{BasicConsumeOptions, BasicNackOptions, BasicPublishOptions};
use lapin::types::FieldTable;
use ports::queue::Queue;

use super::scratch::{Scratch, eventually, jobs, pop};
use crate::rabbitmq::topology_names::ROUTING_KEY;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreadable_messages_are_dead_lettered_and_valid_ones_delivered() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let channel = scratch.channel().await;
    let oversized = vec![b' '; 300_000];
    let garbage: [&[u8]; 5] =
        [b"", b"\xff\xfe", br#"{"v":1"#, br#"{"v":99,"turn_id":"a"}"#, &oversized];
    for n in 0..100 {
        let (exchange, options) =
            (scratch.names.execution.as_str().into(), BasicPublishOptions::default());
        let publishing = channel.basic_publish(
            exchange,
            ROUTING_KEY.into(),
            options,
            garbage[n % garbage.len()],
            BasicProperties::default(),
        );
        publishing.await.expect("published").await.expect("sent");
    }
    let good = jobs(10);
    for job in &good {
        rabbit.queue().push(job).await.expect("push");
    }
    for job in &good {
        let delivery = pop(&rabbit.queue()).await;
        assert_eq!(delivery.job, *job);
        delivery.ack().await.expect("ack");
    }
    eventually("a hundred dead letters", || async {
        scratch.waiting_in(&channel, &scratch.names.dead_queue).await == 100
    })
    .await;
    assert_eq!(scratch.waiting_in(&channel, &scratch.names.queue).await, 0);
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_redelivered_too_often_is_dead_lettered() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let job = jobs(1).remove(0);
    rabbit.queue().push(&job).await.expect("push");

    let channel = scratch.channel().await;
    let (queue, options) = (scratch.names.queue.as_str().into(), BasicConsumeOptions::default());
    let mut refusing = channel
        .basic_consume(queue, "refusing".into(), options, FieldTable::default())
        .await
        .expect("a consumer");
    let refuse = BasicNackOptions { requeue: true, ..BasicNackOptions::default() };
    let mut deliveries = 0;
    let asking = scratch.channel().await;
    while scratch.waiting_in(&asking, &scratch.names.dead_queue).await == 0 {
        assert!(deliveries <= 21, "there is a limit");
        let next = tokio::time::timeout(std::time::Duration::from_millis(300), refusing.next());
        if let Ok(Some(delivery)) = next.await {
            deliveries += 1;
            delivery.expect("a delivery").nack(refuse).await.expect("refused");
        }
    }
    assert_eq!(deliveries, 21, "twenty redeliveries after the first delivery");
    rabbit.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeatedly_dropping_a_delivery_does_not_use_up_its_limit() {
    let scratch = Scratch::new();
    let rabbit = scratch.process().await;
    let job = jobs(1).remove(0);
    rabbit.queue().push(&job).await.expect("push");
    for _ in 0..60 {
        drop(pop(&rabbit.queue()).await);
    }
    let delivery = pop(&rabbit.queue()).await;
    assert_eq!(delivery.job, job);
    delivery.ack().await.expect("ack");
    rabbit.close().await;
}
