//! Laws of `Queue`.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::future::join_all;
use ports::Ports;
use ports::queue::Delivery;
use protocol::{ExecutionId, Job, TurnId};

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! queue_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, queue:
            a_pushed_job_is_delivered,
            an_unsettled_job_is_delivered_again,
            a_settled_job_is_never_delivered_again,
            deliveries_come_in_order,
            to_back_requeues_at_the_end,
            a_push_during_a_delivery_is_not_lost,
            a_cancelled_pop_loses_no_job,
            every_job_is_delivered_to_one_worker,
            the_depth_counts_waiting_jobs,
        );
    };
}

/// Turns and executions, alternating.
fn jobs(count: usize) -> Vec<Job> {
    let job = |n: usize| match n % 2 {
        0 => Job::from(TurnId::fresh()),
        _ => Job::from(ExecutionId::fresh()),
    };
    (0..count).map(job).collect()
}

async fn push(ports: &Ports, jobs: &[Job]) {
    for job in jobs {
        ports.queue.push(job).await.expect("push");
    }
}

async fn pop(ports: &Ports) -> Delivery {
    let popped = tokio::time::timeout(LAW / 2, ports.queue.pop()).await;
    popped.expect("a job is queued").expect("pop")
}

async fn is_empty(ports: &Ports) -> bool {
    tokio::time::timeout(Duration::from_millis(50), ports.queue.pop()).await.is_err()
}

pub async fn a_pushed_job_is_delivered(fixture: &mut impl BackendFixture) {
    let job = Job::from(TurnId::fresh());
    let ports = fixture.ports();
    let (popped, ()) = tokio::join!(pop(ports), push(ports, std::slice::from_ref(&job)));
    assert_eq!(popped.job, job);
    popped.ack().await.expect("ack");
    push(ports, std::slice::from_ref(&job)).await;
    assert_eq!(pop(ports).await.job, job);
}

pub async fn an_unsettled_job_is_delivered_again(fixture: &mut impl BackendFixture) {
    let job = Job::from(TurnId::fresh());
    push(fixture.ports(), std::slice::from_ref(&job)).await;
    for _ in 0..3 {
        let delivery = pop(fixture.ports()).await;
        assert_eq!(delivery.job, job);
        assert!(is_empty(fixture.ports()).await, "not while it is unsettled");
        drop(delivery);
    }
}

pub async fn a_settled_job_is_never_delivered_again(fixture: &mut impl BackendFixture) {
    let many = jobs(20);
    push(fixture.ports(), &many).await;
    for _ in &many {
        pop(fixture.ports()).await.ack().await.expect("ack");
    }
    assert!(is_empty(fixture.ports()).await);
    fixture.restart().await;
    assert!(is_empty(fixture.ports()).await);
}

pub async fn deliveries_come_in_order(fixture: &mut impl BackendFixture) {
    let many = jobs(10);
    push(fixture.ports(), &many).await;
    let given_back = pop(fixture.ports()).await;
    assert_eq!(given_back.job, many[0]);
    drop(given_back);
    for job in &many {
        let delivery = pop(fixture.ports()).await;
        assert_eq!(delivery.job, *job);
        delivery.ack().await.expect("ack");
    }
}

pub async fn to_back_requeues_at_the_end(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let many = jobs(3);
    push(ports, &many).await;
    pop(ports).await.to_back(Duration::ZERO).await.expect("to back");
    let since = Instant::now();
    let delay = Duration::from_millis(100);
    let second = pop(ports).await;
    assert_eq!(second.job, many[1]);
    second.to_back(delay).await.expect("to back");
    for expected in [&many[2], &many[0], &many[1]] {
        let delivery = pop(ports).await;
        assert_eq!(delivery.job, *expected);
        delivery.ack().await.expect("ack");
    }
    assert!(since.elapsed() >= delay, "not before its delay");
    assert!(is_empty(ports).await);
}

pub async fn a_push_during_a_delivery_is_not_lost(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let job = Job::from(TurnId::fresh());
    push(ports, std::slice::from_ref(&job)).await;
    let first = pop(ports).await;
    push(ports, std::slice::from_ref(&job)).await;
    first.ack().await.expect("ack");
    let second = pop(ports).await;
    assert_eq!(second.job, job);
    second.ack().await.expect("ack");
    assert!(is_empty(ports).await);
}

pub async fn a_cancelled_pop_loses_no_job(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let many = jobs(50);
    push(ports, &many).await;
    // Canceled at different moments: before it starts, in the middle, and just before it ends.
    for micros in 0..100 {
        let _ = tokio::time::timeout(Duration::from_micros(micros * 5), ports.queue.pop()).await;
    }
    let mut found = HashSet::new();
    for _ in &many {
        let delivery = pop(ports).await;
        found.insert(delivery.job.clone());
        delivery.ack().await.expect("ack");
    }
    assert_eq!(found, many.into_iter().collect());
}

pub async fn every_job_is_delivered_to_one_worker(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let many = jobs(100);
    let workers = (0..10).map(|_| async {
        let mut mine = Vec::new();
        for _ in 0..10 {
            let delivery = pop(ports).await;
            mine.push(delivery.job.clone());
            delivery.ack().await.expect("ack");
        }
        mine
    });
    let (delivered, ()) = tokio::join!(join_all(workers), push(ports, &many));
    let delivered: Vec<Job> = delivered.into_iter().flatten().collect();
    assert_eq!(delivered.len(), 100);
    assert_eq!(delivered.into_iter().collect::<HashSet<_>>(), many.into_iter().collect());
    assert!(is_empty(ports).await);
}

pub async fn the_depth_counts_waiting_jobs(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    assert_eq!(ports.queue.depth().await.expect("depth"), 0);
    push(ports, &jobs(3)).await;
    let _in_hand = pop(ports).await;
    eventually("two jobs are queued", || async {
        (ports.queue.depth().await.expect("depth") == 2).then_some(())
    })
    .await;
}
