//! An executor is suspended for longer than its lease. When it resumes, another executor has its turn, and it writes
//! nothing and makes no further model or tool call.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use testkit::model_server::{Gate, ModelServer, Script};

use super::followed_turn::FollowedTurn;
use super::rows::rows_of;
use super::{cluster, finished};
use crate::contract::assert_complete;
use crate::events::text_of;
use crate::server::{Cluster, Role, eventually};

/// Logged when it notices the loss of its lease, through the database or its own clock.
const LEASE_LOST_MESSAGES: [&str; 2] =
    ["fenced: another worker has this job", "the job is stopped"];
const EXIT_TIMEOUT: Duration = Duration::from_secs(9);

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_suspended_in_a_model_stream_changes_nothing_when_resumed() {
    let (model, mut cluster) = cluster(1, 1, &[]).await;
    let gate = Gate::closed();
    model.enqueue(Script::default().say("I begin").wait_for(&gate).say(" and go on."));
    model.enqueue(Script::text("Once more, and to the end."));
    let mut turn = FollowedTurn::start(cluster.api(0).http(), "hello").await;
    turn.until("text-delta").await;
    cluster.executor(0).pause();
    cluster.spawn(Role::Executor, &[]);
    turn.read_to_the_end().await;
    assert!(turn.text().ends_with("Once more, and to the end."));
    gate.open();
    assert_resumed_executor_changes_nothing(&model, &mut cluster, &turn).await;
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_suspended_in_a_tool_does_nothing_more_when_resumed() {
    let (model, mut cluster) = cluster(1, 1, &[]).await;
    let first =
        "echo done >> effects.txt; for i in $(seq 200); do [ -e go ] && exit; sleep 0.1; done";
    model.enqueue(Script::tool("call_1", "bash_exec", &json!({"command": first})));
    model.enqueue(Script::text("I cannot tell whether it happened."));
    // The response to any further request of either executor.
    let again = json!({"command": "echo done again >> effects.txt"});
    model.respond_with(move |_| Script::tool("call_2", "bash_exec", &again));
    let mut turn = FollowedTurn::start(cluster.api(0).http(), "do it").await;
    turn.until("tool-input-available").await;
    let effects = eventually("the effect", async || effects_in(&cluster)).await;
    cluster.executor(0).pause();
    cluster.spawn(Role::Executor, &[]);
    turn.read_to_the_end().await;
    std::fs::write(effects.with_file_name("go"), "").expect("the workspace is a folder");
    assert_resumed_executor_changes_nothing(&model, &mut cluster, &turn).await;
    assert_eq!(std::fs::read_to_string(effects).expect("a text"), "done\n", "it ran once");
    assert!(model.requests()[1].tool_results()[0].1.contains("may or may not have happened"));
}

/// Resumes the executor, waits until it has noticed the lost lease, run another turn and shut down, then checks that
/// the first turn is unchanged.
async fn assert_resumed_executor_changes_nothing(
    model: &ModelServer,
    cluster: &mut Cluster,
    turn: &FollowedTurn,
) {
    turn.assert_holds(cluster.api(0).http(), &finished()).await;
    let before = rows_of(cluster, &turn.turn).await;
    let asked = model.requests().len();
    let hung = cluster.executor(0);
    hung.resume();
    eventually("a word about the lost turn", async || {
        let log = hung.log().text();
        LEASE_LOST_MESSAGES.iter().any(|words| log.contains(words)).then_some(())
    })
    .await;
    model.wait_until_idle().await;
    assert_eq!(model.requests().len(), asked, "the resumed executor sent no request");
    // It is the only executor now, so it runs this turn, which gives it time for a wrong write to the old one.
    cluster.executor_mut(1).kill9();
    model.enqueue(Script::text("I am back."));
    let next = cluster.api(0).http().say(&turn.session, "are you there?").await.all().await;
    assert_eq!((assert_complete(&next), text_of(&next)), (finished(), "I am back.".to_owned()));
    let hung = cluster.executor_mut(0);
    hung.sigterm();
    assert_eq!(hung.wait_for_exit(EXIT_TIMEOUT).code(), Some(0));
    assert_eq!(model.requests().len(), asked + 1, "only the new message was sent to the model");
    assert_eq!(rows_of(cluster, &turn.turn).await, before, "the rows of the turn are unchanged");
    turn.assert_holds(cluster.api(0).http(), &finished()).await;
    model.assert_no_violations();
}

/// The file that the command writes to, once it is complete.
fn effects_in(cluster: &Cluster) -> Option<PathBuf> {
    let folders = std::fs::read_dir(cluster.storage().folder().join("data/workspaces")).ok()?;
    let mut files = folders.filter_map(|folder| Some(folder.ok()?.path().join("effects.txt")));
    files.find(|path| std::fs::read(path).is_ok_and(|bytes| bytes.ends_with(b"\n")))
}
