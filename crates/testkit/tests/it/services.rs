//! Private servers start, keep their port over a restart, can be paused, and leave no processes behind.

use std::path::Path;
use std::time::{Duration, Instant};

use lapin::options::{BasicPublishOptions, QueueDeclareOptions};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use pilothouse_testkit::services::{
    CommitDurability, PostgresServer, RabbitMqServer, RedisServer, TestInstallation, TestServerUrls,
};
use tokio::task::JoinSet;

const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Queries one value over a new connection; `None` on error or timeout.
async fn ask_postgres(url: &str, query: &str) -> Option<i32> {
    let asking = async {
        let mut connections = JoinSet::new();
        let (client, connection) =
            tokio_postgres::connect(url, tokio_postgres::NoTls).await.ok()?;
        connections.spawn(connection);
        Some(client.query_one(query, &[]).await.ok()?.get(0))
    };
    tokio::time::timeout(Duration::from_secs(2), asking).await.ok()?
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_survives_a_restart_and_an_immediate_one_and_can_be_paused() {
    let mut postgres = PostgresServer::start().expect("Postgres");
    let url = postgres.url();
    let stored = "WITH x AS (SELECT 1) SELECT count(*)::int FROM pg_class WHERE relname = 'kept'";
    assert_eq!(ask_postgres(&url, stored).await, Some(0));
    ask_postgres(&url, "CREATE TABLE kept AS SELECT 1 AS one").await;
    for restart in [PostgresServer::restart, PostgresServer::restart_immediate] {
        let before = postgres.pid();
        restart(&mut postgres);
        assert_eq!((postgres.url(), postgres.pid() != before), (url.clone(), true));
        assert_eq!(ask_postgres(&url, stored).await, Some(1), "the data survives");
    }
    postgres.pause();
    assert_eq!(ask_postgres(&url, "SELECT 1").await, None);
    postgres.resume();
    assert_eq!(ask_postgres(&url, "SELECT 1").await, Some(1));
    let pid = postgres.pid();
    drop(postgres);
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn synced_postgres_runs_with_fsync() {
    let mut postgres = PostgresServer::launch_as(CommitDurability::Synced).expect("Postgres");
    postgres.wait().expect("it answers");
    let synced = "SELECT (current_setting('fsync') = 'on')::int";
    assert_eq!(ask_postgres(&postgres.url(), synced).await, Some(1));
    postgres.restart();
    assert_eq!(ask_postgres(&postgres.url(), synced).await, Some(1), "after a restart as well");
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_is_flushed_paused_and_restarted_on_its_port() {
    let mut redis = RedisServer::start().expect("Redis");
    let ask = |command: &'static [&'static str]| {
        let client = redis::Client::open(redis.url()).expect("a URL");
        async move {
            let asking = async {
                let mut connection = client.get_multiplexed_async_connection().await.ok()?;
                let mut sent = redis::cmd(command[0]);
                for argument in &command[1..] {
                    sent.arg(argument);
                }
                sent.query_async::<redis::Value>(&mut connection).await.ok()
            };
            tokio::time::timeout(Duration::from_secs(2), asking).await.ok().flatten()
        }
    };
    let (set, get) = (&["SET", "a", "1"], &["GET", "a"]);
    let gone = Some(redis::Value::Nil);
    assert!(ask(set).await.is_some());
    assert_ne!(ask(get).await, gone);
    redis.flush_all();
    assert_eq!(ask(get).await, gone);
    redis.pause();
    assert_eq!(ask(get).await, None);
    redis.resume();
    assert_eq!(ask(get).await, gone);
    ask(set).await;
    let url = redis.url();
    redis.restart();
    let client = redis::Client::open(url).expect("a URL");
    let mut connection = client.get_multiplexed_async_connection().await.expect("the same port");
    let empty: redis::Value =
        redis::cmd("GET").arg("a").query_async(&mut connection).await.expect("an answer");
    assert_eq!(empty, redis::Value::Nil);
}

async fn broker_channel(url: &str) -> Channel {
    let connection =
        Connection::connect(url, ConnectionProperties::default()).await.expect("a broker");
    connection.create_channel().await.expect("a channel")
}

async fn depth(channel: &Channel) -> u32 {
    let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
    let queue = channel.queue_declare("q".into(), options, FieldTable::default()).await;
    queue.expect("a queue").message_count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_keeps_its_queues_closes_connections_and_leaves_no_process_behind() {
    let mut broker = RabbitMqServer::start().expect("RabbitMQ");
    let channel = broker_channel(&broker.url()).await;
    let durable = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    channel.queue_declare("q".into(), durable, FieldTable::default()).await.expect("a queue");
    let persistent = BasicProperties::default().with_delivery_mode(2);
    let publish = async |channel: &Channel| {
        let options = BasicPublishOptions::default();
        let sent =
            channel.basic_publish("".into(), "q".into(), options, b"x", persistent.clone()).await;
        sent.expect("sent").await.expect("taken");
    };
    publish(&channel).await;
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while depth(&channel).await != 1 {
        assert!(Instant::now() < deadline, "the message arrives");
    }
    broker.purge("q");
    assert_eq!(depth(&channel).await, 0);

    broker.close_connections();
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while channel.status().connected() {
        assert!(Instant::now() < deadline, "the connection was closed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let url = broker.url();
    broker.restart();
    assert_eq!(broker.url(), url);
    assert_eq!(depth(&broker_channel(&url).await).await, 0, "the queue is still there");

    let node = processes_with(&url_port(&url));
    assert!(!node.is_empty(), "the search finds the broker");
    drop(broker);
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while !processes_with(&url_port(&url)).is_empty() {
        assert!(Instant::now() < deadline, "all processes of the broker are gone");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn url_port(url: &str) -> String {
    let port = url.rsplit_once(':').expect("a port").1;
    format!("RABBITMQ_NODE_PORT={}", port.trim_end_matches("/%2f"))
}

/// Processes with this setting in their environment: the broker and its children.
fn processes_with(setting: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let theirs = processes.filter(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|value| value == setting.as_bytes())
    });
    theirs.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_creates_and_removes_its_own_database() {
    let shared = TestServerUrls::from_env().expect("servers");
    let installation = TestInstallation::create(&shared).expect("room");
    let url = installation.urls().database.clone();
    ask_postgres(&url, "CREATE TABLE words AS SELECT 'whispered'::text, '\\x00ff'::bytea").await;
    let rows = installation.rows().expect("rows");
    let contains = |wanted: &[u8]| rows.windows(wanted.len()).any(|window| window == wanted);
    assert!(contains(b"whispered") && contains(b"\x00\xff") && !contains(b"shouted"));
    drop(installation);
    assert_eq!(ask_postgres(&url, "SELECT 1").await, None);
}
