//! Several processes with all wake-ups turned off: everything still happens, at the next poll.

use testkit::model_server::{Script, ScriptedCall};

use super::concurrent_turns::ConcurrentTurns;
use super::outage_cluster::{OutageCluster, answer_to};
use crate::contract::{TurnEnd, assert_complete};

#[tokio::test(flavor = "multi_thread")]
async fn without_wake_ups_turns_respond_use_tools_and_can_be_cancelled() {
    let setup =
        OutageCluster::start(&[("PILOTHOUSE_DEAF", "on"), ("CHAT_HEARTBEAT_SECONDS", "300")]).await;
    let seen = ConcurrentTurns::ask(&setup, 8, 10).await.finish(&setup).await;
    assert!(seen.iter().all(|seen| seen.breaks == 0));

    setup.model.respond_with(|request| match request.tool_results().is_empty() {
        true => Script::default().call(&[ScriptedCall::new(
            "call_1",
            "list_workspace_files",
            &serde_json::json!({}),
        )]),
        false => Script::text(&answer_to(request)),
    });
    let session = setup.api(0).session().await;
    let events = setup.api(0).say(&session, "list my files").await.all().await;
    assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".to_owned()));

    setup.model.respond_with(|_| Script::default().say("I begin").hang());
    let mut stream = setup.api(0).say(&session, "never end").await;
    let mut events = stream.until_seen("text-delta").await;
    assert_eq!(setup.api(1).cancel(&session).await["cancelled"], true);
    events.extend(stream.all().await);
    assert_eq!(assert_complete(&events), TurnEnd::Aborted);
    setup.model.wait_until_idle().await;
    setup.model.assert_no_violations();
}
