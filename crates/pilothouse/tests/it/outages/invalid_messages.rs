//! Invalid messages in the queue are moved to the dead-letter queue, and the turns behind them run normally.

use std::time::{Duration, Instant};

use lapin::options::{BasicPublishOptions, QueueDeclareOptions, QueuePurgeOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use serde_json::json;

use super::concurrent_turns::{ConcurrentTurns, question};
use super::measured;
use super::outage_cluster::{AffectedProcesses, OutageCluster};
use super::turn_guarantees::takeovers;
use crate::server::eventually;

const UNREADABLE: usize = 130;
/// Allowed share of one core per process, over two seconds: a busy loop takes all of it.
const IDLE: f64 = 0.15;
/// Clock ticks per second in `/proc`, fixed in Linux for user space.
const TICKS: f64 = 100.0;

/// A connection to the broker that bypasses the program.
pub(crate) struct Broker {
    _connection: Connection,
    channel: Channel,
    prefix: String,
}

impl Broker {
    pub(crate) async fn of(setup: &OutageCluster) -> Self {
        let storage = setup.cluster.storage();
        let connecting =
            Connection::connect(&storage.urls().rabbitmq, ConnectionProperties::default());
        let connection = connecting.await.expect("a connection");
        let channel = connection.create_channel().await.expect("a channel");
        Self { _connection: connection, channel, prefix: storage.rabbitmq_prefix().to_owned() }
    }

    pub(crate) async fn publish(&self, body: &[u8]) {
        let exchange = format!("{}copilot_execution", self.prefix);
        let publishing = self.channel.basic_publish(
            exchange.into(),
            "copilot.run".into(),
            BasicPublishOptions::default(),
            body,
            BasicProperties::default(),
        );
        publishing.await.expect("published");
    }

    async fn publish_turn(&self, turn: &str) {
        self.publish(json!({"v": 1, "turn_id": turn}).to_string().as_bytes()).await;
    }

    pub(crate) async fn waiting_in(&self, queue: &str) -> usize {
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let name = format!("{}{queue}", self.prefix);
        let asking = self.channel.queue_declare(name.into(), options, FieldTable::default());
        asking.await.expect("the queue is there").message_count() as usize
    }

    /// Purges the queue of the executors. Returns how many messages it had.
    pub(crate) async fn purge(&self) -> usize {
        let name = format!("{}copilot_execution_queue_v2", self.prefix);
        let purging = self.channel.queue_purge(name.into(), QueuePurgeOptions::default());
        purging.await.expect("purged") as usize
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_messages_are_dead_lettered_and_the_turns_behind_them_run() {
    let setup = OutageCluster::start(&[]).await;
    let broker = Broker::of(&setup).await;
    let ended = ConcurrentTurns::ask(&setup, 5, 3).await.finish(&setup).await;
    let asked = setup.model.requests().len();

    for number in 0..100_u8 {
        broker.publish(&[number, 0xff, 0x00, b'{', number]).await;
    }
    for _ in 0..10 {
        broker.publish(br#"{"v":1,"turn_id":"01"#).await;
        broker.publish(br#"{"v":99,"turn":{"id":7}}"#).await;
        broker.publish(&vec![b'x'; 100_000]).await;
    }
    let mut turns = ConcurrentTurns::ask(&setup, 5, 20).await;
    turns.all_begin().await;
    let running = turns.accepted_turns();
    for number in 0..50 {
        broker.publish_turn(&format!("0192d3a4-0000-7000-8000-{number:012}")).await;
        broker.publish_turn(&running[0]).await;
        broker.publish_turn(&ended[number % ended.len()].turn).await;
    }
    for turn in running.iter().rev() {
        broker.publish_turn(turn).await;
    }

    let began = Instant::now();
    for number in 0..10 {
        let session = setup.api(number % 2).session().await;
        turns.add(&setup, number % 2, question(&session, 500 + number, 5));
    }
    for seen in turns.finish(&setup).await {
        assert_eq!((takeovers(&seen), seen.breaks, seen.refusals), (0, 0, 0));
    }
    measured("good turns were answered after", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert_eq!(setup.model.requests().len(), asked + 15, "no turn ran twice");
    eventually("the unreadable messages in the dead queue", async || {
        (broker.waiting_in("copilot_execution_dead").await == UNREADABLE).then_some(())
    })
    .await;
    eventually("an empty queue", async || {
        (broker.waiting_in("copilot_execution_queue_v2").await == 0).then_some(())
    })
    .await;
    assert_idle(&setup).await;
}

/// Asserts that no process uses the processor while there is nothing to do.
async fn assert_idle(setup: &OutageCluster) {
    let over = Duration::from_secs(2);
    let pids: Vec<u32> =
        setup.processes(AffectedProcesses::All).iter().map(|one| one.pid()).collect();
    let before: Vec<f64> = pids.iter().map(|pid| processor_seconds(*pid)).collect();
    tokio::time::sleep(over).await;
    for (pid, before) in pids.iter().zip(before) {
        let share = (processor_seconds(*pid) - before) / over.as_secs_f64();
        measured("share of a core while idle", share);
        assert!(share < IDLE, "process {pid} takes {share} of a core");
    }
}

/// User and system time that a process has used.
fn processor_seconds(pid: u32) -> f64 {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    // The fields after the process name, which may contain anything: state is the first, user and system time are the
    // 12th and 13th.
    let fields: Vec<&str> = line.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    let ticks: u64 = fields[11..=12].iter().map(|ticks| ticks.parse::<u64>().expect("ticks")).sum();
    ticks as f64 / TICKS
}
