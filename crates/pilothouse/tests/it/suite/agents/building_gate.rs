//! The gate of the tools that build agents: which calls of the guide count.

use serde_json::json;
use testkit::model_server::{Dialect, Script, ScriptedCall};

use super::building::TIDES;
use super::long_running::{finished, output_of};
use super::scripted::ScriptedServer;

const GUIDE: &str = "get_agent_building_guide";
const CHECK: &str = "validate_agent_graph";

#[tokio::test]
async fn a_guide_that_was_announced_in_the_same_step_counts() {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    let session = setup.server.session().await;
    setup.calls(&[
        ScriptedCall::new("guide", GUIDE, &json!({})),
        ScriptedCall::new("check", CHECK, &json!({"spec": TIDES})),
    ]);
    let events = finished(setup.server.say(&session, "Check it.").await).await;
    assert_eq!(output_of(&events, "check")["valid"], true);
    let other = setup.server.session().await;
    setup.calls(&[ScriptedCall::new("check", CHECK, &json!({"spec": TIDES}))]);
    let events = finished(setup.server.say(&other, "Check it.").await).await;
    assert_eq!(output_of(&events, "check")["error"], "guide_not_read", "another session");
}

#[tokio::test]
async fn a_guide_that_was_read_before_a_compaction_counts() {
    let setup = ScriptedServer::with(Dialect::OpenAi, &[("CHAT_CONTEXT_TOKENS", "40000")]).await;
    let session = setup.server.session().await;
    setup.calls(&[ScriptedCall::new("guide", GUIDE, &json!({}))]);
    finished(setup.server.say(&session, "Read the guide.").await).await;
    for letter in ["a", "b"] {
        setup.model.enqueue(Script::text(&letter.repeat(50_000)));
        finished(setup.server.say(&session, "Say more.").await).await;
    }
    // The next request no longer fits: the first script is the summary.
    setup.model.enqueue(Script::text("Notes: nothing of note."));
    setup.calls(&[ScriptedCall::new("check", CHECK, &json!({"spec": TIDES}))]);
    let events = finished(setup.server.say(&session, "Check it.").await).await;
    assert!(events.iter().any(|got| got.chunk["type"] == "data-compaction"), "{events:?}");
    let request = setup.model.requests().pop().expect("a request").body["messages"].to_string();
    assert!(!request.contains(GUIDE), "the model does not see the call any more");
    assert_eq!(output_of(&events, "check")["valid"], true);
}
