//! Operation results that external services add to the Redis stream of completions instead of calling the webhook.

use redis::Value;
use serde_json::json;
use testkit::proxy::ProxyMode;
use testkit::services::RedisServer;

use super::operations::OperationCluster;
use crate::distributed::operations_flow::{StartedOperation, TOOL, film, shown};
use crate::server::{Role, TEST_TIMEOUT, eventually};

const STREAM: &str = "chat:completions";
const GROUP: &str = "chat_consumers";
const UNKNOWN: &str = "01900000-0000-7000-8000-000000000000";

/// A Redis server of this test's own, and the commands an external service runs on its completion stream.
struct CompletionStream(RedisServer);

impl CompletionStream {
    fn open() -> Self {
        Self(RedisServer::start().expect("a Redis server for this test"))
    }

    fn url(&self) -> String {
        self.0.url()
    }

    async fn ask(&self, line: &[&str]) -> Value {
        let client = redis::Client::open(self.url()).expect("a URL");
        let asking = async {
            let mut connection = client.get_multiplexed_async_connection().await?;
            redis::cmd(line[0]).arg(&line[1..]).query_async(&mut connection).await
        };
        let answer =
            tokio::time::timeout(TEST_TIMEOUT, asking).await.expect("Redis answers in time");
        answer.expect("Redis takes the command")
    }

    async fn post(&self, fields: &[&str]) {
        self.ask(&[&["XADD", STREAM, "*"], fields].concat()).await;
    }

    async fn post_data(&self, data: &serde_json::Value) {
        self.post(&["data", &data.to_string()]).await;
    }

    async fn number(&self, line: &[&str]) -> i64 {
        match self.ask(line).await {
            Value::Int(number) => number,
            other => panic!("{line:?} gives {other:?}"),
        }
    }

    /// Returns when every entry was processed and deleted.
    async fn wait_until_empty(&self) {
        eventually("an empty stream", async || {
            (self.number(&["XLEN", STREAM]).await == 0).then_some(())
        })
        .await;
        assert!(self.pending().await.is_empty(), "no entry is pending");
    }

    /// Id and consumer of each entry that was read and not acknowledged.
    async fn pending(&self) -> Vec<(String, String)> {
        let Value::Array(rows) = self.ask(&["XPENDING", STREAM, GROUP, "-", "+", "100"]).await
        else {
            panic!("XPENDING gives a list")
        };
        let text = |value: &Value| match value {
            Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => panic!("{other:?} is no text"),
        };
        let row = |row: &Value| match row {
            Value::Array(columns) => (text(&columns[0]), text(&columns[1])),
            other => panic!("{other:?} is no row"),
        };
        rows.iter().map(row).collect()
    }

    /// Sets the idle time of pending entries to over a minute, so that other consumers may claim them.
    async fn expire_pending(&self) {
        for (id, consumer) in self.pending().await {
            let line = ["XCLAIM", STREAM, GROUP, &consumer, "0", &id, "IDLE", "61000", "JUSTID"];
            self.ask(&line).await;
        }
    }
}

fn message(begun: &StartedOperation) -> serde_json::Value {
    let mut message = film();
    message["operation_id"] = json!(begun.operation);
    message["task_id"] = json!(begun.task);
    message
}

#[tokio::test(flavor = "multi_thread")]
async fn results_in_the_stream_are_accepted_in_every_format() {
    let stream = CompletionStream::open();
    let setup = OperationCluster::on(Some(&stream.url()), &[]).await;
    let by_task = |begun: &StartedOperation| json!({"task_id": begun.task, "success": true, "result": "film.mp4"});
    let begun = setup.begin().await;
    stream.post_data(&message(&begun)).await;
    assert_eq!(*shown(&setup.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    let begun = setup.begin().await;
    stream.post_data(&by_task(&begun)).await;
    assert_eq!(*shown(&setup.to_the_end(&begun).await), json!("film.mp4"));
    let begun = setup.begin().await;
    let result = json!({"file": "film.mp4"}).to_string();
    stream.post(&["operation_id", &begun.operation, "success", "true", "result", &result]).await;
    assert_eq!(*shown(&setup.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    let begun = setup.begin().await;
    stream.post(&["task_id", &begun.task, "success", "0", "error", "out of paint"]).await;
    assert_eq!(shown(&setup.to_the_end(&begun).await)["message"], "out of paint");
    let begun = setup.begin().await;
    let nul = json!({"operation_id": begun.operation, "success": true, "result": "a\u{0}b"});
    stream.post_data(&nul).await;
    assert_eq!(*shown(&setup.to_the_end(&begun).await), json!("a\u{fffd}b"));
    stream.wait_until_empty().await;
    setup.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_results_are_acknowledged_and_logged_without_their_content() {
    let stream = CompletionStream::open();
    let setup = OperationCluster::on(Some(&stream.url()), &[]).await;
    let begun = setup.begin().await;
    stream.post(&["data", "canary, and no JSON"]).await;
    stream.post(&["something", "canary"]).await;
    stream.post_data(&json!(["canary"])).await;
    stream.post_data(&json!({"operation_id": begun.operation, "result": "canary"})).await;
    stream.post_data(&json!({"success": true, "result": "canary"})).await;
    stream.post_data(&json!({"operation_id": UNKNOWN, "success": true, "result": "canary"})).await;
    stream.post_data(&message(&begun)).await;
    assert_eq!(*shown(&setup.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    stream.wait_until_empty().await;
    let log = setup.cluster.log();
    for (part, times) in [
        ("a completion cannot be read", 4),
        ("a completion names no operation", 1),
        ("a completion is for an operation that is not known", 1),
    ] {
        assert_eq!(log.matches(part).count(), times, "{part}\n{log}");
    }
    assert!(!log.contains("canary"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_sent_while_no_executor_ran_is_processed_at_the_start() {
    let stream = CompletionStream::open();
    let mut setup = OperationCluster::on(Some(&stream.url()), &[]).await;
    let begun = setup.begin().await;
    setup.cluster.executor_mut(0).kill9();
    stream.post_data(&message(&begun)).await;
    setup.cluster.executor_mut(0).restart();
    assert_eq!(*shown(&setup.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    stream.wait_until_empty().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_equal_results_by_stream_and_webhook_are_one() {
    let stream = CompletionStream::open();
    let mut setup = OperationCluster::on(Some(&stream.url()), &[]).await;
    setup.cluster.spawn(Role::Executor, &[]);
    let begun = setup.begin().await;
    for _ in 0..30 {
        stream.post_data(&message(&begun)).await;
        setup.complete(&begun).await;
    }
    assert_eq!(*shown(&setup.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    stream.wait_until_empty().await;
    assert_eq!((setup.continuations(), setup.service.calls(TOOL).len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_not_acknowledged_before_it_is_stored() {
    let stream = CompletionStream::open();
    let mut setup = OperationCluster::without_executor(Some(&stream.url()), &[]).await;
    setup.cluster.spawn_with_proxies(Role::Executor, &[]);
    let begun = setup.begin().await;
    setup.cluster.executor(0).proxies().postgres.set(ProxyMode::Refuse);
    stream.post_data(&message(&begun)).await;
    setup.cluster.executor(0).log().wait_for("could not process a completion");
    assert_eq!(stream.pending().await.len(), 1, "it was read and not acknowledged");
    setup.cluster.executor(0).proxies().postgres.set(ProxyMode::Pass);
    stream.expire_pending().await;
    assert_eq!(*shown(&setup.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    stream.wait_until_empty().await;
    assert_eq!(setup.continuations(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_pending_at_a_killed_executor_is_claimed_by_another() {
    let stream = CompletionStream::open();
    let mut setup = OperationCluster::without_executor(Some(&stream.url()), &[]).await;
    setup.cluster.spawn_with_proxies(Role::Executor, &[]);
    let begun = setup.begin().await;
    setup.cluster.executor(0).proxies().postgres.set(ProxyMode::Refuse);
    stream.post_data(&message(&begun)).await;
    setup.cluster.executor(0).log().wait_for("could not process a completion");
    setup.cluster.executor_mut(0).kill9();
    setup.cluster.spawn(Role::Executor, &[]);
    assert_eq!(stream.pending().await.len(), 1, "it is pending at the killed executor");
    stream.expire_pending().await;
    assert_eq!(*shown(&setup.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    stream.wait_until_empty().await;
    assert_eq!(setup.continuations(), 1);
}
