//! Operation results that external services add to the Redis stream of completions instead of calling the webhook.

use redis::Value;
use serde_json::json;
use testkit::proxy::Mode;
use testkit::services::Redis;

use super::operations::Workshop;
use crate::distributed::guarantees::eventually;
use crate::distributed::operations_flow::{Begun, TOOL, film, shown};
use crate::server::{PATIENCE, Role};

const STREAM: &str = "chat:completions";
const GROUP: &str = "chat_consumers";
const UNKNOWN: &str = "01900000-0000-7000-8000-000000000000";

/// A Redis server of this test's own, and the commands an external service runs on its completion stream.
struct Letterbox(Redis);

impl Letterbox {
    fn open() -> Self {
        Self(Redis::start().expect("a Redis of our own"))
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
        let answer = tokio::time::timeout(PATIENCE, asking).await.expect("Redis answers in time");
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
    async fn empty(&self) {
        eventually("an empty stream", async || {
            (self.number(&["XLEN", STREAM]).await == 0).then_some(())
        })
        .await;
        assert!(self.in_hand().await.is_empty(), "no entry is pending");
    }

    /// Id and consumer of each entry that was read and not acknowledged.
    async fn in_hand(&self) -> Vec<(String, String)> {
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
    async fn a_minute_later(&self) {
        for (id, consumer) in self.in_hand().await {
            let line = ["XCLAIM", STREAM, GROUP, &consumer, "0", &id, "IDLE", "61000", "JUSTID"];
            self.ask(&line).await;
        }
    }
}

fn message(begun: &Begun) -> serde_json::Value {
    let mut message = film();
    message["operation_id"] = json!(begun.operation);
    message["task_id"] = json!(begun.task);
    message
}

#[tokio::test(flavor = "multi_thread")]
async fn results_in_the_stream_are_accepted_in_every_format() {
    let letters = Letterbox::open();
    let shop = Workshop::on(Some(&letters.url()), &[]).await;
    let by_task =
        |begun: &Begun| json!({"task_id": begun.task, "success": true, "result": "film.mp4"});
    let begun = shop.begin().await;
    letters.post_data(&message(&begun)).await;
    assert_eq!(*shown(&shop.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    let begun = shop.begin().await;
    letters.post_data(&by_task(&begun)).await;
    assert_eq!(*shown(&shop.to_the_end(&begun).await), json!("film.mp4"));
    let begun = shop.begin().await;
    let result = json!({"file": "film.mp4"}).to_string();
    letters.post(&["operation_id", &begun.operation, "success", "true", "result", &result]).await;
    assert_eq!(*shown(&shop.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    let begun = shop.begin().await;
    letters.post(&["task_id", &begun.task, "success", "0", "error", "out of paint"]).await;
    assert_eq!(shown(&shop.to_the_end(&begun).await)["message"], "out of paint");
    let begun = shop.begin().await;
    let nul = json!({"operation_id": begun.operation, "success": true, "result": "a\u{0}b"});
    letters.post_data(&nul).await;
    assert_eq!(*shown(&shop.to_the_end(&begun).await), json!("a\u{fffd}b"));
    letters.empty().await;
    shop.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_results_are_acknowledged_and_logged_without_their_content() {
    let letters = Letterbox::open();
    let shop = Workshop::on(Some(&letters.url()), &[]).await;
    let begun = shop.begin().await;
    letters.post(&["data", "canary, and no JSON"]).await;
    letters.post(&["something", "canary"]).await;
    letters.post_data(&json!(["canary"])).await;
    letters.post_data(&json!({"operation_id": begun.operation, "result": "canary"})).await;
    letters.post_data(&json!({"success": true, "result": "canary"})).await;
    letters.post_data(&json!({"operation_id": UNKNOWN, "success": true, "result": "canary"})).await;
    letters.post_data(&message(&begun)).await;
    assert_eq!(*shown(&shop.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    letters.empty().await;
    let log = shop.cluster.log();
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
    let letters = Letterbox::open();
    let mut shop = Workshop::on(Some(&letters.url()), &[]).await;
    let begun = shop.begin().await;
    shop.cluster.executor_mut(0).kill9();
    letters.post_data(&message(&begun)).await;
    shop.cluster.executor_mut(0).restart();
    assert_eq!(*shown(&shop.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    letters.empty().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_equal_results_by_stream_and_webhook_are_one() {
    let letters = Letterbox::open();
    let mut shop = Workshop::on(Some(&letters.url()), &[]).await;
    shop.cluster.spawn(Role::Executor, &[]);
    let begun = shop.begin().await;
    for _ in 0..30 {
        letters.post_data(&message(&begun)).await;
        shop.complete(&begun).await;
    }
    assert_eq!(*shown(&shop.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    letters.empty().await;
    assert_eq!((shop.continuations(), shop.service.calls(TOOL).len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_not_acknowledged_before_it_is_stored() {
    let letters = Letterbox::open();
    let mut shop = Workshop::without_executor(Some(&letters.url()), &[]).await;
    shop.cluster.spawn_linked(Role::Executor, &[]);
    let begun = shop.begin().await;
    shop.cluster.executor(0).links().postgres.set(Mode::Refuse);
    letters.post_data(&message(&begun)).await;
    shop.cluster.executor(0).log().wait_for("could not process a completion");
    assert_eq!(letters.in_hand().await.len(), 1, "it was read and not acknowledged");
    shop.cluster.executor(0).links().postgres.set(Mode::Pass);
    letters.a_minute_later().await;
    assert_eq!(*shown(&shop.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    letters.empty().await;
    assert_eq!(shop.continuations(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_pending_at_a_killed_executor_is_claimed_by_another() {
    let letters = Letterbox::open();
    let mut shop = Workshop::without_executor(Some(&letters.url()), &[]).await;
    shop.cluster.spawn_linked(Role::Executor, &[]);
    let begun = shop.begin().await;
    shop.cluster.executor(0).links().postgres.set(Mode::Refuse);
    letters.post_data(&message(&begun)).await;
    shop.cluster.executor(0).log().wait_for("could not process a completion");
    shop.cluster.executor_mut(0).kill9();
    shop.cluster.spawn(Role::Executor, &[]);
    assert_eq!(letters.in_hand().await.len(), 1, "the dead one still has it");
    letters.a_minute_later().await;
    assert_eq!(*shown(&shop.to_the_end(&begun).await), json!({"file": "film.mp4"}));
    letters.empty().await;
    assert_eq!(shop.continuations(), 1);
}
